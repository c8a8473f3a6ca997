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
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
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
OPPOSITE = circle(lambda t: np.cosh(4.0 * np.cos(t)))

THREE = circle(lambda t: sum(np.exp(4.0 * np.cos(t - c)) for c in 2.0 * np.pi * np.arange(3) / 3))


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


def four_fold_height(z: Array) -> Array:
    """1 + 2.2 P₄(z), which is nowhere negative and has no moments of degree 1 to 3."""
    return 1.0 + 2.2 * (35.0 * z**4 - 30.0 * z**2 + 3.0) / 8.0


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


def six_heaps(count: int, rng: Rng) -> Array:
    """Equal parts of vMF(10) about both ends of every axis: nothing of degree 1, 2 and 3."""
    heap = vmf(10.0)(count, rng)
    heap *= np.where(rng.integers(0, 2, count), 1.0, -1.0)[:, None]
    turn = rng.integers(0, 3, count)
    return heap[np.arange(count)[:, None], (np.arange(3) + turn[:, None]) % 3]


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


def weighted(draw: Draw, weights: Callable[[tuple[int, int], Rng], Array]) -> Sampler:
    """Rows of a law with weights that know nothing of them."""

    def sample(count: int, n: int, rng: Rng) -> tuple[Array, Array]:
        return draw(count * n, rng).reshape(count, n, -1), weights((count, n), rng)

    return sample


# --- dependent rows ---------------------------------------------------------------------------

WITHIN = 0.5  # correlation of latent normal variables within clusters


@dataclass(frozen=True, eq=False)
class Polar:
    """A law about the first axis of R^d, made from latent normal variables (…, n, d)."""

    d: int
    height: Inverse  # of the coordinate along the axis

    def __call__(self, latent: Array) -> Array:
        t = self.height.quantile(ndtr(latent[..., 0]))
        y = latent[..., 1:]
        y = y / np.linalg.norm(y, axis=-1, keepdims=True)
        return np.concatenate(
            [t[..., None], np.sqrt(np.maximum(1.0 - t * t, 0.0))[..., None] * y], axis=-1
        )


@dataclass(frozen=True, eq=False)
class Angle:
    """A law of the angle, made from one latent normal variable."""

    law: Inverse
    d: int = 1

    def __call__(self, latent: Array) -> Array:
        return on_circle(self.law.quantile(ndtr(latent[..., 0])))


Shape = Polar | Angle


def vmf_in(d: int, kappa: float) -> Polar:
    """Von Mises-Fisher about the first axis of R^d."""

    def density(t: Array) -> Array:
        return np.exp(kappa * (t - 1.0)) * np.maximum(1.0 - t * t, 1e-300) ** (0.5 * (d - 3))

    return Polar(d, Inverse(-1.0, 1.0, density))


def rows_of(shape: Shape) -> Draw:
    """Independent draws of a shape."""
    return lambda count, rng: shape(rng.standard_normal((count, shape.d)))


def clustered(shape: Shape, sizes: IntArray, *, weighty: float = 0.0) -> Sampler:
    """Gaussian copula of correlation 0.5 within clusters of these sizes.

    ``weighty`` is the sigma of lognormal weights, one per cluster and sample.
    """
    ids = np.repeat(np.arange(len(sizes)), sizes)

    def sample(count: int, n: int, rng: Rng) -> tuple[Array, Array | None]:
        common = rng.standard_normal((count, len(sizes), shape.d))[:, ids]
        own = rng.standard_normal((count, n, shape.d))
        x = shape(np.sqrt(WITHIN) * common + np.sqrt(1.0 - WITHIN) * own)
        if not weighty:
            return x, None
        return x, rng.lognormal(0.0, weighty, (count, len(sizes)))[:, ids]

    return sample


def autoregressive(shape: Shape, slope: float) -> Sampler:
    """Gaussian copula of a stationary first-order autoregression."""

    def sample(count: int, n: int, rng: Rng) -> tuple[Array, None]:
        z = rng.standard_normal((count, n, shape.d))
        for k in range(1, n):
            z[:, k] = slope * z[:, k - 1] + np.sqrt(1.0 - slope**2) * z[:, k]
        return shape(z), None

    return sample


# --- cells ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Cell:
    """A law, a design and a size at which the null of every one of ``levels`` holds."""

    name: str
    n: int
    levels: tuple[int, ...]
    sampler: Sampler
    design: sr.designs.Design | str = "iid"
    samples: int = 2000

    def draw(self, count: int, stream: int = 0) -> tuple[Array, Array | None]:
        """``count`` samples (count, n, d) and their weights, from the cell's own seed."""
        key = zlib.crc32(f"{self.name} {self.n}".encode())
        return self.sampler(count, self.n, np.random.default_rng([SEED, key, stream]))

    @property
    def kind(self) -> str:
        """The name of the design."""
        return self.design if isinstance(self.design, str) else self.design.name

    @property
    def label(self) -> str:
        """Name and size, fit for a table of Markdown."""
        return f"{self.name}, n={self.n}".replace("|", "│")


UNIFORM_ANGLE, VM2 = Angle(UNIFORM_CIRCLE), Angle(VON_MISES)


def vm(kappa: float) -> Angle:
    """Von Mises of this concentration."""
    return Angle(circle(lambda t: np.exp(kappa * (np.cos(t) - 1.0))))


def in_clusters(
    name: str, shape: Shape, sizes: IntArray, levels: tuple[int, ...], *, weighty: float = 0.0
) -> Cell:
    """A cell of clusters of these sizes."""
    plan = sr.designs.Clusters(np.repeat(np.arange(len(sizes)), sizes))
    sampler = clustered(shape, sizes, weighty=weighty)
    return Cell(name, int(sizes.sum()), levels, sampler, plan)


def half_angles(slope: float) -> Draw:
    """Two opposite heaps with heavy tails: the double of the angle is wrapped Cauchy."""

    def draw(count: int, rng: Rng) -> Array:
        steep = (1.0 - slope) / (1.0 + slope)
        twice = 2.0 * np.arctan(steep * np.tan(np.pi * (rng.random(count) - 0.5)))
        return on_circle(0.5 * twice + np.pi * rng.integers(0, 2, count))

    return draw


def opposite(draw: Draw, share: float = 0.5) -> Draw:
    """Rows of a law, the rest of which are turned over."""

    def rows(count: int, rng: Rng) -> Array:
        return draw(count, rng) * np.where(rng.random(count) < share, 1.0, -1.0)[:, None]

    return rows


def given(sampler: Sampler, weights: Callable[[tuple[int, int], Rng], Array]) -> Sampler:
    """The same samples with weights (B, n) of their own."""
    return lambda count, n, rng: (sampler(count, n, rng)[0], weights((count, n), rng))


def per_unit(
    weights: Callable[[tuple[int, int], Rng], Array], rows: int
) -> Callable[[tuple[int, int], Rng], Array]:
    """Weights that units of so many rows have in common."""
    return lambda shape, rng: np.repeat(weights((shape[0], shape[1] // rows), rng), rows, axis=1)


def by_halves(heavy: float) -> Callable[[tuple[int, int], Rng], Array]:
    """Weight 1 for the first half of the rows, ``heavy`` for the second."""

    def weights(shape: tuple[int, int], _: Rng) -> Array:
        return np.broadcast_to(np.where(np.arange(shape[1]) < shape[1] // 2, 1.0, heavy), shape)

    return weights


def to_four(shape: tuple[int, int], rng: Rng) -> Array:
    """Uniform from 1 to 4."""
    return rng.uniform(1.0, 4.0, shape)


def one_to_four(shape: tuple[int, int], rng: Rng) -> Array:
    """1, 2, 3 or 4."""
    return rng.integers(1, 5, shape).astype(np.float64)


def in_survey(
    name: str, shape: Shape, strata: int, per_stratum: int, levels: tuple[int, ...]
) -> Cell:
    """Primary units of five rows in strata, sampled at rates 1, 2, …, one law everywhere."""
    psus = strata * per_stratum
    psu = np.repeat(np.arange(psus), 5)
    stratum = psu // per_stratum
    weights = 1.0 + stratum
    rows = clustered(shape, np.full(psus, 5))

    def sample(count: int, n: int, rng: Rng) -> tuple[Array, Array]:
        return rows(count, n, rng)[0], np.broadcast_to(weights, (count, n)).astype(float)

    return Cell(name, 5 * psus, levels, sample, sr.designs.Survey(psu=psu, strata=stratum))


def in_chain(name: str, shape: Shape, slope: float, n: int, levels: tuple[int, ...]) -> Cell:
    """A cell of one chain."""
    return Cell(name, n, levels, autoregressive(shape, slope), "chain")


def _sizes(key: int, count: int, low: int, high: int) -> IntArray:
    return np.random.default_rng(key).integers(low, high + 1, count)


def _one_large(count: int, others: int, large: int) -> IntArray:
    return np.concatenate([[large], np.full(count - 1, others)])


def _zipf(count: int, largest: int) -> IntArray:
    return np.maximum(np.round(largest / np.arange(1, count + 1)), 1).astype(np.int64)


def _lognormal_sizes() -> IntArray:
    return np.round(np.random.default_rng(200).lognormal(1.0, 1.0, 200)).astype(np.int64) + 1


def lognormal(sigma: float) -> Callable[[tuple[int, int], Rng], Array]:
    """Lognormal weights."""
    return lambda shape, rng: rng.lognormal(0.0, sigma, shape)


def _regular() -> tuple[Cell, ...]:
    circle_uniform, von_mises = iid(circular(UNIFORM_CIRCLE)), iid(circular(VON_MISES))
    ball, cloud = iid(uniform_sphere), iid(vmf(5.0))
    plain = [
        cell
        for n in (100, 400)
        for cell in (
            Cell("S¹ uniform", n, (1, 2, 3), circle_uniform),
            Cell("S¹ vM(2)", n, (2, 3), von_mises),
            Cell("S² uniform", n, (1, 2, 3), ball),
            Cell("S² vMF(5)", n, (2, 3), cloud),
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
    five = np.full(40, 5)
    dependent = [
        in_clusters("S¹ uniform, 40 clusters of 5", UNIFORM_ANGLE, five, (1,)),
        in_clusters("S¹ vM(2), 40 clusters of 5", VM2, five, (2, 3)),
        in_chain("S¹ uniform, chain 0.7", UNIFORM_ANGLE, 0.7, 1000, (1,)),
        in_chain("S¹ vM(2), chain 0.7", VM2, 0.7, 1000, (2, 3)),
    ]
    return (*plain, *others, *ratios, *dependent)


def _clusters() -> tuple[Cell, ...]:
    """Clusters of unequal sizes."""
    named = {
        "30 clusters, one of 60": _one_large(30, 5, 60),
        "30 clusters, one of half the rows": _one_large(30, 5, 145),
        "30 clusters, one of 15": _one_large(30, 5, 15),
        "10 clusters of 2 to 15": _sizes(10, 10, 2, 15),
        "20 clusters of 2 to 15": _sizes(20, 20, 2, 15),
        "30 clusters of 5": np.full(30, 5),
        "100 clusters of 5": np.full(100, 5),
        "200 lognormal clusters": _lognormal_sizes(),
    }
    return tuple(
        in_clusters(f"S¹ {law}, {name}", shape, sizes, levels)
        for name, sizes in named.items()
        for law, shape, levels in (("uniform", UNIFORM_ANGLE, (1, 2)), ("vM(2)", VM2, (2,)))
    )


def _rows() -> tuple[Cell, ...]:
    """Weights that know nothing of the directions, concentrated laws, slow chains."""
    flat, two = circular(UNIFORM_CIRCLE), circular(VON_MISES)
    uneven = [
        Cell(f"S¹ {law}, {kind} lognormal({sigma:g})", n, levels,
             weighted(draw, lognormal(sigma)), kind)
        for kind, sigma, n in (
            ("importance", 1.0, 50), ("importance", 1.0, 400), ("importance", 2.0, 100),
            ("fixed", 1.0, 100), ("fixed", 1.0, 400),
        )
        for law, draw, levels in (("uniform", flat, (1, 2)), ("vM(2)", two, (2,)))
    ]  # fmt: skip
    tight = [
        Cell(f"S¹ vM({kappa:g})", n, (2,), iid(rows_of(vm(kappa))))
        for kappa, n in ((10.0, 100), (10.0, 400), (10.0, 1000), (30.0, 200))
    ]
    slow = [
        in_chain(f"S¹ {law}, chain 0.9", shape, 0.9, n, levels)
        for n in (1000, 4000)
        for law, shape, levels in (("uniform", UNIFORM_ANGLE, (1,)), ("vM(2)", VM2, (2,)))
    ]
    return (*uneven, *tight, *slow)


def _further() -> tuple[Cell, ...]:
    """Cells that played no part in the choice of the method."""
    ball, flat = vmf_in(3, 0.0), vmf_in(5, 0.0)
    grouped = [
        in_clusters("S¹ uniform, 40 Zipf clusters", UNIFORM_ANGLE, _zipf(40, 80), (1, 2)),
        in_clusters("S¹ vM(2), 40 Zipf clusters", VM2, _zipf(40, 80), (2,)),
        in_clusters("S¹ uniform, two of 25 clusters hold two thirds", UNIFORM_ANGLE,
                    np.concatenate([[90, 90], np.full(23, 4)]), (1, 2)),
        in_clusters("S¹ vM(2), 30 clusters of lognormal(1) weight", VM2, np.full(30, 6), (2,),
                    weighty=1.0),
        in_clusters("S² uniform, 40 Zipf clusters", ball, _zipf(40, 60), (1, 2)),
        in_clusters("S² vMF(3), 60 clusters of 1 to 12", vmf_in(3, 3.0), _sizes(60, 60, 1, 12),
                    (2,)),
        in_clusters("S⁴ uniform, 60 clusters of 1 to 12", flat, _sizes(61, 60, 1, 12), (1, 2)),
        in_clusters("S⁴ vMF(5), 100 lognormal clusters", vmf_in(5, 5.0),
                    np.round(np.random.default_rng(5).lognormal(1, 1, 100)).astype(np.int64) + 1,
                    (2,)),
    ]  # fmt: skip
    chains = [
        in_chain("S¹ vM(2), chain 0.95", VM2, 0.95, 4000, (2,)),
        in_chain("S¹ uniform, chain 0.97", UNIFORM_ANGLE, 0.97, 6000, (1, 2)),
        in_chain("S² vMF(3), chain 0.9", vmf_in(3, 3.0), 0.9, 4000, (2,)),
        in_chain("S⁴ uniform, chain 0.8", flat, 0.8, 3000, (1, 2)),
    ]
    surveys = [
        in_survey("S¹ uniform, 4 strata of 8", UNIFORM_ANGLE, 4, 8, (1, 2)),
        in_survey("S¹ vM(2), 4 strata of 8", VM2, 4, 8, (2,)),
        in_survey("S¹ vM(2), 10 strata of 2", VM2, 10, 2, (2,)),
        in_survey("S² uniform, 5 strata of 12", ball, 5, 12, (1, 2)),
    ]
    return (*grouped, *chains, *surveys, *_further_rows())


def _further_rows() -> tuple[Cell, ...]:
    def student(shape: tuple[int, int], rng: Rng) -> Array:
        return np.abs(rng.standard_t(3.0, shape))

    def gamma(shape: tuple[int, int], rng: Rng) -> Array:
        return rng.gamma(0.3, size=shape)

    flat, sphere = circular(UNIFORM_CIRCLE), uniform_sphere
    ratios = [
        Cell("S¹ uniform, importance |t₃|", 100, (1, 2), weighted(flat, student), "importance"),
        Cell("S² uniform, importance |t₃|", 200, (1, 2), weighted(sphere, student), "importance"),
        Cell("S¹ vM(8), importance gamma(0.3)", 200, (2,), weighted(rows_of(vm(8.0)), gamma),
             "importance"),
        Cell("S⁴ vMF(5), importance lognormal(1)", 400, (2,),
             weighted(rows_of(vmf_in(5, 5.0)), lognormal(1.0)), "importance"),
    ]  # fmt: skip
    narrow = circular(circle(exponential(4.0, 0.0)))
    ratios.append(
        Cell("S¹ vM(1) from vM(4)", 200, (2,),
             importance(narrow, lambda x: -3.0 * x[..., 0]), "importance")
    )  # fmt: skip
    settled = [
        Cell("S¹ vM(2), fixed lognormal(1.5)", 200, (2, 3),
             weighted(circular(VON_MISES), lognormal(1.5)), "fixed"),
        Cell("S² uniform, fixed |t₃|", 100, (1, 2), weighted(sphere, student), "fixed"),
        Cell("S⁴ uniform, fixed lognormal(1)", 300, (1, 2),
             weighted(rows_of(vmf_in(5, 0.0)), lognormal(1.0)), "fixed"),
    ]  # fmt: skip
    equal = [
        Cell("S¹ vM(8)", 60, (2,), iid(rows_of(vm(8.0)))),
        Cell("S¹ vM(20)", 150, (2, 3), iid(rows_of(vm(20.0)))),
        Cell("S¹ vM(100)", 300, (2,), iid(rows_of(vm(100.0)))),
        Cell("S² vMF(2)", 80, (2,), iid(vmf(2.0))),
        Cell("S² vMF(40)", 150, (2,), iid(vmf(40.0))),
        Cell("S¹ three vM(4) at 120°", 80, (1, 2), iid(circular(THREE))),
        Cell("S² six vMF(10) on the axes", 120, (1, 2, 3), iid(six_heaps)),
        Cell("S² 1 + 2.2 P₄", 150, (1, 2), iid(axial(four_fold_height))),
        Cell("S¹ two opposite vM(4)", 80, (1,), iid(circular(OPPOSITE))),
        Cell("S⁴ vMF(5)", 300, (2,), iid(rows_of(vmf_in(5, 5.0)))),
        Cell("S⁹ uniform", 1000, (1, 2), iid(rows_of(vmf_in(10, 0.0)))),
        Cell("S⁹ vMF(10)", 1000, (2,), iid(rows_of(vmf_in(10, 10.0))), samples=500),
    ]
    return (*ratios, *settled, *equal)


def _beyond() -> tuple[Cell, ...]:
    """What no check on the sample can mend."""
    return (Cell("S² vMF(5) + 3 % uniform", 100, (2,), iid(axial(contaminated_height))),)


def _alternatives() -> tuple[Cell, ...]:
    """Laws of which the level's null is *not* true, for power."""
    law = circular(FISHER_BINGHAM_CIRCLE)
    name = "S¹ exp(2 cos θ + 0.6 cos 2θ)"
    one = circular(circle(exponential(1.0, 0.0)))

    def log_ratio(x: Array) -> Array:
        return np.asarray(x[..., 0] + 0.6 * (2.0 * x[..., 0] ** 2 - 1.0))

    return (
        Cell(name, 200, (2,), iid(law)),
        Cell(f"{name}, Pareto weights", 400, (2,), fixed(law), "fixed"),
        Cell(f"{name} from vM(1)", 200, (2,), importance(one, log_ratio), "importance"),
        in_clusters("S¹ vM(1), 10 clusters of 2 to 15", vm(1.0), _sizes(10, 10, 2, 15), (1,)),
        in_clusters("S¹ vM(0.5), 200 lognormal clusters", vm(0.5), _lognormal_sizes(), (1,)),
        in_chain("S¹ vM(0.3), chain 0.9", vm(0.3), 0.9, 4000, (1,)),
        Cell("S² Kent(5, 0.8)", 200, (2,), iid(kent(5.0, 0.8))),
    )


def _strata(psus: int, rows: int, strata: int) -> sr.designs.Survey:
    """Primary units of so many rows, as many in each stratum."""
    psu = np.repeat(np.arange(psus), rows)
    return sr.designs.Survey(psu=psu, strata=psu // (psus // strata))


def _validated(shape: Shape, ball: Shape, levels: tuple[int, ...]) -> tuple[Cell, ...]:
    """Weights that a design states: null for uniform shapes, a signal for others."""
    what = "uniform" if levels == (1, 2) else "vM(3), vMF(4)"
    singles = {n: sr.designs.Clusters(np.arange(n)) for n in (60, 80, 100)}
    groups = {u: np.full(u, 3) for u in (60, 200)}
    named = [
        Cell(f"S¹ {what}, {u} units of 3 in 2 strata, 1:3", 3 * u, levels[:1],
             given(clustered(shape, groups[u]), by_halves(3.0)), _strata(u, 3, 2))
        for u in (60, 200)
    ]  # fmt: skip
    named += [
        Cell(f"S¹ {what}, single rows 1:3", n, levels[:1],
             given(iid(rows_of(shape)), by_halves(3.0)), singles[n])
        for n in (60, 100)
    ]  # fmt: skip
    own = [
        Cell(f"S² {what}, 60 units of 2 in 4 strata, 1 to 4", 120, levels,
             given(clustered(ball, np.full(60, 2)), per_unit(to_four, 2)), _strata(60, 2, 4)),
        Cell(f"S² {what}, single rows 1, 2, 3, 4", 80, levels[:1],
             given(iid(rows_of(ball)), one_to_four), singles[80]),
        Cell(f"S¹ {what}, 40 units of 2, 1 to 4", 80, levels[:1],
             given(clustered(shape, np.full(40, 2)), per_unit(to_four, 2)), _strata(40, 2, 1)),
        Cell(f"S¹ {what}, importance 1:3", 100, levels[:1],
             given(iid(rows_of(shape)), by_halves(3.0)), "importance"),
    ]  # fmt: skip
    return (*named, *own)


def _heaps() -> tuple[Cell, ...]:
    """Two opposite heaps, whose third level is null."""
    named = [
        Cell(f"S¹ doubled wrapped Cauchy {slope}", n, (3,), iid(half_angles(slope)))
        for slope in (0.7, 0.85)
        for n in (35, 60, 100, 150)
    ]
    own = [
        Cell("S¹ doubled wrapped Cauchy 0.78", 45, (3,), iid(half_angles(0.78))),
        Cell("S¹ doubled wrapped Cauchy 0.8", 120, (3,), iid(half_angles(0.8))),
        Cell("S¹ two opposite vM(10)", 60, (3,), iid(opposite(rows_of(vm(10.0))))),
        Cell("S¹ doubled wrapped Cauchy 0.75, gamma(2)", 90, (3,),
             weighted(half_angles(0.75), lambda shape, rng: rng.gamma(2.0, size=shape)), "fixed"),
    ]  # fmt: skip
    return (*named, *own)


REGULAR, FURTHER, BEYOND = _regular(), _further(), _beyond()
ALTERNATIVES = _alternatives()
HOSTILE = (*_clusters(), *_rows())
STATED = _validated(UNIFORM_ANGLE, vmf_in(3, 0.0), (1, 2))
SIGNALS = _validated(vm(3.0), vmf_in(3, 4.0), (1,))
HEAPS = _heaps()
CELLS = (*REGULAR, *HOSTILE, *FURTHER)
ROW_CELLS = tuple(c for c in REGULAR if c.kind in {"iid", "fixed"})


def cell(name: str, n: int) -> Cell:
    """The first cell of that name and size."""
    return next(c for c in (*CELLS, *BEYOND) if c.name == name and c.n == n)
