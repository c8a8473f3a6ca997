"""Where pictures are drawn: new axes and figures, titles, notes, points and bars of colour."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from steradian.arguments import shown
from steradian.errors import InvalidArgument, MissingExtra
from steradian.numerics.arrays import Array
from steradian.plots.palette import (
    BLUE,
    COLUMN,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PAGE,
    PURPLE,
    SKY,
    TEXT,
    TITLE,
    VERMILION,
)
from steradian.text.numbers import unbroken

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure


PALETTE = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY)
DASHES = ("-", "--", "-.", ":")  # beside the colours, for print in grey
_RC: Any = {
    "font.size": TEXT,
    "axes.labelsize": TEXT,
    "axes.titlesize": TITLE,
    "axes.titlelocation": "left",
    "axes.linewidth": 0.6,
    "xtick.labelsize": TEXT,
    "ytick.labelsize": TEXT,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "legend.fontsize": TEXT,
    "savefig.dpi": 300,
}
_MARGIN = 0.7  # inches beside axes for their ticks and label
_SHORTEST_LINE = 72.0  # points of a title
_LINE = 1.25 * TEXT  # points from one line to the next
_SHORT = 18  # letters of entries that stand two in a row
_OWN = "steradian"  # mark of axes that were made here, whose figure may change its height
_LOWEST = 2.2  # inches of a figure
_ROUNDS = 3  # of a layout, after which it stands still


def colour(index: int) -> str:
    """Colour of the ``index``-th thing; they repeat after six."""
    return PALETTE[index % len(PALETTE)]


def dash(index: int) -> str:
    """Line style of the ``index``-th thing."""
    return DASHES[index % len(DASHES)]


def require() -> None:
    """Say which extra is missing, if it is."""
    if find_spec("matplotlib") is None:
        raise MissingExtra("plots need matplotlib; install it with: pip install 'steradian[plots]'")


def new_axes(width: float = COLUMN, height: float = 2.7) -> Axes:
    """Axes of a new figure, one column of a journal wide, that an interactive session shows."""
    require()
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    with mpl.rc_context(_RC):
        ax = plt.subplots(figsize=(width, height), layout="constrained")[1]
    ax.set_gid(_OWN)
    return ax


def new_page(ratios: tuple[float, float], height: float = 3.4) -> tuple[Axes, Axes]:
    """Two axes side by side on a figure two columns wide that an interactive session shows."""
    require()
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    with mpl.rc_context(_RC):
        left, right = plt.subplots(
            1, 2, figsize=(PAGE, height), layout="constrained", width_ratios=ratios
        )[1]
    return left, right


def new_figure(width: float, height: float) -> Figure:
    """A figure for files, in inches, that no session keeps alive."""
    require()
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def axes_for(ax: Axes | None, width: float = COLUMN, height: float = 2.7) -> Axes:
    """The axes that were given, or new ones of this size in inches."""
    if ax is None:
        return new_axes(width, height)
    if not hasattr(ax, "bar"):
        raise InvalidArgument(f"ax is {shown(ax)}; give the axes of a figure, or nothing")
    return ax


def frame(ax: Axes) -> None:
    """Only the sides that carry ticks."""
    ax.spines[["top", "right"]].set_visible(False)


def titled(ax: Axes, finding: str, *, margin: float | None = None) -> None:
    """The finding above the axes, in lines that are no wider than they are.

    ``margin`` is what stands beside the axes in inches, where that is more than ticks.
    """
    ax.set_title(wrapped(ax, finding, TITLE, margin), loc="left", fontsize=TITLE, color=INK)


def finished(ax: Axes, finding: str, words: str = "", margin: float | None = None) -> Axes:
    """Axes with their finding above and what a reader should know below, at rest."""
    titled(ax, finding, margin=margin)
    if words:
        note(ax, words, margin=margin)
    frame(ax)
    return settled(ax)


def note(ax: Axes, words: str, *, margin: float | None = None) -> None:
    """What a reader should know besides, in grey below everything else on the axes."""
    text = wrapped(ax, words, TEXT, margin)
    if not ax.get_xlabel():
        ax.set_xlabel(text, color=GREY, fontsize=TEXT)
        return
    below: Any = ("axes fraction", ax.xaxis.label)
    ax.annotate(
        text, (0.0, 0.0), xycoords=below, xytext=(0.0, -3.0),
        textcoords="offset points", va="top", ha="left", fontsize=TEXT, color=GREY,
    )  # fmt: skip


def legend_below(ax: Axes) -> None:
    """Entries below the names of ticks and the label, where no mark of theirs is taken for data."""
    from matplotlib.transforms import ScaledTranslation

    handles, labels = ax.get_legend_handles_labels()
    lines = max(tick.get_text().count("\n") for tick in ax.get_xticklabels()) + 1
    down = _LINE * (lines + 1) + TEXT  # ticks and the label of the axis
    place = ax.transAxes + ScaledTranslation(0.0, -down / 72.0, ax.figure.dpi_scale_trans)
    ax.legend(
        handles, labels, frameon=False, fontsize=TEXT, loc="upper left", bbox_to_anchor=(0.0, 0.0),
        bbox_transform=place, ncols=1 if max(map(len, labels)) > _SHORT else 2, borderpad=0.0,
        borderaxespad=0.0, handletextpad=0.3, columnspacing=1.2,
    )  # fmt: skip


def wrapped(ax: Axes, words: str, size: float, margin: float | None = None) -> str:
    """``words`` in lines that fit the width of the axes in letters of ``size`` points.

    Axes of a layout are not yet as wide as they will be, so that their share of the figure counts.
    """
    spot, whole = ax.get_subplotspec(), ax.figure.bbox.width / ax.figure.dpi
    inches = ax.bbox.width / ax.figure.dpi
    if spot is not None:
        grid = spot.get_gridspec()
        ratios: Any = grid.get_width_ratios() or [1.0] * grid.ncols
        share = sum(ratios[k] for k in spot.colspan) / sum(ratios)
        usual = _MARGIN if ax.get_ylabel() else 0.4 * _MARGIN
        usual += 0.5 * _MARGIN if grid.ncols > 1 else 0.0  # that a layout leaves between
        inches = whole * share - (usual if margin is None else margin)
    room = max(_SHORTEST_LINE, inches * 72.0)
    lines: list[str] = []
    for word in unbroken(words).split(" "):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer, size) <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    return "\n".join(lines)


def text_width(text: str, size: float) -> float:
    """How wide a text is, by the metrics of its font: outlines take tens of times as long."""
    from matplotlib.cbook import is_math_text
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font, formula = FontProperties(size=size), bool(is_math_text(text))
    return float(text_to_path.get_text_width_height_descent(text, font, ismath=formula)[0])


def settled(ax: Axes) -> Axes:
    """The axes after their layout has come to rest, and their figure made as high as it needs.

    Axes of equal scales leave room beside or below them, which only a figure made here may close.
    """
    figure: Any = ax.figure
    engine = figure.get_layout_engine() if hasattr(figure, "get_layout_engine") else None
    if engine is None or ax.get_aspect() == "auto":  # which one round of a layout settles
        return ax
    for artist in (*ax.collections, *ax.lines):
        artist.set_in_layout(False)  # inside the panel, and long to measure
    for _ in range(_ROUNDS):
        engine.execute(figure)
        if ax.get_gid() == _OWN:
            _fit_height(ax)
    _title_in_slot(ax)
    return ax


def _title_in_slot(ax: Axes) -> None:
    """Begin a title as far left of a panel as it would otherwise run into what stands beside it.

    Panels of equal scales may be narrower than their slot, for whose width a title is wrapped.
    """
    words = ax.get_title(loc="left")
    slot, used = ax.get_position(original=True), ax.get_position()
    points = 72.0 * ax.figure.bbox.width / ax.figure.dpi
    width = max(text_width(line, TITLE) for line in words.split("\n")) / points
    over = max(0.0, used.x0 + width - slot.x1)
    start = max(slot.x0 - used.x0, -over)
    ax.set_title(words, loc="left", x=start / used.width, fontsize=TITLE, color=INK)


def _fit_height(ax: Axes) -> None:
    """Give the figure the height at which the panel is as wide as it can be, and no more."""
    figure: Any = ax.figure
    ax.apply_aspect()
    width, height = figure.get_size_inches()
    box, used = ax.get_position(original=True), ax.get_position()
    wanted = used.height * (box.width / used.width)  # of the same shape at the full width
    figure.set_size_inches(width, max(_LOWEST, height * (1.0 + wanted - box.height)))


_LEAST_TOP = 1.2  # of the bar, times uniform, so that one is on it
_ABOVE, _HIGH = 15.0, 6.0  # points above the bar, for the word on it, and of the bar
_INDENT = 0.08  # of the width of the axes on either side


def density_norm(most: float) -> Normalize:
    """Colours from nothing to the densest, in proportion."""
    from matplotlib.colors import Normalize

    return Normalize(0.0, max(most, _LEAST_TOP))


def density_bar(painted: Any, ax: Axes, words: str) -> Any:
    """A bar of colours below axes and their label, and a line where the density is uniform.

    It hangs on the axes, wherever a layout puts them and whatever shape they have.
    """
    below = ax.inset_axes((_INDENT, -0.2, 1.0 - 2.0 * _INDENT, 0.03))
    below.set_axes_locator(lambda _, renderer: _bar_place(ax, renderer))
    bar = ax.figure.colorbar(painted, cax=below, orientation="horizontal")
    bar.set_label(words, fontsize=TEXT)
    below.tick_params(labelsize=TEXT, width=0.6, length=2.5)
    bar.outline.set_linewidth(0.5)
    below.locator_params(nbins=5)
    below.axvline(1.0, color=GREY, linewidth=1.4)
    below.annotate(
        "uniform", (1.0, 1.0), xycoords=("data", "axes fraction"), xytext=(-2.0, 1.5),
        textcoords="offset points", fontsize=TEXT, color=GREY, ha="left", va="bottom",
    )  # fmt: skip
    return bar


def _bar_place(ax: Axes, renderer: Any) -> Any:
    """Where the bar is on the figure: below the axes, their ticks and their label."""
    from matplotlib.transforms import Bbox

    ax.apply_aspect()
    figure: Any = ax.figure
    point = figure.dpi / 72.0
    box, ticks = ax.bbox, ax.xaxis.get_tightbbox(renderer)
    top = min(box.y0, box.y0 if ticks is None else ticks.y0) - _ABOVE * point
    left, right = box.x0 + _INDENT * box.width, box.x1 - _INDENT * box.width
    on_screen = Bbox.from_extents(left, top - _HIGH * point, right, top)
    return on_screen.transformed(figure.transSubfigure.inverted())


def pale_edges(marks: Any, width: float = 2.2, alpha: float = 0.8) -> None:
    """White edges of lines or letters, so that they are seen on every colour of a density."""
    from matplotlib import patheffects

    marks.set_path_effects(
        [patheffects.withStroke(linewidth=width, foreground="white", alpha=alpha)]
    )


_FEW, _LARGE, _SMALL = 30, 16.0, 2.5  # rows drawn large, and areas in square points
_LARGEST = 220.0  # square points
_FULL, _FADING = 0.9, 0.30
_OPAQUE = 60  # rows up to which points hide each other little


def point_areas(weights: Array) -> Array:
    """Areas in square points, (n,), whose mean falls with n and which are in ratio of the weights.

    The largest is bounded, and all others with it.
    """
    n = len(weights)
    mean = max(_SMALL, _LARGE * min(1.0, (_FEW / n) ** 0.4))
    shares = weights * n
    return np.asarray(shares * min(mean, _LARGEST / float(shares.max())))


def point_alpha(n: int) -> float:
    """Opacity of each of ``n`` points."""
    return float(_FULL * min(1.0, (_OPAQUE / n) ** _FADING))
