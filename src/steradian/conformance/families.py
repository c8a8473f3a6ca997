"""Lines about the exponential family of each level."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from steradian.conformance.specimen import FittedSpecimen, mean_slack, uniform_rule
from steradian.contract import Line, NotOffered
from steradian.errors import SteradianError
from steradian.families.base import Family
from steradian.fitting.solution import Status
from steradian.hierarchies.base import basis_law
from steradian.hierarchies.contract import difference
from steradian.numerics.arrays import Array
from steradian.numerics.tolerances import (
    CONTRACT_CURVATURE,
    CONTRACT_INTEGRAL,
    CONTRACT_SLOPE,
    CONTRACT_SOLVED,
)

_STEP = 1e-4  # of differences, whose error is its square, and rounding of ψ over it
_DRAWS = 1500
_DIRECTIONS = 4


def sizes(s: FittedSpecimen) -> Iterator[str]:
    """The family of each level has one parameter for each feature."""
    for level, family, lam in s.families():
        if family.q != len(lam):
            yield f"That of level {level} has q = {family.q}, and the level {len(lam)} features."


def reference(s: FittedSpecimen) -> Iterator[str]:
    """Without parameters a law is uniform: ψ = 0; under their own law features are white."""
    for level, family, lam in s.families():
        none = np.zeros((1, len(lam)))
        psi = family.log_partition(none)[0]
        _, mean, covariance = family.log_partition(none + s.basis(level))
        wanted, white = 0.0 * lam, difference(covariance[0], np.eye(len(lam)))
        known = s.hierarchy.reference_features
        if known is not None:  # white under another law, as it declares
            wanted, white = known[: len(lam)], 0.0
        off = abs(float(psi[0])), difference(mean[0], wanted), white
        for name, value in zip(("ψ", "E φ", "the covariance"), off, strict=True):
            if value > CONTRACT_INTEGRAL:
                yield f"At level {level} {name} is off by {value:.2g}."


def declared(s: FittedSpecimen) -> Iterator[str]:
    """E φ and the covariance under the law of zero information are those of its space's law.

    Asked of features that declare another law than their own as that of zero information, which
    need not be white under it.
    """
    h = s.hierarchy
    known = h.reference_features
    if known is None:
        raise NotOffered("features are white under the law of zero information")
    rule, exact = uniform_rule(h.space)
    phi, wanted = np.asarray(h.features(rule.points)), known
    covariance = h.family(h.levels).log_partition(np.zeros((1, len(wanted))))[2][0]
    away = phi - rule.weights @ phi
    for name, values, told in (
        ("`reference_features`", phi, wanted),
        ("The covariance without parameters", away * away, np.diag(covariance)),
    ):
        for k, value in enumerate(rule.weights @ values):
            if not abs(value - told[k]) <= mean_slack(values[:, k], rule, exact):
                yield f"{name}: {s.feature(k)} has {told[k]:.4g}, and its space says {value:.4g}."
                break


def slopes(s: FittedSpecimen) -> Iterator[str]:
    """The gradient of ψ is E φ, and that of E φ the covariance."""
    for level, family, lam in s.families():
        along = _directions(len(lam))
        up, down = (family.log_partition(lam + sign * _STEP * along) for sign in (1.0, -1.0))
        _, mean, covariance = family.log_partition(lam[None])
        off = difference((up[0] - down[0]) / (2.0 * _STEP), along @ mean[0])
        if off > CONTRACT_SLOPE:
            yield f"At level {level} differences of ψ miss E φ by {off:.2g}."
        off = difference((up[1] - down[1]) / (2.0 * _STEP), along @ covariance[0])
        if off > CONTRACT_CURVATURE:
            yield f"At level {level} differences of E φ miss the covariance by {off:.2g}."


def covariances(s: FittedSpecimen) -> Iterator[str]:
    """Covariances are symmetric, and have no negative eigenvalue."""
    for level, family, lam in s.families():
        covariance = family.log_partition(lam[None])[2][0]
        if difference(covariance, covariance.T) > CONTRACT_INTEGRAL:
            yield f"That of level {level} is not symmetric."
        least = float(np.linalg.eigvalsh(covariance)[0])
        if least < -CONTRACT_INTEGRAL:
            yield f"That of level {level} has the eigenvalue {least:.2g}."


def densities(s: FittedSpecimen) -> Iterator[str]:
    """The density is exp(λ·φ - ψ), and its mean under the uniform law is one."""
    h = s.hierarchy
    rule, exact = uniform_rule(h.space)
    drawn_from = None if exact else basis_law(h)
    known = np.zeros(len(rule.weights))
    if drawn_from is not None:  # where the law lies uniform draws are not
        rule = replace(rule, points=drawn_from.sample(len(known), np.random.default_rng(4)))
        known = drawn_from.logpdf(rule.points)
    for level, family, lam in s.families():
        psi = float(family.log_partition(lam[None])[0][0])
        law = h.family(level).law(lam, psi)
        exponent = np.asarray(s.phi)[:, : len(lam)] @ lam
        off = difference(law.logpdf(s.x), exponent - psi)
        if off > CONTRACT_INTEGRAL:
            yield f"At level {level} logpdf differs from λ·φ - ψ by {off:.2g}."
        off = difference(family.exponent(s.x, lam), exponent)
        if off > CONTRACT_INTEGRAL:
            yield f"At level {level} `exponent` differs from λ·φ by {off:.2g}."
        density = np.exp(law.logpdf(rule.points) - known)
        off = abs(float(rule.weights @ density) - 1.0)
        if not off <= mean_slack(density, rule, exact):
            yield f"At level {level} the mass of the density differs from one by {off:.2g}."


def rules(s: FittedSpecimen) -> Iterator[str]:
    """The rule of a law integrates features as its mean does."""
    h = s.hierarchy
    for level, family, lam in s.families():
        mean = family.log_partition(lam[None])[1][0]
        if family.has_rule:
            points, masses = family.rule(lam, h.levels)
            if h.space.refusal(points) or abs(float(masses.sum()) - 1.0) > CONTRACT_INTEGRAL:
                yield f"At level {level} the mass is {masses.sum():.6g}, or nodes are no points."
            off = difference(masses @ np.asarray(h.features(points))[:, : len(lam)], mean)
            if off > CONTRACT_INTEGRAL:
                yield f"At level {level} the mean of features differs by {off:.2g}."
        try:
            wide = family.expectations(lam[None], h.up_to(level))[0]
        except SteradianError:
            continue
        off = difference(wide, mean)
        if off > CONTRACT_INTEGRAL:
            yield f"At level {level} `expectations` differ from E φ by {off:.2g}."


def fits(s: FittedSpecimen) -> Iterator[str]:
    """A fit has the moments of the data.

    Or nearly, by an error that the family states, where it integrates no better.
    """
    h, rows = s.hierarchy, s.rows
    x, w = rows.support()
    seen = h.stack(x[None], w[None])
    for level, family, lam in s.families():
        found = family.solve(seen, np.zeros((1, len(lam))), lambda _row: (x, w))
        if found.status[0] != Status.CONVERGED:
            yield f"That of level {level} to {len(x)} spread points {_sentence(found.status[0])}."
            continue
        psi, mean, _ = family.log_partition(found.lam)
        wanted = h.expectations(seen, level)
        off, (of_psi, of_mean) = difference(mean, wanted), _stated(family, found.lam)
        if off > CONTRACT_SOLVED + of_mean:
            yield f"At level {level} E φ of the fit differs from that of the data by {off:.2g}."
        deficit = float(found.lam[0] @ wanted[0] - psi[0])
        slack = CONTRACT_SOLVED + of_psi + (float(found.quadrature[0]) if of_psi else 0.0)
        if abs(deficit - float(found.deficit[0])) > slack:
            yield f"At level {level} the deficit is {found.deficit[0]:.6g}, not {deficit:.6g}."


def draws(s: FittedSpecimen) -> Iterator[str]:
    """Draws of a law have its moments, and the fit to them is close to it.

    With n draws n |m̂ - m|² in units of the covariance is χ² of q, and 2n KL to their fit as well.
    """
    h, rng = s.hierarchy, np.random.default_rng(8)
    for level, family, lam in s.families():
        psi, mean, covariance = (each[0] for each in family.log_partition(lam[None]))
        x = h.family(level).law(lam, float(psi)).sample(_DRAWS, rng)
        if x.shape != (_DRAWS, h.space.d) or h.space.refusal(x):
            yield f"At level {level} draws of shape {x.shape} are no points: {h.space.refusal(x)}."
            continue
        bound = len(lam) + 7.0 * np.sqrt(2.0 * len(lam)) + 25.0
        weights = np.full((1, _DRAWS), 1.0 / _DRAWS)
        seen = h.stack(x[None], weights)
        m = h.expectations(seen, level)
        away = m[0] - mean
        apart = _DRAWS * float(away @ np.linalg.solve(covariance, away))
        if not apart <= bound:
            yield f"At level {level} χ² of their moments is {apart:.3g} for {len(lam)} features."
            continue
        again = family.solve(seen, lam[None], lambda _row: (x, weights[0]))  # noqa: B023
        gain = 2.0 * _DRAWS * float(again.deficit[0] - (lam @ m[0] - psi))
        if not -1e-6 <= gain <= 1.5 * bound:
            yield f"At level {level} 2n KL to their own fit is {gain:.3g}, beyond {bound:.3g}."


def gaps(s: FittedSpecimen) -> Iterator[str]:
    """The gap of a level is KL between its fit and the one below."""
    p, h = s.profile, s.hierarchy
    for level, family, _ in s.families():
        if not family.has_rule:
            continue
        points, masses = family.rule(p.fits[level].lam, h.levels)
        upper, lower = (_log_density(s, k, points) for k in (level, level - 1))
        off = abs(float(masses @ (upper - lower)) - float(p.gaps[level - 1]))
        if off > CONTRACT_INTEGRAL:
            yield f"At level {level} they differ by {off:.2g} nats."


def laws_as_moments(s: FittedSpecimen) -> Iterator[str]:
    """`moments_of` a fit are its own."""
    h, lam = s.hierarchy, s.lam(1)
    mean = h.family(1).log_partition(lam[None])[1]
    centre = h.coordinates(mean)
    centre = np.zeros((1, h.space.d)) if centre is None else centre
    off = difference(h.expectations(h.moments_of(lam[None], centre), 1), mean)
    if off > CONTRACT_INTEGRAL:
        yield f"At level 1 E φ differs by {off:.2g}."


def _log_density(s: FittedSpecimen, level: int, x: Array) -> Array:
    fit = s.profile.fits[level]
    if level == 0:
        return np.zeros(len(x))
    return np.asarray(s.hierarchy.features(x))[:, : len(fit.lam)] @ fit.lam - fit.psi


def _stated(family: Family, lam: Array) -> tuple[float, float]:
    """By how much the family says that ψ and its means may be off."""
    psi, mean = family.stated_errors(lam)
    return float(psi.max()), float(mean.max())


def _directions(q: int) -> Array:
    """Unit vectors (B, q): few, whatever q is."""
    along = np.random.default_rng(9).standard_normal((_DIRECTIONS, q))
    return np.asarray(along / np.linalg.norm(along, axis=1, keepdims=True))


def _sentence(status: int) -> str:
    return Status(int(status)).sentence


LINES: tuple[Line[FittedSpecimen], ...] = (
    sizes,
    reference,
    declared,
    slopes,
    covariances,
    densities,
    rules,
    fits,
    draws,
    laws_as_moments,
)
OF_PROFILES: tuple[Line[FittedSpecimen], ...] = (gaps,)
