"""What people say information is relative to, as the hierarchy that measures it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from steradian.arguments import wrong_value
from steradian.data.directions import Directions
from steradian.data.moments import Moments
from steradian.errors import InvalidArgument, InvalidDirections, ResolutionError
from steradian.fitting.maxent import MaxEntFit
from steradian.hierarchies import Against, Hierarchy
from steradian.hierarchies.registry import default_hierarchy
from steradian.hierarchies.relative import Shifted
from steradian.numerics.arrays import Array, BoolArray
from steradian.references.base import (
    HasReference,
    Reference,
    SampledReference,
    missed_rows,
    reference_space,
    underlying,
    unseen,
    unseen_rows,
)
from steradian.references.density import Density, LawReference
from steradian.references.healpix import HealpixMap, is_map
from steradian.references.mask import Mask
from steradian.spaces import Space
from steradian.text.audience import Advice
from steradian.text.messages import arguments, message
from steradian.text.numbers import counted

_SAMPLE = Advice("a sample of the reference (sr.Directions)", "a table with a sample of it")
_LEFT_OUT = Advice("", message(" ({said})", said=arguments(drop_unseen=True)))
_KINDS = (
    "a fit (profile.fits[2], sr.FisherBingham), a density as a function of points, sr.Mask, "
    "sr.HealpixMap, or a sample (sr.Directions)"
)


def relative_hierarchy(
    reference: Any, source: Directions | Moments, levels: int | None, hierarchy: Hierarchy | None
) -> Hierarchy | None:
    """The hierarchy asked for, relative to what ``reference`` says; as it is where that is None."""
    if reference is None:
        return hierarchy
    if isinstance(source, Moments):
        raise InvalidArgument(
            "these are moments, sums of functions that know of no reference; profile the "
            "directions with {remedy}",
            remedy=arguments(reference=...),
        )
    if hierarchy is not None and isinstance(hierarchy.space, HasReference):
        raise InvalidArgument(
            "hierarchy is {hierarchy!r} already; leave out {said}",
            hierarchy=hierarchy, said=arguments(reference=...),
        )  # fmt: skip
    base = default_hierarchy(source.space, levels) if hierarchy is None else hierarchy
    if hierarchy is not None and levels is not None:
        base = base.up_to(levels)
    law = as_reference(reference, base.space)
    if law is None:
        return base
    lost = unseen_rows(law, source.x)
    if lost:
        raise InvalidDirections(
            "{lost}: {law} gives them no chance, so that they tell infinitely much; leave them "
            "out{how}, or widen the reference",
            lost=lost, law=law.words, how=_LEFT_OUT,
        )  # fmt: skip
    missed = missed_rows(law, source.x)
    if missed:
        cause = "relative to {law} cannot be resolved: {missed}, and is too narrow for them"
        remedy = message("give {sample}, or a density with wider peaks", sample=_SAMPLE)
        raise ResolutionError(1, message(cause, law=law.words, missed=missed), remedy)
    if isinstance(reference, MaxEntFit) and not base.family(base.levels).has_rule:
        return _shifted(base, reference, law)
    return Against.of(base, law)


def seen_rows(reference: Any, directions: Directions) -> BoolArray:
    """Which rows do not lie where a reference is zero; refused where all do."""
    law = as_reference(reference, directions.space)
    good = np.ones(directions.n, bool) if law is None else ~unseen(law, directions.x)
    if not good.any():
        raise InvalidDirections(
            f"all {directions.n} rows lie where the reference is zero; check its coordinates"
        )
    return good


def _shifted(base: Hierarchy, fit: MaxEntFit, law: Reference) -> Hierarchy:
    """Relative to a law of the same features, where the space has no rules."""
    both = min(base.levels, fit.hierarchy.levels)
    if fit.hierarchy.up_to(both) != base.up_to(both):
        raise InvalidArgument(
            f"the reference is a law of {fit.hierarchy!r}, and {base!r} measures other features; "
            f"on the {base.space.name} both must be the same: give a sample of it instead"
        )
    whole = max(base, fit.hierarchy.up_to(fit.level), key=lambda each: each.levels)
    return Shifted(whole, base.levels, fit, reference_space(base.space, law))


def as_reference(given: Any, space: Space) -> Reference | None:
    """The law on ``space`` that ``given`` says; None for the uniform one."""
    if given is None:
        return None
    if isinstance(given, MaxEntFit):
        return _fit(given, space)
    if isinstance(given, Mask | HealpixMap):
        return given.on(space)
    if isinstance(given, Directions):
        return _sample(given, space)
    if hasattr(given, "fits") and hasattr(given, "moments"):
        raise InvalidArgument("reference is a profile; say which level of it, like profile.fits[2]")
    if isinstance(given, str):
        raise wrong_value("reference", given, f"give {_KINDS}")
    if callable(given):
        return _density(given, space)
    try:
        values = np.asarray(given)
    except Exception as error:  # whatever a foreign object does, the message is ours
        raise wrong_value("reference", given, f"give {_KINDS}") from error
    if values.ndim == 2 and values.shape[1] == space.d and values.dtype.kind in "fiu":
        return _sample(Directions(values), space)
    if is_map(values):
        raise InvalidArgument(
            f"reference is an array of {len(values)} numbers; say how its pixels are ordered: "
            "sr.HealpixMap(values, 'ring') or sr.HealpixMap(values, 'nested')"
        )
    raise wrong_value("reference", given, f"give {_KINDS}")


def _fit(fit: MaxEntFit, space: Space) -> Reference | None:
    where = underlying(fit.space)
    if where != space:
        raise InvalidArgument(
            f"the reference is a law on the {where.name}, and the data are on the {space.name}"
        )
    if fit.level == 0:
        return fit.space.reference if isinstance(fit.space, HasReference) else None
    if isinstance(fit.space, HasReference):
        _need_rules(space)
    name = "a Fisher-Bingham law" if type(fit) is not MaxEntFit else f"a fit of level {fit.level}"
    return LawReference(fit.space, _FitLaw(fit), name)


@dataclass(frozen=True, slots=True)
class _FitLaw:
    """The law of a fit relative to its own reference; one for each fit."""

    fit: MaxEntFit

    def logpdf(self, x: Array) -> Array:
        return self.fit.law.logpdf(x)

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        return self.fit.sample(n, rng)


def _sample(directions: Directions, space: Space) -> Reference:
    if directions.space != space:
        raise InvalidArgument(
            f"the reference is a sample on the {directions.space.name}, and the data are on the "
            f"{space.name}"
        )
    weights = directions.weights
    seen = weights > 0.0
    words = f"a sample of {counted(int(seen.sum()), space.point_name)}"
    if directions.weighted:
        words += f", weighted (ESS {directions.ess:.0f})"
    return SampledReference(directions.x[seen], weights[seen], words)


def _density(function: Any, space: Space) -> Reference:
    _need_rules(space)
    name = getattr(function, "__name__", "")
    words = f"the density {name}" if name.isidentifier() else "a given density"
    return Density(space, function, words)


def _need_rules(space: Space) -> None:
    if not space.rules():
        raise InvalidArgument(
            "a density cannot be integrated on the {space}, which has no rules; give {remedy}",
            space=space.name,
            remedy=_SAMPLE,
        )
