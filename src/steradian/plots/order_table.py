"""How many levels: what every criterion says of each, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steradian.arguments import checked_result
from steradian.numerics.arrays import Array, IntArray
from steradian.plots.canvas import axes_for, note, settled, titled
from steradian.plots.palette import COLUMN, GREY, INK, PAGE, TEXT, level_colour
from steradian.text.numbers import digits, levels_in_words, pvalue_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steradian.inference.order import OrderChoice

_ROWS = (
    ("residual", "residual p", "residual_pvalue"),
    ("holm", "gap p (Holm)", "holm_pvalue"),
    ("aic", "AIC (nats)", "aic"),
    ("bic", "BIC (nats)", "bic"),
    ("tic", "TIC (nats)", "tic"),
    ("held_out", "held out (nats)", "held_out"),
)
_NAMES = 1.25  # inches beside the table
_MOST = 10  # levels that a page shows
_TINT = 0.22  # of the colour of a level behind the criterion's choice


def order_criteria(order: OrderChoice, ax: Axes | None = None) -> Axes:
    """Draw the level that each criterion chooses, with the numbers it chooses by.

    AIC, BIC, TIC and the held-out score are less their best, so that the choice is 0; the held-out
    score has the standard error of that difference.

    Parameters
    ----------
    order : OrderChoice
        Of `choose_order`.
    ax : matplotlib Axes, optional
        Where; new ones unless given.

    Examples
    --------
    >>> import steradian as sr
    >>> p = sr.profile(sr.examples.load("turtles"), levels=3)
    >>> ax = sr.plots.order_criteria(sr.choose_order(p))  # doctest: +SKIP
    """
    from matplotlib.patches import Rectangle

    checked_result(order, "held_out_se", "choose_order()")
    shown = _columns(order)
    count = len(shown)
    ax = axes_for(ax, min(max(COLUMN, 1.2 + 0.62 * count), PAGE), 2.9)
    for row, (name, _, column) in enumerate(_ROWS):
        cells = _cells(order, name, getattr(order, column))
        chosen = order.chosen[name]
        for k, level in enumerate(order.levels[shown].tolist()):
            best = chosen is not None and level == chosen
            if best:
                box = Rectangle((k - 0.5, row - 0.5), 1.0, 1.0)
                box.set(color=level_colour(level), alpha=_TINT, linewidth=0.0)
                ax.add_patch(box)
            ax.text(
                k, row, cells[shown[k]], ha="center", va="center", fontsize=TEXT,
                color=INK if best else GREY, fontweight="bold" if best else "normal",
            )  # fmt: skip
    ax.set(xlim=(-0.5, count - 0.5), ylim=(len(_ROWS) - 0.5, -0.5))
    ax.set_xticks(range(count), [str(level) for level in order.levels[shown]])
    ax.set_yticks(range(len(_ROWS)), [words for _, words, _ in _ROWS])
    ax.tick_params(length=0.0)
    ax.hlines(np.arange(1, len(_ROWS)) - 0.5, -0.5, count - 0.5, colors="#DDDDDD", linewidths=0.6)
    ax.spines[:].set_visible(False)
    ax.set_xlabel("level L (0 is uniform)")
    ax.set_ylabel("criterion")
    titled(ax, _finding(order), margin=_NAMES)
    legend = f"tinted: the choice; p against {order.alpha:g}; other rows: distance from the best"
    if count < len(order.levels):
        left_out = np.flatnonzero(np.diff(shown) > 1) + 0.5
        ax.vlines(left_out, -0.5, len(_ROWS) - 0.5, colors=GREY, linewidths=0.8, linestyles=":")
        legend += f"; {count} of {len(order.levels)} levels, dotted where some are left out"
    note(ax, legend, margin=_NAMES)
    return settled(ax)


def _columns(order: OrderChoice) -> IntArray:
    """Which levels are shown: all that a page has room for, of more the first, the last, and those
    that are or are nearest to a choice.
    """
    count = len(order.levels)
    chosen = [level for level in order.chosen.values() if level is not None]
    marks = [0, count - 1, *np.flatnonzero(np.isin(order.levels, chosen))]
    away = np.abs(np.subtract.outer(np.arange(count), marks))
    away[:, 1] += (away[:, 1] > 0) * count  # nobody chose the last: its neighbours are no news
    return np.sort(np.argsort(away.min(axis=1), kind="stable")[:_MOST])


def _cells(order: OrderChoice, name: str, values: Array) -> list[str]:
    """The numbers of one criterion."""
    if name in ("residual", "holm"):
        return [pvalue_number(float(p)) for p in values]
    if np.isnan(values).all():
        return ["–"] * len(values)
    less = values - np.nanmax(values)
    if name != "held_out":
        return [digits(float(v)).replace("-", "−") for v in less]
    return [
        digits(float(v), 2).replace("-", "−") + (f"\n± {digits(float(se), 2)}" if se > 0.0 else "")
        for v, se in zip(less, order.held_out_se, strict=True)
    ]


def _finding(order: OrderChoice) -> str:
    chosen = [level for level in order.chosen.values() if level is not None]
    if not chosen:
        return "No criterion can tell how many levels there are"
    many = sorted(set(chosen))
    common = max(many, key=chosen.count)
    last = ", the highest tried" if common == int(order.levels[-1]) else ""
    if len(many) == 1:
        return f"Every criterion that can tell chooses {levels_in_words(many)}{last}"
    found = f"{chosen.count(common)} of {len(chosen)} criteria choose {levels_in_words([common])}"
    return f"{found}{last}"
