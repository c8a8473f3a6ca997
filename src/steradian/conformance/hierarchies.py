"""check_hierarchy: the whole contract of a hierarchy, and the lines about what it may offer."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np

from steradian.conformance import families, methods
from steradian.conformance.specimen import FittedSpecimen
from steradian.contract import Line, NotOffered, Report, examined
from steradian.data.moments import Moments
from steradian.errors import SteradianError
from steradian.hierarchies import Hierarchy, hierarchy_from_dict
from steradian.hierarchies.contract import STAGES, difference
from steradian.numerics.tolerances import CONTRACT_SAME, CONTRACT_TURNED

_DRAWS = 1 << 15  # uniform draws that stand for the uniform law where a space has no rules


def wider(s: FittedSpecimen) -> Iterator[str]:
    """`wider` gives the same features first, or None where there are no more."""
    h = s.hierarchy
    if h.wider(h.levels) != h:
        yield f"wider({h.levels}) is {h.wider(h.levels)!r}, not the hierarchy itself."
    more = h.wider(h.levels + 1)
    if more is None:
        raise NotOffered(f"there is nothing above level {h.levels}")
    if tuple(more.dims[: h.levels]) != tuple(h.dims):
        yield f"wider({h.levels + 1}) has dims {more.dims}, and these are {h.dims}."
    off = difference(np.asarray(more.features(s.x))[:, : s.phi.shape[1]], s.phi)
    if off > CONTRACT_SAME:
        yield f"Its features differ from those of wider({h.levels + 1}) by {off:.2g}."


def held(s: FittedSpecimen) -> Iterator[str]:
    """The sums that are held are those of the features through `held_levels`."""
    h = s.hierarchy
    wide = h.up_to(h.held_levels) if h.held_levels <= h.levels else h.wider(h.held_levels)
    if wide is None:
        yield f"held_levels is {h.held_levels}, and wider({h.held_levels}) is None."
    elif wide.q(h.held_levels) != h.held:
        yield f"held is {h.held}; {h.held_levels} levels have {wide.q(h.held_levels)} features."
    else:
        off = difference(h.sums(s.x, s.weights), s.weights @ np.asarray(wide.features(s.x)))
        if off > CONTRACT_SAME:
            yield f"They differ from the sums of those features by {off:.2g}."


def stacks(s: FittedSpecimen) -> Iterator[str]:
    """A `stack` of features that were formed already is the same, and so is one of means alone."""
    h, w = s.hierarchy, s.weights[None]
    plain, formed = h.stack(s.x[None], w), h.stack(s.x[None], w, np.asarray(s.phi)[None])
    for name in ("features", "mean", "scatter"):
        off = difference(getattr(formed, name), getattr(plain, name))
        if off > CONTRACT_SAME:
            yield f"`{name}` of a stack with features= differs by {off:.2g}."
    seen = h.wider(max(h.levels, h.second_moment_levels)) or h
    try:
        known = Moments.from_expectations(h, s.weights @ np.asarray(seen.features(s.x)))
    except SteradianError as error:
        raise NotOffered(str(error)) from None
    off = difference(known.up_to_level(h.levels), s.weights @ s.phi)
    if off > CONTRACT_SAME:
        yield f"E φ of `stack_of_means` differs from the means given by {off:.2g}."


def second_moments(s: FittedSpecimen) -> Iterator[str]:
    """`second_moments`, where offered, are Σ w (1, φ)(1, φ)ᵀ."""
    h, w = s.hierarchy, s.weights
    got = h.second_moments(h.levels, np.concatenate([[w.sum()], h.sums(s.x, w)]))
    if got is None:
        raise NotOffered("products of features are not among the sums")
    one = np.column_stack([np.ones(len(s.x)), s.phi])
    off = difference(got, one.T @ (w[:, None] * one))
    if off > CONTRACT_SAME:
        yield f"They differ by {off:.2g}."


def quadratic_levels(s: FittedSpecimen) -> Iterator[str]:
    """Levels up to `second_moment_levels` follow from E x and E xxᵀ."""
    h = s.hierarchy
    levels = min(h.second_moment_levels, h.levels)
    if not levels:
        raise NotOffered("second_moment_levels is 0")
    d = h.space.d
    x = h.space.uniform(2 * (1 + d + d * d), np.random.default_rng(5))
    squares = (x[:, :, None] * x[:, None, :]).reshape(len(x), -1)
    known = np.column_stack([np.ones(len(x)), x, squares])
    phi = np.asarray(h.features(x))[:, : h.q(levels)]
    off = difference(known @ np.linalg.lstsq(known, phi, rcond=None)[0], phi)
    if off > CONTRACT_TURNED:
        yield f"Features of level {levels} are no polynomials of degree 2, by {off:.2g}."


def coordinates(s: FittedSpecimen) -> Iterator[str]:
    """`coordinates`, where offered, are E x from E φ."""
    h, mean = s.hierarchy, s.weights @ s.x
    for q in {h.q(1), h.q(h.levels)}:
        got = h.coordinates((s.weights @ s.phi)[:q])
        if got is None:
            raise NotOffered("points have no mean, or these features do not hold it")
        off = difference(got, mean)
        if off > CONTRACT_SAME:
            yield f"From {q} features they differ from the mean of the points by {off:.2g}."


def turned(s: FittedSpecimen) -> Iterator[str]:
    """`turned`, where offered, gives the moments of the turned points."""
    h, w = s.hierarchy, s.weights[None]
    turn = h.space.symmetry(np.random.default_rng(6))
    got = h.turned(h.stack(s.x[None], w), turn)
    if got is None:
        raise NotOffered("gaps change under symmetries of the space, or moments do not tell")
    wanted = h.stack((s.x @ turn.T)[None], w)
    off = difference(h.expectations(got, h.levels), h.expectations(wanted, h.levels))
    if off > CONTRACT_TURNED:
        yield f"E φ differs by {off:.2g}."
    for name in ("mean", "scatter"):
        off = difference(getattr(got, name), getattr(wanted, name))
        if off > CONTRACT_TURNED:
            yield f"`{name}` differs by {off:.2g}."


def zonal(s: FittedSpecimen) -> Iterator[str]:
    """`zonal`, where offered: products Σ φ(x) φ(y) of a level depend on the angle of x and y."""
    h = s.hierarchy
    if h.zonal() is None:
        raise NotOffered("levels are not the degrees of harmonics on a unit sphere")
    moved = np.asarray(h.features(s.x @ h.space.symmetry(np.random.default_rng(7)).T))
    for level in range(1, h.levels + 1):
        block = slice(h.q(level - 1), h.q(level))
        here, there = s.phi[:, block], moved[:, block]
        off = difference(there @ there.T, here @ here.T)
        if off > CONTRACT_TURNED:
            yield f"Those of level {level} change under a rotation by {off:.2g}."


def raw_scale(s: FittedSpecimen) -> Iterator[str]:
    """`raw_scale` is a positive number."""
    scale = s.hierarchy.raw_scale
    if not (np.isfinite(scale) and scale > 0.0):
        yield f"It is {scale}."


def dictionary(s: FittedSpecimen) -> Iterator[str]:
    """`to_dict` is read again as an equal hierarchy, or refused in words."""
    h = s.hierarchy
    written = json.loads(json.dumps(h.to_dict()))
    if not isinstance(written.get("kind"), str):
        yield 'It has no "kind", by which it is found again.'
        return
    try:
        again = hierarchy_from_dict(written)
    except SteradianError as error:
        raise NotOffered(str(error)) from None
    if again != h or hash(again) != hash(h):
        yield f"It is read as {again!r}, which does not equal it."


_OFFERED: tuple[Line[FittedSpecimen], ...] = (
    wider,
    held,
    stacks,
    second_moments,
    quadratic_levels,
    coordinates,
    turned,
    zonal,
    raw_scale,
    dictionary,
)


def check_hierarchy(hierarchy: Hierarchy) -> Report:
    """Hold a hierarchy against every line of its contract.

    Features: nested, centred, orthonormal, summed rightly. What is offered (`wider`, `coordinates`,
    `turned`, …) is right. Families: ψ, its derivatives, densities, fits, draws and their fits, gaps
    as KL. A profile of it: every method answers or refuses in words.

    Parameters
    ----------
    hierarchy : Hierarchy
        One of this package or of your own.

    Returns
    -------
    Report
        The lines it keeps, and those about what it does not offer.

    Raises
    ------
    ConformanceError
        Lines are broken; the message names each, with what, where, by how much and the remedy.

    Examples
    --------
    >>> import steradian as sr
    >>> report = sr.conformance.check_hierarchy(sr.Harmonics(2, 1))
    >>> report.kept[2]
    '`levels`, `dims`, `level_names` and `q` agree.'
    """
    stages = (
        *STAGES,
        (*_OFFERED, *families.LINES),
        (*families.OF_PROFILES, *methods.LINES),
    )
    return examined(hierarchy, FittedSpecimen(hierarchy, _DRAWS), stages)
