"""The contract of a hierarchy as far as a glance tells, and the gate that asks for it.

No number is made with a hierarchy that breaks it: `refuse_unproven` is asked wherever one enters.
Those of this package are proven by its tests; others once, in milliseconds. The rest of the
contract, families and all, is `steradian.conformance.check_hierarchy`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from steradian.arguments import shown
from steradian.contract import Line, examined, missing_members
from steradian.errors import ConformanceError, InvalidArgument
from steradian.hierarchies.base import Hierarchy, basis_law
from steradian.hierarchies.registry import is_shipped
from steradian.numerics.arrays import AnyArray, Array
from steradian.numerics.tolerances import CONTRACT_ORTHONORMAL, CONTRACT_SAME, SAME_VALUE
from steradian.references.base import underlying
from steradian.spaces import Space

POINTS = 24  # at which features are compared with each other
FEW_DRAWS = 4096
_MOST_NODES = 80_000
_MOST_ENTRIES = 20_000_000
_ERRORS = 6.5  # standard errors: of ten million entries one is beyond by chance in a thousand runs
_MOST_COLUMNS = 300  # of features whose products are formed under draws
_REMEDY = "sr.Custom(space, blocks) makes any functions orthonormal"


@dataclass(frozen=True)
class Specimen:
    """A hierarchy with some points of its space, and its features there."""

    hierarchy: Hierarchy
    draws: int = FEW_DRAWS

    @cached_property
    def x(self) -> Array:
        return self.hierarchy.space.uniform(POINTS, np.random.default_rng(0))

    @cached_property
    def weights(self) -> Array:
        return np.random.default_rng(1).dirichlet(np.ones(POINTS))

    @cached_property
    def phi(self) -> AnyArray:
        return self.hierarchy.features(self.x)

    @cached_property
    def gram(self) -> Gram:
        return gram_of(self.hierarchy, self.draws)

    def feature(self, column: int) -> str:
        """A column of the features in words."""
        dims = self.hierarchy.dims
        level = int(np.searchsorted(np.cumsum(dims), column, side="right")) + 1
        return f"feature {column - sum(dims[: level - 1]) + 1} of level {level}"


def tells_signs_apart(hierarchy: Hierarchy, space: Space, x: Array) -> bool:
    """Whether features differ at ``x`` (n, d) and -x, which are the same points of ``space``."""
    one_form = getattr(space, "one_form", None)  # of a `OneForm`: isinstance takes its time
    if one_form is None or (one_form(-x) != one_form(x)).any():
        return False
    both = hierarchy.features(-x), hierarchy.features(x)
    return not np.allclose(*both, rtol=0.0, atol=SAME_VALUE)


def difference(got: AnyArray, wanted: AnyArray) -> float:
    """The largest difference of two arrays over their size; infinite where shapes differ."""
    one, two = np.asarray(got, dtype=np.float64), np.asarray(wanted, dtype=np.float64)
    if one.shape != two.shape:
        return np.inf
    off = np.abs(one - two)
    if not np.isfinite(off).all():
        return np.inf
    return float(off.max(initial=0.0)) / max(1.0, float(np.abs(two).max(initial=0.0)))


# --- means and products -------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Gram:
    """E φ and E φφᵀ, with by how much each entry may be off."""

    mean: Array  # (q,)
    products: Array  # (q, q)
    mean_slack: Array  # (q,)
    product_slack: Array  # (q, q)
    under: str

    @property
    def sound(self) -> bool:
        """Whether the features are centred and orthonormal as far as this shows."""
        return self.worst_mean() is None and self.worst_product() is None

    def worst_mean(self) -> tuple[int, float] | None:
        """The feature that is farthest from mean zero, and its mean; None if all have it."""
        beyond = np.abs(self.mean) / self.mean_slack
        k = _first_largest(beyond)
        return (k, float(self.mean[k])) if not beyond[k] <= 1.0 else None

    def worst_product(self) -> tuple[tuple[int, int], float] | None:
        """The two features whose mean product is farthest from 0, or 1 where they are one."""
        beyond = np.abs(self.products - np.eye(len(self.products))) / self.product_slack
        j, k = divmod(_first_largest(beyond), len(beyond))
        return ((j, k), float(self.products[j, k])) if not beyond[j, k] <= 1.0 else None


def _first_largest(beyond: Array) -> int:
    """The first place, flat, of the largest entry, whatever rounding makes of equal ones."""
    flat = np.where(np.isnan(beyond), np.inf, beyond).ravel()
    return int(np.argmax(flat >= (1.0 - CONTRACT_ORTHONORMAL) * flat.max()))


def gram_of(hierarchy: Hierarchy, draws: int) -> Gram:
    """Under the coarsest two rules that find nothing, else the finest; draws where there is none.

    Two, since on the nodes of one rule a wrong function may look like a right one.
    """
    space, q = _own_space(hierarchy), hierarchy.q(hierarchy.levels)
    last: Gram | None = None
    for rung in range(space.rules()):
        rule = space.rule(rung)
        size = len(rule.weights)
        if last is not None and (size > _MOST_NODES or size * q > _MOST_ENTRIES):
            break
        found = _under_rule(hierarchy, rule.points, rule.weights)
        if last is not None and last.sound and found.sound:
            return found
        last = found
    return drawn_gram(hierarchy, draws) if last is None else last


def _own_space(hierarchy: Hierarchy) -> Space:
    """Whose uniform law features are white under: without its reference, where they are not."""
    known = hierarchy.reference_features is not None
    return underlying(hierarchy.space) if known else hierarchy.space


def _under_rule(hierarchy: Hierarchy, points: Array, weights: Array) -> Gram:
    phi, law = np.asarray(hierarchy.features(points)), basis_law(hierarchy)
    if law is not None:
        weights = weights * np.exp(law.logpdf(points))
    products = phi.T @ (weights[:, None] * phi)
    q = phi.shape[1]
    slack = np.full((q, q), CONTRACT_ORTHONORMAL)
    return Gram(weights @ phi, products, slack[0], slack, f"a rule of {len(weights)} nodes")


def drawn_gram(hierarchy: Hierarchy, draws: int) -> Gram:
    """Under draws, off by so many standard errors at most."""
    law, rng = basis_law(hierarchy), np.random.default_rng(2)
    x = _own_space(hierarchy).uniform(draws, rng) if law is None else law.sample(draws, rng)
    phi = np.asarray(hierarchy.features(x))[:, :_MOST_COLUMNS]
    squares = phi * phi
    products, fourth = phi.T @ phi / draws, squares.T @ squares / draws
    spread = np.sqrt(np.maximum(fourth - products**2, 0.0) / draws)
    slack = _ERRORS * np.sqrt(np.diag(products) / draws)
    # of a function that is ±1 the mean square has no error but rounding
    return Gram(
        phi.mean(axis=0), products, np.maximum(slack, CONTRACT_ORTHONORMAL),
        np.maximum(_ERRORS * spread, CONTRACT_ORTHONORMAL),
        f"{draws} {'uniform draws' if law is None else 'draws of the law it declares'}",
    )  # fmt: skip


# --- what it is ---------------------------------------------------------------------------


def members(s: Specimen) -> Iterator[str]:
    """It has every member of `Hierarchy`, and its space every member of `Space`."""
    for name in missing_members(s.hierarchy, Hierarchy):
        yield f"It has no `{name}`; derive from Hierarchy, which answers for what is not offered."
    for name in missing_members(getattr(s.hierarchy, "space", None), Space):
        yield f"Its space has no `{name}`; see steradian.spaces.Space."


def values(s: Specimen) -> Iterator[str]:
    """Hierarchies are values: equal ones compare equal and hash alike."""
    h = s.hierarchy
    again = h.up_to(h.levels)
    if again != h:
        yield f"up_to({h.levels}) is {again!r} and does not equal it; make it a frozen dataclass."
    elif hash(again) != hash(h):
        yield "Two equal ones hash differently; make it a frozen dataclass."
    if h.levels > 1 and h.up_to(h.levels - 1) == h:
        yield f"up_to({h.levels - 1}) equals it, though it has fewer levels."


def counts(s: Specimen) -> Iterator[str]:
    """`levels`, `dims`, `level_names` and `q` agree."""
    h = s.hierarchy
    if not isinstance(h.levels, int | np.integer) or h.levels < 1:
        yield f"levels is {shown(h.levels)}; give a whole number from 1 on."
        return
    if len(h.dims) != h.levels or not all(size >= 1 for size in h.dims):
        yield f"dims are {h.dims} for {h.levels} levels; give what each level adds, 1 or more."
    if len(h.level_names) != h.levels or not all(str(name).strip() for name in h.level_names):
        yield f"level_names are {h.level_names} for {h.levels} levels; give one name for each."
    for level in range(h.levels + 1):
        if h.q(level) != sum(h.dims[:level]):
            added = sum(h.dims[:level])
            yield f"q({level}) is {h.q(level)}, and the dims up to there add up to {added}."


# --- what it measures -----------------------------------------------------------------------


def features(s: Specimen) -> Iterator[str]:
    """Features are q finite functions of single points."""
    phi, wanted = np.asarray(s.phi), (POINTS, s.hierarchy.q(s.hierarchy.levels))
    if phi.shape != wanted:
        yield f"At {POINTS} points they have shape {phi.shape}, not {wanted}; mind the dims."
    elif not np.isfinite(phi).all():
        row, column = np.argwhere(~np.isfinite(phi))[0]
        yield f"{s.feature(int(column))} is {phi[row, column]} at the point {s.x[row]}."
    elif difference(s.hierarchy.features(s.x[5:9]), phi[5:9]) > CONTRACT_SAME:
        yield "At four points they are others than at the same four among more."


def nested(s: Specimen) -> Iterator[str]:
    """Levels are nested: the features of `up_to` are the first ones."""
    h = s.hierarchy
    for level in range(1, h.levels + 1):
        lower = h.up_to(level)
        if lower.levels != level or tuple(lower.dims) != tuple(h.dims[:level]):
            yield f"up_to({level}) has {lower.levels} levels of dims {lower.dims}, not {h.dims}."
            continue
        off = difference(lower.features(s.x), s.phi[:, : h.q(level)])
        if off > CONTRACT_SAME:
            yield f"Those of up_to({level}) differ from the first {h.q(level)} by {off:.2g}."


def single_valued(s: Specimen) -> Iterator[str]:
    """Features have one value at a point, whichever of its rows is given."""
    if tells_signs_apart(s.hierarchy, s.hierarchy.space, s.x):
        yield (
            f"The sign of a row means nothing on the {s.hierarchy.space.name}, and they tell x "
            "from -x; use even functions, like steradian.Axial."
        )


def centred(s: Specimen) -> Iterator[str]:
    """Features have mean zero under the uniform law, or the one that is declared."""
    worst = s.gram.worst_mean()
    if worst is not None:
        k, value = worst
        yield f"{s.feature(k)} has mean {value:.3g} under {s.gram.under}; subtract it, or {_REMEDY}"


def orthonormal(s: Specimen) -> Iterator[str]:
    """Features are orthonormal under the uniform law, or the one that is declared."""
    worst = s.gram.worst_product()
    if worst is not None:
        (j, k), value = worst
        pair = f"{s.feature(j)} and {s.feature(k)} have" if j != k else f"{s.feature(j)} has"
        what = "mean product" if j != k else "mean square"
        yield f"{pair} {what} {value:.8g}, not {int(j == k)}, under {s.gram.under}; {_REMEDY}"


def drawn(s: Specimen) -> Iterator[str]:
    """Uniform draws of the space agree with its rules."""
    seen = drawn_gram(s.hierarchy, FEW_DRAWS)
    mean, product = seen.worst_mean(), seen.worst_product()
    if mean is not None:
        k, value = mean
        yield f"{s.feature(k)} has mean {value:.3g} under {seen.under}, and none under the rules."
    elif product is not None:
        (j, k), value = product
        pair = f"{s.feature(j)} times {s.feature(k)}"
        yield f"{pair} has mean {value:.3g} under {seen.under}, and {int(j == k)} under the rules."


# --- how it is summed -----------------------------------------------------------------------


def sums(s: Specimen) -> Iterator[str]:
    """`sums` are weighted sums of the features, and those of parts add."""
    h = s.hierarchy
    kept = min(h.held, h.q(h.levels))
    for weights, name in ((s.weights, "with weights"), (None, "without weights")):
        got = np.asarray(h.sums(s.x, weights))
        if got.shape != (h.held,):
            yield f"They have shape {got.shape} {name}, and `held` says ({h.held},)."
            continue
        w = np.ones(POINTS) if weights is None else weights
        off = difference(got[:kept], (w @ s.phi)[:kept])
        if off > CONTRACT_SAME:
            yield f"They differ from Σ w φ by {off:.2g} {name}."
        first = None if weights is None else weights[:9]
        rest = None if weights is None else weights[9:]
        off = difference(h.sums(s.x[:9], first) + h.sums(s.x[9:], rest), got)
        if off > CONTRACT_SAME:
            yield f"Those of two parts add up to something else {name}, by {off:.2g}."


def means(s: Specimen) -> Iterator[str]:
    """`expectations` of a `stack` are weighted means of the features."""
    h = s.hierarchy
    w = np.stack([s.weights, s.weights[::-1]])
    seen = h.stack(np.stack([s.x, s.x]), w)
    for level in range(1, h.levels + 1):
        off = difference(h.expectations(seen, level), (w @ s.phi)[:, : h.q(level)])
        if off > CONTRACT_SAME:
            yield f"At level {level} they differ by {off:.2g}."


STAGES: tuple[tuple[Line[Specimen], ...], ...] = (
    (members,),
    (values, counts),
    (features,),
    (single_valued,),
    (nested, centred, orthonormal, sums, means),
    (drawn,),
)
"""The lines that every number takes for granted; each stage takes those before for granted."""


def refuse_unproven(hierarchy: Any) -> None:
    """Refuse what is no hierarchy at all, and one that breaks its contract.

    Raises
    ------
    InvalidArgument
        It is something else.
    ConformanceError
        It breaks lines of the contract, all of which are named.
    """
    if hasattr(hierarchy, "recipe"):
        raise InvalidArgument(
            f"{shown(hierarchy)} is chosen from data, which sr.profile does; give what it chooses, "
            "recipe.from_data(directions)"
        )
    if not all(hasattr(type(hierarchy), name) for name in ("features", "family", "sums")):
        raise InvalidArgument(
            f"hierarchy is {shown(hierarchy)}; give one, like steradian.Harmonics"
        )
    if is_shipped(hierarchy):
        return
    try:
        hash(hierarchy)
    except TypeError:
        cause = "It cannot be hashed; make it a frozen dataclass."
        raise ConformanceError(shown(hierarchy), (f"Hierarchies are values. {cause}",)) from None
    _prove(hierarchy)


@lru_cache(maxsize=256, typed=True)
def _prove(hierarchy: Hierarchy) -> None:
    examined(hierarchy, Specimen(hierarchy), STAGES)
