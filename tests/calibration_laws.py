"""Laws and cells of the calibration study: every sample is drawn here, by inversion.

Nothing of the library draws or weighs these samples, so that a test that holds its size holds it
against laws the library did not make.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import i0e, ndtr

import steradian as sr

Array = NDArray[np.float64]
Rng = np.random.Generator
Draw = Callable[[int, Rng], Array]  # count -> (count, d)
Sampler = Callable[[int, int, Rng], tuple[Array, Array | None]]  # B, n -> (B, n, d), (B, n)

SEED = 20_261_116
NODES = 1 << 16
CONTAMINATION = 0.03
ETA, QUADRATIC = 57.33980105, -33.70765111  # degree 1 and 2 moments of vMF(5) with 3 % uniform


@dataclass(frozen=True, eq=False)
class Inverse:
    """Draws of a density on an interval through its quantiles."""

    low: float
    high: float
    density: Callable[[Array], Array]

    @cache  # noqa: B019 - a handful of laws that live as long as the study
    def table(self) -> tuple[Array, Array]:
        """Distribution function and the points it belongs to."""
        points = np.linspace(self.low, self.high, NODES + 1)
        f = self.density(points)
        rise = np.concatenate([[0.0], np.cumsum(0.5 * (f[1:] + f[:-1]))])
        return rise / rise[-1], points

    def quantile(self, u: Array) -> Array:
        """The inverse distribution function."""
        return np.interp(u, *self.table())


def on_circle(theta: Array) -> Array:
    """(cos θ, sin θ) along a last axis."""
    return np.stack([np.cos(theta), np.sin(theta)], axis=-1)


def on_sphere(z: Array, longitude: Array) -> Array:
    """Points at heights z and longitudes."""
    radius = np.sqrt(np.maximum(1.0 - z * z, 0.0))
    return np.stack([radius * np.cos(longitude), radius * np.sin(longitude), z], axis=-1)


# --- the circle -------------------------------------------------------------------------------


def circle(density: Callable[[Array], Array]) -> Inverse:
    """A density of the angle from -π to π, of any scale."""
    return Inverse(-np.pi, np.pi, density)


def exponential(first: float, second: float) -> Callable[[Array], Array]:
    """exp(first · cos θ + second · cos 2θ)."""
    return lambda t: np.exp(first * np.cos(t) + second * np.cos(2.0 * t))


def mixture_density(t: Array) -> Array:
    """0.7 von Mises(4) + 0.3 von Mises(3) about 2.2."""
    heights = (0.7, 4.0, 0.0), (0.3, 3.0, 2.2)
    parts = [w * np.exp(k * (np.cos(t - c) - 1.0)) / i0e(k) for w, k, c in heights]
    return np.asarray(parts[0] + parts[1])


UNIFORM_CIRCLE = circle(np.ones_like)
VON_MISES = circle(exponential(2.0, 0.0))
FISHER_BINGHAM_CIRCLE = circle(exponential(2.0, 0.6))
FOUR_FOLD = circle(lambda t: 1.0 + 0.8 * np.cos(4.0 * t))
MIXTURE = circle(mixture_density)


def circular(law: Inverse) -> Draw:
    """Independent draws of a law on the circle."""
    return lambda count, rng: on_circle(law.quantile(rng.random(count)))


# --- the sphere -------------------------------------------------------------------------------


def axial(density: Callable[[Array], Array]) -> Draw:
    """Laws about the third axis with this density of the height."""
    law = Inverse(-1.0, 1.0, density)
    return lambda count, rng: on_sphere(
        law.quantile(rng.random(count)), rng.uniform(0.0, 2.0 * np.pi, count)
    )


def vmf(kappa: float) -> Draw:
    """Von Mises-Fisher about the third axis."""
    return axial(lambda z: np.exp(kappa * (z - 1.0)))


def contaminated_height(z: Array) -> Array:
    """Height of 0.97 FB(η e₃, b e₃e₃ᵀ) + 0.03 uniform, of mass one on [-1, 1]."""
    points, weights = np.polynomial.legendre.leggauss(400)
    peak = ETA**2 / (-4.0 * QUADRATIC)
    mass = weights @ np.exp(ETA * points + QUADRATIC * points**2 - peak)
    law = np.exp(ETA * z + QUADRATIC * z * z - peak) / mass
    return np.asarray((1.0 - CONTAMINATION) * law + CONTAMINATION * 0.5)


def kent(kappa: float, beta: float) -> Draw:
    """exp{κ z + β (x² - y²)}: height by inversion, twice the longitude is von Mises."""
    height = Inverse(
        -1.0,
        1.0,
        lambda z: np.exp(kappa * (z - 1.0) + beta * (1.0 - z * z)) * i0e(beta * (1.0 - z * z)),
    )

    def draw(count: int, rng: Rng) -> Array:
        z = height.quantile(rng.random(count))
        twice = rng.vonmises(0.0, beta * (1.0 - z * z))
        return on_sphere(z, 0.5 * twice + np.pi * rng.integers(0, 2, count))

    return draw


def uniform_sphere(count: int, rng: Rng) -> Array:
    """Uniform on the two-sphere."""
    return on_sphere(rng.uniform(-1.0, 1.0, count), rng.uniform(0.0, 2.0 * np.pi, count))


# --- designs ----------------------------------------------------------------------------------


def iid(draw: Draw) -> Sampler:
    """Independent rows of equal weight."""

    def sample(count: int, n: int, rng: Rng) -> tuple[Array, None]:
        return draw(count * n, rng).reshape(count, n, -1), None

    return sample


def fixed(draw: Draw) -> Sampler:
    """Independent rows with Pareto(2.5) weights of their own."""

    def sample(count: int, n: int, rng: Rng) -> tuple[Array, Array]:
        return draw(count * n, rng).reshape(count, n, -1), 1.0 + rng.pareto(2.5, (count, n))

    return sample


def importance(proposal: Draw, log_ratio: Callable[[Array], Array]) -> Sampler:
    """Rows of a proposal with the ratio of target to proposal, up to scale."""

    def sample(count: int, n: int, rng: Rng) -> tuple[Array, Array]:
        x = proposal(count * n, rng).reshape(count, n, -1)
        return x, np.exp(log_ratio(x))

    return sample


CLUSTERS, PER_CLUSTER, WITHIN, AUTOREGRESSION = 40, 5, 0.5, 0.7


def clustered(law: Inverse) -> Sampler:
    """Gaussian copula of correlation 0.5 within clusters of five."""

    def sample(count: int, n: int, rng: Rng) -> tuple[Array, None]:
        common = np.repeat(rng.standard_normal((count, n // PER_CLUSTER)), PER_CLUSTER, axis=1)
        own = rng.standard_normal((count, n))
        u = ndtr(np.sqrt(WITHIN) * common + np.sqrt(1.0 - WITHIN) * own)
        return on_circle(law.quantile(u)), None

    return sample


def autoregressive(law: Inverse) -> Sampler:
    """Gaussian copula of a stationary first-order autoregression."""

    def sample(count: int, n: int, rng: Rng) -> tuple[Array, None]:
        z = rng.standard_normal((count, n))
        for k in range(1, n):
            z[:, k] = AUTOREGRESSION * z[:, k - 1] + np.sqrt(1.0 - AUTOREGRESSION**2) * z[:, k]
        return on_circle(law.quantile(ndtr(z))), None

    return sample


# --- cells ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Cell:
    """A law, a design and a size at which the null of every one of ``levels`` holds."""

    name: str
    n: int
    levels: tuple[int, ...]
    sampler: Sampler
    design: str = "iid"
    recalibrated: bool = False  # fewer than ten rows per feature: the default resamples

    def draw(self, count: int, stream: int = 0) -> tuple[Array, Array | None]:
        """``count`` samples (count, n, d) and their weights, from the cell's own seed."""
        key = zlib.crc32(f"{self.name} {self.n}".encode())
        return self.sampler(count, self.n, np.random.default_rng([SEED, key, stream]))

    @property
    def plan(self) -> sr.designs.Design | str:
        """The design as `steradian.profile` takes it."""
        if self.design == "clusters":
            return sr.designs.Clusters(np.repeat(np.arange(CLUSTERS), PER_CLUSTER))
        return self.design

    @property
    def label(self) -> str:
        """Name and size."""
        return f"{self.name}, n={self.n}"


def _cells() -> tuple[Cell, ...]:
    circle_uniform, vm = iid(circular(UNIFORM_CIRCLE)), iid(circular(VON_MISES))
    ball, cloud = iid(uniform_sphere), iid(vmf(5.0))
    small = [
        Cell("S² uniform", 100, (3,), ball, recalibrated=True),
        Cell("S² vMF(5)", 100, (3,), cloud, recalibrated=True),
    ]
    plain = [
        cell
        for n in (100, 400)
        for cell in (
            Cell("S¹ uniform", n, (1, 2, 3), circle_uniform),
            Cell("S¹ vM(2)", n, (2, 3), vm),
            Cell("S² uniform", n, (1, 2, 3) if n > 100 else (1, 2), ball),
            Cell("S² vMF(5)", n, (2, 3) if n > 100 else (2,), cloud),
        )
    ]
    others = [
        Cell("S¹ Fisher-Bingham", 400, (3,), iid(circular(FISHER_BINGHAM_CIRCLE))),
        Cell("S² Kent(3, 1)", 400, (3,), iid(kent(3.0, 1.0))),
        Cell("S¹ 1 + 0.8 cos 4θ", 200, (2,), iid(circular(FOUR_FOLD))),
        Cell("S² vMF(5) + 3 % uniform", 400, (2,), iid(axial(contaminated_height))),
        Cell("S¹ vM(2), Pareto weights", 200, (2, 3), fixed(circular(VON_MISES)), "fixed"),
    ]
    ratios = [
        Cell(
            "S¹ vM(2) from vM(1)",
            500,
            (2, 3),
            importance(circular(circle(exponential(1.0, 0.0))), lambda x: x[..., 0]),
            "importance",
        ),
        Cell(
            "S² uniform from vMF(1.2)",
            500,
            (1, 2, 3),
            importance(vmf(1.2), lambda x: -1.2 * x[..., 2]),
            "importance",
        ),
    ]
    rows = CLUSTERS * PER_CLUSTER
    dependent = [
        Cell("S¹ uniform, clusters", rows, (1,), clustered(UNIFORM_CIRCLE), "clusters"),
        Cell("S¹ vM(2), clusters", rows, (2, 3), clustered(VON_MISES), "clusters"),
        Cell("S¹ uniform, chain", 1000, (1,), autoregressive(UNIFORM_CIRCLE), "chain"),
        Cell("S¹ vM(2), chain", 1000, (2, 3), autoregressive(VON_MISES), "chain"),
    ]
    return (*plain, *small, *others, *ratios, *dependent)


CELLS = _cells()
ROW_CELLS = tuple(c for c in CELLS if c.design in {"iid", "fixed"})


def cell(name: str, n: int) -> Cell:
    """The first cell of that name and size."""
    return next(c for c in CELLS if c.name == name and c.n == n)
