"""How often 95 % intervals of gaps and deficits hold the truth, in laws the library did not make.

Every sample is drawn here, by inversion or rejection, and every true value is a plain quadrature
of the law's density: ``D_L = E log p`` where log p is a polynomial of degree L, and D_1 by the
mean resultant length alone. Only for mixtures, which no level describes, is the functional itself
asked for the value, on a dense grid.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import gammaln, i0e, ive

import calibration_laws as laws
import steradian as sr

Array = NDArray[np.float64]
Rng = np.random.Generator
SEED = 20_261_119  # not those (…117, …118) on whose samples the form of the interval was chosen
REPLICATES = 2000
ASKED = 0.935


@dataclass(frozen=True, eq=False)
class Law:
    """A density to draw from, whose deficits D_1..D_L are known."""

    draw: Callable[[int, Rng], Array]  # count -> (count, d)
    deficits: Callable[[], list[float]]


# --- true values ------------------------------------------------------------------------------


def concentration_deficit(length: float, d: int) -> float:
    """D_1 of a law on the sphere of R^d with this mean resultant length: that of its vMF fit."""
    order = d / 2.0 - 1.0

    def ratio(kappa: float) -> float:
        return float(ive(order + 1.0, kappa) / ive(order, kappa))

    if length < 1e-12:
        return 0.0
    kappa = brentq(lambda k: ratio(k) - length, 1e-9, 1e5, xtol=1e-13)
    partition = gammaln(d / 2.0) + order * np.log(2.0 / kappa) + np.log(ive(order, kappa)) + kappa
    return float(kappa * length - partition)


def sphere_rule(size: int = 120) -> tuple[Array, Array]:
    """Gauss-Legendre times trapezoid on the two-sphere, of mass one."""
    z, w = np.polynomial.legendre.leggauss(size)
    longitude = 2.0 * np.pi * np.arange(2 * size) / (2 * size)
    points = laws.on_sphere(np.repeat(z, 2 * size), np.tile(longitude, size))
    return points, np.repeat(w / 2.0, 2 * size) / (2 * size)


def entropy_loss(points: Array, mass: Array, exponent: Callable[[Array], Array]) -> list[float]:
    """D_1, and D of the law itself, by quadrature."""
    f = exponent(points)
    t = mass * np.exp(f - f.max())
    partition = np.log(t.sum()) + f.max()
    t /= t.sum()
    length = float(np.linalg.norm(t @ points))
    return [concentration_deficit(length, points.shape[1]), float(t @ f - partition)]


# --- laws on the two-sphere -------------------------------------------------------------------


def by_rejection(exponent: Callable[[Array], Array]) -> Callable[[int, Rng], Array]:
    """Draws of exp(exponent) on the two-sphere, from the uniform law."""
    top = float(exponent(sphere_rule()[0]).max()) + 0.05

    def draw(count: int, rng: Rng) -> Array:
        kept: list[Array] = []
        while sum(map(len, kept)) < count:
            x = laws.uniform_sphere(1 << 18, rng)
            kept.append(x[np.log(rng.random(len(x))) < exponent(x) - top])
        return np.concatenate(kept)[:count]

    return draw


def polynomial(exponent: Callable[[Array], Array], level: int) -> Law:
    """exp of a polynomial that is orthogonal to nothing below ``level`` but the mean."""

    def deficits() -> list[float]:
        first, whole = entropy_loss(*sphere_rule(), exponent)
        return [first, whole] if level == 2 else [first, first, whole]

    return Law(by_rejection(exponent), deficits)


def kent(kappa: float, beta: float) -> Law:
    """exp{κ z + β (x² - y²)}, drawn by inversion."""

    def exponent(x: Array) -> Array:
        return np.asarray(kappa * x[:, 2] + beta * (x[:, 0] ** 2 - x[:, 1] ** 2))

    return Law(laws.kent(kappa, beta), lambda: entropy_loss(*sphere_rule(200), exponent))


# --- the circle -------------------------------------------------------------------------------


def circle_law(density: Callable[[Array], Array], *, quadratic: bool = True) -> Law:
    """A density of the angle; its log is of degree 2, or nothing is known about it."""
    theta = 2.0 * np.pi * (np.arange(8192) + 0.5) / 8192 - np.pi
    points, mass = laws.on_circle(theta), np.full(8192, 1.0 / 8192)

    def deficits() -> list[float]:
        if quadratic:
            return entropy_loss(points, mass, lambda _: np.log(density(theta)))
        rows = sr.Directions(points, density(theta))
        return [float(v) for v in sr.profile(rows, levels=2).deficits]

    return Law(laws.circular(laws.circle(density)), deficits)


def bumps(*parts: tuple[float, float, float]) -> Callable[[Array], Array]:
    """Mixture of von Mises laws: share, concentration, centre of each."""
    return lambda t: np.asarray(
        sum(w * np.exp(k * (np.cos(t - c) - 1.0)) / i0e(k) for w, k, c in parts)
    )


# --- any dimension ----------------------------------------------------------------------------


def two_axes(d: int, kappa: float, beta: float) -> Law:
    """exp(κ x_1 + β x_2²) in R^d: two coordinates have a density, the rest is uniform."""
    z, w = np.polynomial.legendre.leggauss(400)
    power = (d - 4.0) / 2.0

    def across(t: Array) -> Array:
        """∫ exp{β (1 - t²) u²} (1 - u²)^power du."""
        inner = np.exp(beta * np.multiply.outer(1.0 - t * t, z * z))
        return np.asarray(inner @ (w * (1.0 - z * z) ** power))

    def height(t: Array) -> Array:
        return np.asarray(np.exp(kappa * (t - 1.0)) * (1.0 - t * t) ** (power + 0.5) * across(t))

    along = laws.Inverse(-1.0, 1.0, height)

    def draw(count: int, rng: Rng) -> Array:
        t = along.quantile(rng.random(count))
        u = np.full(count, np.nan)
        while (open_ := np.flatnonzero(np.isnan(u))).size:
            new = 2.0 * rng.beta(power + 1.0, power + 1.0, len(open_)) - 1.0
            log = beta * (1.0 - t[open_] ** 2) * (new**2 - 1.0)
            taken = np.log(rng.random(len(open_))) < log
            u[open_[taken]] = new[taken]
        rest = rng.standard_normal((count, d - 2))
        rest /= np.linalg.norm(rest, axis=1, keepdims=True)
        radius = np.sqrt(1.0 - t * t)
        tail = (radius * np.sqrt(1.0 - u * u))[:, None] * rest
        return np.hstack([t[:, None], (radius * u)[:, None], tail])

    def deficits() -> list[float]:
        base = np.outer(w * (1.0 - z * z) ** (power + 0.5), w * (1.0 - z * z) ** power)
        base /= base.sum()
        f = kappa * z[:, None] + beta * np.multiply.outer(1.0 - z * z, z * z)
        t = base * np.exp(f - f.max())
        partition = float(np.log(t.sum()) + f.max())
        t /= t.sum()
        first = concentration_deficit(abs(float(t.sum(axis=1) @ z)), d)
        return [first, float((t * f).sum()) - partition]

    return Law(draw, deficits)


# --- cells ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Cell:
    """A law, a size and a design under which intervals should cover."""

    name: str
    n: int
    law: Law
    levels: int = 2
    design: str = "iid"
    log_ratio: Callable[[Array], Array] | None = None  # target to what `draw` gives
    samples_wanted: int = REPLICATES
    plan: sr.designs.Design | None = None  # of rows that `draw` gives unit by unit

    @property
    def label(self) -> str:
        """Name and size."""
        return f"{self.name}, n={self.n}"

    @cached_property
    def truth(self) -> Array:
        """True gaps, then true deficits, (2 L,)."""
        deficits = np.array(self.law.deficits())
        return np.concatenate([np.diff(deficits, prepend=0.0), deficits])

    def samples(self, count: int) -> Iterator[dict[str, Any]]:
        """What to hand to `steradian.profile`."""
        rng = np.random.default_rng([SEED, zlib.crc32(self.label.encode())])
        drawn = self.law.draw(count * self.n, rng).reshape(count, self.n, -1)
        return (self._sample(x, rng) for x in drawn)

    def _sample(self, x: Array, rng: Rng) -> dict[str, Any]:
        if self.design == "clusters":
            rows, ids = clustered(x, rng)
            return {"data": rows, "design": sr.designs.Clusters(ids)}
        if self.design == "fixed":
            return {"data": x, "weights": rng.gamma(2.0, size=self.n), "design": "fixed"}
        if self.plan is not None:
            return {"data": x, "design": self.plan}
        if self.log_ratio is not None:
            return {"data": x, "weights": np.exp(self.log_ratio(x)), "design": "importance"}
        return {"data": x, "design": self.design}


def clustered(x: Array, rng: Rng) -> tuple[Array, NDArray[np.int64]]:
    """Rows in clusters of one to five; every second one repeats the first of its cluster."""
    n = len(x)
    ids = np.repeat(np.arange(n), rng.integers(1, 6, n))[:n]
    first = np.concatenate([[True], ids[1:] != ids[:-1]])
    source = np.maximum.accumulate(np.where(first, np.arange(n), 0))
    copied = rng.random(n) < 0.5
    return np.where(copied[:, None], x[source], x), ids


def _kent_importance() -> tuple[Law, Callable[[Array], Array]]:
    """Kent(4, 1) drawn as vMF(2.5), with the deficits of the target."""
    target = kent(4.0, 1.0)

    def log_ratio(x: Array) -> Array:
        return np.asarray(1.5 * x[:, 2] + (x[:, 0] ** 2 - x[:, 1] ** 2))

    return Law(laws.vmf(2.5), target.deficits), log_ratio


def _fisher_bingham(x: Array) -> Array:
    return np.asarray(2.0 * x[:, 0] + 1.5 * x[:, 2] + 3.0 * x[:, 1] ** 2 - x[:, 0] * x[:, 2])


def _tetrahedral(x: Array) -> Array:
    return np.asarray(8.0 * x[:, 0] * x[:, 1] * x[:, 2])


def cells() -> tuple[Cell, ...]:
    """The six laws asked for, then others."""
    beta = {b: circle_law(laws.exponential(2.0, b)) for b in (0.3, 0.6)}
    ball = polynomial(_fisher_bingham, 2)
    girdle = polynomial(lambda x: -5.0 * x[:, 2] ** 2, 2)
    ratio_law, log_ratio = _kent_importance()
    asked = [
        cell
        for n in (50, 100)
        for cell in (
            Cell("S² Kent(10, 3)", n, kent(10.0, 3.0)),
            Cell("S² Fisher-Bingham", n, ball),
            Cell("S² girdle", n, girdle),
            Cell("d = 10", 2 * n, two_axes(10, 6.0, 4.0)),
            Cell("S¹ β = 0.3", n, beta[0.3]),
            Cell("S¹ β = 0.6", n, beta[0.6]),
        )
    ]
    two = circle_law(bumps((0.7, 4.0, 0.0), (0.3, 3.0, 2.2)), quadratic=False)
    three = circle_law(bumps((0.5, 8.0, 0.0), (0.3, 2.0, 1.5), (0.2, 20.0, -2.5)), quadratic=False)
    others = [
        cell
        for n in (50, 100)
        for cell in (
            Cell("S¹ two bumps", n, two),
            Cell("S¹ three bumps", n, three),
            Cell("S² tetrahedral, L = 3", n, polynomial(_tetrahedral, 3), levels=3),
            Cell("S² Kent(40, 12)", n, kent(40.0, 12.0)),
            Cell("S² Kent(4, 1) from vMF(2.5)", n, ratio_law, design="importance",
                 log_ratio=log_ratio),
            Cell("S² Fisher-Bingham, gamma(2) weights", n, ball, design="fixed"),
            Cell("S¹ β = 0.6, clusters of 1-5", 2 * n, beta[0.6], design="clusters"),
            Cell("d = 5", n, two_axes(5, 4.0, 4.0), samples_wanted=500),
        )
    ]  # fmt: skip
    return (*asked, *others)


# --- two modes, whose mean is short -------------------------------------------------------------


def two_modes(draw: Callable[[int, Rng], Array], share: float, length: float, d: int) -> Law:
    """Rows of a law of this mean resultant length, all but ``share`` of them turned over."""
    mean = abs(2.0 * share - 1.0) * length
    return Law(laws.opposite(draw, share), lambda: [concentration_deficit(mean, d)])


def circle_modes(share: float, kappa: float) -> Law:
    """Two opposite von Mises laws."""
    rows = laws.rows_of(laws.vm(kappa))
    return two_modes(rows, share, float(ive(1, kappa) / ive(0, kappa)), 2)


def sphere_modes(share: float, kappa: float) -> Law:
    """Two opposite von Mises-Fisher laws on the two-sphere."""
    return two_modes(laws.vmf(kappa), share, 1.0 / np.tanh(kappa) - 1.0 / kappa, 3)


def unit_modes(rows: int, share: float, kappa: float, own: float) -> Law:
    """Units of so many rows, each in one of two opposite modes, with a centre of its own."""
    length = float(ive(1, kappa) / ive(0, kappa) * ive(1, own) / ive(0, own))

    def draw(count: int, rng: Rng) -> Array:
        units = count // rows
        centre = rng.vonmises(0.0, own, units) + np.pi * (rng.random(units) >= share)
        return laws.on_circle(np.repeat(centre, rows) + rng.vonmises(0.0, kappa, count))

    mean = abs(2.0 * share - 1.0) * length
    return Law(draw, lambda: [concentration_deficit(mean, 2)])


def _target_of_two(
    share: float, kappa: float, second: float
) -> tuple[Law, Callable[[Array], Array]]:
    """Two opposite von Mises laws drawn from exp(second · cos 2θ)."""
    target = circle_modes(share, kappa)
    proposal = laws.circular(laws.circle(laws.exponential(0.0, second)))

    def log_ratio(x: Array) -> Array:
        c = x[:, 0]
        heaps = share * np.exp(kappa * (c - 1.0)) + (1.0 - share) * np.exp(-kappa * (c + 1.0))
        return np.asarray(np.log(heaps) - second * (2.0 * c * c - 1.0))

    return Law(proposal, target.deficits), log_ratio


def _of_units(units: int, rows: int, law: Law, name: str, strata: int = 0) -> Cell:
    """Units of so many rows, in strata if there are any."""
    ids = np.repeat(np.arange(units), rows)
    plan: sr.designs.Design = sr.designs.Clusters(ids)
    if strata:
        plan = sr.designs.Survey(psu=ids, strata=ids % strata)
    kind = "survey" if strata else "clusters"
    return Cell(f"{name}, {units} units of {rows}", units * rows, law, 1, kind, plan=plan)


def mode_cells() -> tuple[Cell, ...]:
    """Cells of the third validation, then others."""
    named = [
        Cell(f"S¹ .{share} : rest, vM({kappa})", n, circle_modes(share / 100, kappa), 1)
        for kappa in (20, 100) for share in (53, 58) for n in (50, 150)
    ]  # fmt: skip
    named += [
        Cell(f"S² .{share} : rest, vMF(15)", n, sphere_modes(share / 100, 15.0), 1)
        for share in (53, 58) for n in (50, 150)
    ]  # fmt: skip
    named += [
        _of_units(units, 4, unit_modes(4, 0.6, 10.0, 20.0), "S¹ .6 : .4") for units in (12, 16, 20)
    ]
    ratio, log_ratio = _target_of_two(0.6, 8.0, 0.5)
    named.append(Cell("S¹ .6 : .4 from exp(.5 cos 2θ)", 100, ratio, 1, "importance", log_ratio))
    flat, flat_ratio = _target_of_two(0.65, 6.0, 0.0)
    own = [
        Cell("S² .55 : rest, vMF(40)", 80, sphere_modes(0.55, 40.0), 1),
        Cell("S² .7 : rest, vMF(5)", 60, sphere_modes(0.7, 5.0), 1),
        Cell("S¹ .5 : .5, vM(50)", 100, circle_modes(0.5, 50.0), 1),
        Cell("S¹ .9 : .1, vM(8)", 70, circle_modes(0.9, 8.0), 1),
        Cell("S¹ .56 : rest, vM(50), gamma(2) weights", 100, circle_modes(0.56, 50.0), 1, "fixed"),
        Cell("S¹ .65 : .35 from uniform", 200, flat, 1, "importance", flat_ratio),
        _of_units(15, 6, unit_modes(6, 0.75, 5.0, 10.0), "S¹ .75 : .25"),
        _of_units(40, 3, unit_modes(3, 0.55, 20.0, 30.0), "S¹ .55 : .45, 4 strata", strata=4),
    ]
    return (*named, *own)


# --- what is measured -------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Coverage:
    """Of I_1.. and D_1.. in a cell: shares, and the mean width of each interval."""

    cell: Cell
    held: Array  # (2 L,)
    below: Array  # (2 L,) share of intervals that end below the truth
    width: Array  # (2 L,)
    lost: int  # samples without a fit


def coverage(cell: Cell, count: int | None = None) -> Coverage:
    """Intervals of ``count`` samples, or as many as the cell wants, against the truth."""
    count = count or cell.samples_wanted
    truth, levels = cell.truth, cell.levels
    ends = []
    lost = 0
    for one in cell.samples(count):
        try:
            found = sr.profile(**one, levels=levels).intervals()
        except (sr.BoundaryError, sr.ResolutionError):
            lost += 1
            continue
        low, high = (
            np.append(found.low, found.deficit_low),
            np.append(found.high, found.deficit_high),
        )
        ends.append((low, high))
    low, high = (np.array(side) for side in zip(*ends, strict=True))
    held = (low <= truth + 1e-12) & (truth <= high)
    return Coverage(
        cell, held.mean(axis=0), (high < truth).mean(axis=0), (high - low).mean(axis=0), lost
    )


def allowed(share: float, count: int) -> float:
    """The least share that a true coverage of ``share`` shows, to three standard errors.

    The coverages themselves are in docs/coverage.md; none of them is below ``ASKED``.
    """
    return share - 3.0 * float(np.sqrt(share * (1.0 - share) / count))
