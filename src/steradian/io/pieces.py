"""Pieces of a source: some of its rows, as they came, and how they become directions."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from steradian.arguments import is_frame, shown
from steradian.data.directions import Directions
from steradian.data.interpretation import SEVERAL
from steradian.data.notation import Reading
from steradian.data.validation import as_numeric
from steradian.errors import InvalidDirections
from steradian.io.decision import Decision, Request
from steradian.io.frames import Table, column, eager, placed, table_of_slice
from steradian.io.reading import decided
from steradian.numerics.arrays import AnyArray, IntArray
from steradian.spaces import Space
from steradian.text.messages import Message, Row, arguments

_ROWS = 1 << 15  # of a piece, whose coordinates stay in the processor's cache, at most
_ENTRIES = 1 << 20  # and numbers
_FILE = "file"  # the label that is the name of the file, unless a column is called so


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is read from every row: its direction, and its label if there is one."""

    request: Request = field(default_factory=Request)
    by: Any = None  # the name of a column, or one label per row

    @property
    def label(self) -> str:
        """The column of labels."""
        return self.by if isinstance(self.by, str) else ""

    @property
    def columns(self) -> Wanted:
        """The same without what was given row by row, which pieces hold themselves."""
        weights, counts = (
            given if isinstance(given, str) else None
            for given in (self.request.weights, self.request.counts)
        )
        plain = replace(self.request, weights=weights, counts=counts)
        return Wanted(plain, self.label or None)

    @property
    def of_tables(self) -> bool:
        """Whether something was said that only columns have."""
        r = self.request
        said = (r.columns, r.coords, r.counts, r.degrees, r.period, r.bins, r.table, r.where)
        return r.hours or r.distinct or any(each is not None for each in said)

    def refuse_arrays(self, what: str) -> None:
        """Refuse weights, counts and labels that are no columns."""
        beside = {"weights": self.request.weights, "counts": self.request.counts, "by": self.by}
        for name, given in beside.items():
            if given is not None and not isinstance(given, str):
                raise InvalidDirections(f"{name} is an array; name a column of the {what}")

    def decision(self, head: Table, source: str) -> Decision:
        """How tables with the columns of ``head`` are read."""
        label = self.label
        if label and not (label == _FILE and head.files is not None):
            column(head, label)  # or the words that it is not there
        if label and label in (self.request.columns or ()):
            raise InvalidDirections(f"column {label!r} cannot be a coordinate and the label")
        return decided(head, self.request, source, label)

    def names(self, decision: Decision) -> list[str]:
        """Columns that are read."""
        compared = () if self.request.selection is None else self.request.selection.columns
        return [*decision.names, *([self.label] if self.label else []), *compared]

    def chosen(self, table: Table) -> Table:
        """The rows of a table that are read."""
        return self.request.rows_of(table, some=False)


@dataclass(frozen=True, slots=True)
class Groups:
    """Labels of rows: the different ones, and which of them each row has."""

    labels: list[Any]
    codes: IntArray  # (n,)

    @classmethod
    def of(cls, given: AnyArray, where: Callable[[int], Row | Message | str]) -> Groups:
        """From one label per row; a row without one is refused."""
        known: dict[Any, int] = {}
        try:
            codes = [known.setdefault(label, len(known)) for label in given.tolist()]
        except TypeError as error:
            raise InvalidDirections(f"by holds what is no label: {error}") from error
        for label, code in known.items():
            if _is_missing(label):
                place = where(codes.index(code))
                raise InvalidDirections("{row} has no label; drop it, or give it one", row=place)
        labels = [int(n) if isinstance(n, float) and n.is_integer() else n for n in known]
        return cls(labels, np.array(codes, dtype=np.int64))


def _is_missing(label: Any) -> bool:
    """Whether it is what stands for no label: None, or the not-a-number of NumPy and pandas."""
    naught = isinstance(label, float) and math.isnan(label)
    return naught or label is None or type(label).__name__ in {"NAType", "NaTType"}


@dataclass(frozen=True, slots=True)
class Rows:
    """A piece as directions; where all of them weigh nothing they have no weights here."""

    directions: Directions | None  # None where no row can be read
    groups: Groups | None
    weightless: bool = False
    skipped: Mapping[Any, int] = field(default_factory=dict)  # bad rows by label


@dataclass(frozen=True, slots=True)
class Piece:
    """Some rows: a table of the columns needed, or coordinates with their weights and labels."""

    data: Any  # a Table, or (n, d)
    weights: Any = None  # (n,), of coordinates
    labels: Any = None  # (n,), of coordinates
    first: int = 0  # row of the source that it begins at
    source: str = ""  # the name of a file
    amount: int = 0  # of rows, or of bytes
    space: Space | None = None  # of coordinates that were directions before
    reading: Reading | None = None  # of coordinates
    block: str = ""  # the name of the block that begins with it, if it is not the first

    @property
    def count(self) -> int:
        """Number of rows."""
        return self.data.rows if isinstance(self.data, Table) else len(self.data)

    def rows(self, wanted: Wanted, decision: Decision | None, space: Space | None) -> Rows:
        """The directions of it, as points of ``space`` where it is plain coordinates.

        Raises
        ------
        InvalidDirections
            Rows are none; they are named by their place in the source.
        """
        try:
            if isinstance(self.data, Table):
                how = decision or wanted.decision(self.data, self.source)
                if self.block:
                    how.refuse_other_values(wanted.chosen(self.data), self.block)
                return _rows_of_table(wanted.chosen(self.data), how, wanted.label)
            return self._rows_of_coordinates(wanted.request, space)
        except InvalidDirections as error:
            if not self.source or error.fields.get("source"):
                raise
            raise error.within(self.source) from error

    def _rows_of_coordinates(self, request: Request, space: Space | None) -> Rows:
        whole = _placed_table(self.source, len(self.data), self.first)
        try:
            weights, naught = _without_naught(self.weights)
            axial = bool(request.axial)
            here = self.space or (None if axial else space)
            found = Directions(
                self.data, weights, normalize=request.normalize, space=here, axial=axial
            )
        except InvalidDirections as error:
            raise placed(error, whole, np.arange(whole.rows)) from error
        groups = None if self.labels is None else Groups.of(self.labels, whole.where)
        return Rows(found.with_reading(self.reading), groups, naught)


def _placed_table(source: str, rows: int, first: int) -> Table:
    """A table without columns that knows where its rows stand."""
    return Table({"": np.broadcast_to(0.0, rows)}, files=files_of_rows(source, rows), first=first)


def files_of_rows(source: str, rows: int) -> AnyArray | None:
    """The name of one file for each of its rows."""
    return np.broadcast_to(np.array(source, dtype=object), rows) if source else None


def _rows_of_table(table: Table, decision: Decision, label: str) -> Rows:
    block = decision.block(table)
    if not label:
        skipped = len(block.skipped) + len(table.ragged)
        return Rows(block.directions, None, block.weightless, {None: skipped} if skipped else {})
    labels = table.files if label not in table.data else table[label]
    given: AnyArray = column(table, label) if labels is None else labels
    lost = Counter(each for each in given[block.skipped].tolist() if not _is_missing(each))
    groups = Groups.of(given[block.rows], lambda row: table.where(int(block.rows[row])))
    return Rows(block.directions, groups, block.weightless, lost)


def _without_naught(weights: Any) -> tuple[Any, bool]:
    """The weights, or none where all are zero: a piece may weigh nothing, the whole may not."""
    if weights is None:
        return None, False
    w = as_numeric(weights, "weights")
    return (w, False) if w.any() else (None, True)


def rows_at_a_time(width: int) -> int:
    """Rows of ``width`` numbers that make a piece."""
    return max(1, min(_ROWS, _ENTRIES // max(width, 1)))


# --- the beginning ------------------------------------------------------------------------


def settled(
    pieces: Iterator[Piece],
    wanted: Wanted,
    decision: Decision | None,
    space: Space | None = None,
) -> tuple[Iterator[Piece], Decision | None, Space | None]:
    """The same pieces, how all are read after what the first rows tell, and where they live.

    Plain coordinates are points of ``space``, where it is given.
    """
    begin: list[Piece] = []
    waiting: list[Table] = []
    for piece in pieces:
        begin.append(piece)
        if decision is None or not isinstance(piece.data, Table):
            if not piece.count:
                continue
            made = _first_row(piece).rows(wanted, decision, space).directions
            return itertools.chain(begin, pieces), decision, None if made is None else made.space
        waiting.append(wanted.chosen(piece.data))
        if sum(table.rows for table in waiting) >= SEVERAL:
            decision, waiting = decision.after(_joined(waiting)), []
            if decision.told is not None:
                break
    if decision is not None and waiting:
        decision = decision.after(_joined(waiting))
    told = None if decision is None else decision.told
    return itertools.chain(begin, pieces), decision, None if told is None else told.space


def _first_row(piece: Piece) -> Piece:
    if isinstance(piece.data, Table):
        return piece
    return replace(piece, data=piece.data[:1], weights=None, labels=None)


def _joined(tables: Sequence[Table]) -> Table:
    """Pieces that follow each other as one."""
    if len(tables) == 1:
        return tables[0]
    lines = [table.lines for table in tables if table.lines is not None]
    return replace(
        tables[0],
        data={n: np.concatenate([table[n] for table in tables]) for n in tables[0].columns},
        lines=np.concatenate(lines) if len(lines) == len(tables) else None,
        ragged=tuple(words for table in tables for words in table.ragged),
        files=files_of_rows("" if tables[0].files is None else "the files", 1),
    )


# --- what is in memory --------------------------------------------------------------------


def frame_decision(frame: Any, wanted: Wanted, source: str) -> Decision:
    """How a frame is read, by the names of its columns."""
    return wanted.decision(table_of_slice(eager(frame), 0, 1, None), source)


def frame_pieces(
    frame: Any, names: Sequence[str], first: int = 0, block: str = ""
) -> Iterator[Piece]:
    """Pieces of a frame that is held in memory, a ``block`` of a stream if it has a name."""
    whole, step = eager(frame), rows_at_a_time(len(names))
    for start in range(0, len(whole), step):
        count = min(step, len(whole) - start)
        table = table_of_slice(whole, start, start + count, names)
        begun = "" if start else block
        placed_rows = replace(table, first=first + start)
        yield Piece(placed_rows, first=first + start, amount=count, block=begun)


def array_pieces(x: Any, weights: Any = None, labels: Any = None) -> Iterator[Piece]:
    """Pieces of coordinates (n, d) that are held in memory, with weights and labels if any."""
    for given, what in ((weights, "weights"), (labels, "by")):
        if isinstance(given, str):
            raise InvalidDirections(
                f"{what} names a column, but the source is an array; pass an array"
            )
        if np.ndim(x) == 0:
            raise InvalidDirections(f"the source is {shown(x)}; give rows (n, d)")
        if given is not None and _shape(given, what) != (len(x),):
            raise InvalidDirections(
                f"{what} has shape {_shape(given, what)} for {len(x)} rows; give one per row"
            )
    weights, labels = (None if given is None else np.asarray(given) for given in (weights, labels))
    step = rows_at_a_time(int(x.shape[1]) if x.ndim == 2 else 1)
    for start in range(0, len(x), step):
        rows = slice(start, start + step)
        yield Piece(
            x[rows],
            None if weights is None else weights[rows],
            None if labels is None else labels[rows],
            first=start,
            amount=min(step, len(x) - start),
        )


def _shape(given: Any, what: str) -> tuple[int, ...]:
    try:
        return np.shape(given)
    except Exception as error:  # whatever a foreign object does, the message is ours
        raise InvalidDirections(f"{what} is {shown(given)}; give one per row") from error


def block_pieces(
    blocks: Iterator[Any], wanted: Wanted, decision: Decision | None
) -> Iterator[Piece]:
    """Pieces of blocks that somebody yields: arrays, (x, weights), directions or frames.

    They are all of the form that the first has.
    """
    first, form = 0, ""
    for k, block in enumerate(blocks):
        name = block_name(k)
        if form and _form(block) != form:
            raise InvalidDirections(
                f"{name} is {_form(block)}, and the first is {form}; yield blocks of one form"
            )
        pieces = _pieces_of_block(block, wanted, decision, name)
        form = _form(block)
        for piece in pieces:
            data = piece.data
            moved = replace(data, first=first) if isinstance(data, Table) else data
            yield replace(piece, data=moved, first=first, amount=piece.count)
            first += piece.count


def block_name(k: int) -> str:
    """The block of a stream after ``k`` others; no name for the first, which others agree with."""
    return f"block {k + 1} of the stream" if k else ""


def _form(block: Any) -> str:
    """What a block is, in words: blocks of one form can be read alike."""
    if is_frame(block):
        return "a table"
    x, weighted = block, False
    if isinstance(block, Directions):
        x, weighted = block.x, block.weighted
    elif isinstance(block, tuple) and len(block) == 2:
        x, weighted = block[0], block[1] is not None
    try:
        width = np.shape(x)[1] if np.ndim(x) == 2 else 0
    except Exception:  # ragged, or what is no array: said where rows are read
        return shown(block)
    return f"rows of {width} numbers with{'' if weighted else 'out'} weights"


def _pieces_of_block(
    block: Any, wanted: Wanted, decision: Decision | None, name: str
) -> Iterator[Piece]:
    if is_frame(block):
        how = decision or frame_decision(block, wanted, "")
        if name:
            how.refuse_other_columns(table_of_slice(eager(block), 0, 1, None), name)
        return frame_pieces(block, wanted.names(how), block=name)
    if wanted.by is not None or wanted.request.weights is not None or wanted.of_tables:
        raise InvalidDirections(
            "{by}, {weights} and the like name columns, and a block is no table; yield tables that "
            "have them",
            by=arguments(by=...), weights=arguments(weights=...),
        )  # fmt: skip
    if isinstance(block, Directions):
        return direction_pieces(block, Wanted())
    if isinstance(block, tuple):
        if len(block) != 2:
            raise InvalidDirections(
                f"a block is a tuple of {len(block)}; yield x, (x, weights), directions or tables"
            )
        return array_pieces(as_numeric(block[0], "x"), block[1])
    return array_pieces(as_numeric(block, "x"))


def direction_pieces(directions: Directions, wanted: Wanted) -> Iterator[Piece]:
    """Pieces of directions, with labels if any; weights with the scale they were given."""
    request = wanted.request
    if request.weights is not None or wanted.of_tables or request != Request():
        raise InvalidDirections(
            "Directions carry their own coordinates and weights; leave out the rest"
        )
    if wanted.by is not None and np.shape(wanted.by) != (directions.n,):
        raise InvalidDirections(
            f"by has shape {np.shape(wanted.by)} for {directions.n} rows; give one label per row"
        )
    labels = None if wanted.by is None else np.asarray(wanted.by)
    first, known = 0, directions.reading
    for x, w in directions.blocks():
        rows = slice(first, first + len(x))
        yield Piece(
            x,
            np.ldexp(w, directions.weight_exponent) if directions.weighted else None,
            None if labels is None else labels[rows],
            first=first,
            amount=len(x),
            space=directions.space,
            reading=None if known is None else known.part(len(x), begin=not first),
        )
        first += len(x)
