"""What a report holds: sentences, tables and figures, before anybody turns them into HTML."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

PlotlyFigure = dict[str, Any]
"""``data`` and ``layout`` as plotly.js takes them."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A few sentences."""

    kind: ClassVar[str] = "paragraph"
    text: str


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Text that keeps its lines; a reader may copy it with one button."""

    kind: ClassVar[str] = "verbatim"
    text: str
    label: str  # what the button copies


@dataclass(frozen=True, slots=True)
class Prose:
    """A paragraph that is meant to be pasted elsewhere."""

    kind: ClassVar[str] = "prose"
    text: str
    label: str


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of text under named columns; the first column names its row."""

    kind: ClassVar[str] = "table"
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    colours: tuple[str, ...] = ()  # of the rows, where they are levels


@dataclass(frozen=True, slots=True)
class Figure:
    """A plotly figure with what it shows in words, for those who do not see it."""

    kind: ClassVar[str] = "figure"
    key: str
    caption: str
    alt: str
    plot: PlotlyFigure


@dataclass(frozen=True, slots=True)
class Scene:
    """Points and the density of one level at a time, which a slider chooses.

    Attributes
    ----------
    key, caption, alt : str
        As of a `Figure`.
    chart : {"sphere", "circle", "torus"}
        What it is drawn on.
    levels : tuple of str
        What the slider says at each of its stops, from the uniform law on.
    first : int
        Where the slider stands at the beginning.
    content : dict
        Arrays for the script that draws it.
    """

    kind: ClassVar[str] = "scene"
    key: str
    caption: str
    alt: str
    chart: str
    levels: tuple[str, ...]
    first: int
    content: dict[str, Any]


Block = Paragraph | Verbatim | Prose | Table | Figure | Scene


@dataclass(frozen=True, slots=True)
class Section:
    """A folded part of a report, which begins with what it is for."""

    title: str
    purpose: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """A report that reads top down: the verdict, a picture, a table, three answers, the rest.

    Attributes
    ----------
    title : str
        What the data are.
    verdict : tuple of str
        What was found, the surest first.
    about : tuple of str
        The data in short.
    blocks : tuple of Block
        What everybody looks at.
    answers : tuple of (question, answer)
        Whether to believe it.
    sections : tuple of Section
        Everything else, folded.
    record : dict
        Every number, for machines.
    """

    title: str
    verdict: tuple[str, ...]
    about: tuple[str, ...]
    blocks: tuple[Block, ...]
    answers: tuple[tuple[str, str], ...]
    sections: tuple[Section, ...]
    record: dict[str, Any] = field(default_factory=dict)
