"""What the calibration study measures: size, variants, Table 3, coverage, power."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import fdtrc
from scipy.stats import chi2, norm

import calibration_laws as laws
import steradian as sr
from calibration_laws import Array, BoolArray, Cell
from steradian.inference.score_tests import Null, Statistic
from steradian.inference.scores import Covariance
from steradian.numerics.chi_square_mixture import mixture_sf
from steradian.paper import calibration as paper
from steradian.paper import sample_tests

REPLICATES = 2000
INNER = 199
WIDER = 1.3  # how many times its nominal size a test may have, beyond Monte Carlo error
ALPHAS = (0.01, 0.05, 0.10)


def rates(pvalues: Array) -> Array:
    """Share of p-values at or below 1, 5 and 10 %; a sample without one does not reject."""
    return np.array([np.mean(np.nan_to_num(pvalues, nan=1.0) <= a + 1e-12) for a in ALPHAS])


def allowed(
    alpha: float | Array, count: int, times: float = 1.0, errors: float = 3.0
) -> float | Array:
    """So many times the nominal size, plus some binomial standard errors."""
    size = times * np.asarray(alpha)
    return size + errors * np.sqrt(size * (1.0 - size) / count)


# --- A: size of the default test --------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SizeRow:
    """What the default test and the plain tilt do in one cell and level whose null holds."""

    cell: Cell
    level: int
    pvalue: Array  # (count,) of the default; NaN where the sample was refused
    judged: BoolArray  # (count,)
    plain: Array  # (count,) of the plain tilt, covariance="tilted"

    @property
    def found(self) -> Array:
        """Rejections among all samples by p-values that the sample could judge."""
        return rates(np.where(self.judged, self.pvalue, np.nan))

    @property
    def as_printed(self) -> Array:
        """The same for every p-value that was printed."""
        return rates(self.pvalue)

    @property
    def unjudged(self) -> float:
        """Share of samples that could not be judged, refused ones apart."""
        return float(np.mean(~self.judged & ~np.isnan(self.pvalue)))

    @property
    def refused(self) -> float:
        """Share of samples without a p-value."""
        return float(np.mean(np.isnan(self.pvalue)))


def size_rows(cell: Cell, count: int = 0) -> list[SizeRow]:
    """The default test in a cell, level by level; of as many samples as the cell says."""
    x, w = cell.draw(count or cell.samples)
    if cell.kind != "chain" and x.shape[2] <= 3:
        pvalue, judged, plain = _together(cell, x, w)
    else:
        found = [_singly(cell, one, None if w is None else w[k], k) for k, one in enumerate(x)]
        pvalue, judged, plain = (np.array(part) for part in zip(*found, strict=True))
    return [
        SizeRow(cell, level, pvalue[:, k], judged[:, k].astype(bool), plain[:, k])
        for k, level in ((level - 1, level) for level in cell.levels)
    ]


def _together(cell: Cell, x: Array, w: Array | None) -> tuple[Array, BoolArray, Array]:
    """All samples at once, as the default would test each."""
    levels = max(cell.levels)
    found = sample_tests(x, weights=w, levels=levels, design=cell.design, replicates=999)
    by_name: Covariance = "null" if cell.kind == "survey" else "tilted"
    plain = sample_tests(x, weights=w, levels=levels, design=cell.design, covariance=by_name)
    return found.pvalue, found.judged, plain.pvalue


def _singly(cell: Cell, x: Array, w: Array | None, seed: int) -> tuple[Array, Array, Array]:
    """One sample, by default and by the plain tilt; NaN where the design refuses it."""
    levels = max(cell.levels)
    none = np.full(levels, np.nan)
    try:
        profile = sr.profile(x, weights=w, levels=levels, design=cell.design)
    except sr.DesignError:
        return none, np.zeros(levels), none
    found = profile.tests(seed=seed)
    try:
        plain = profile.tests(covariance="tilted").pvalue
    except sr.DesignError:  # strata
        plain = none
    return found.pvalue, found.judged.astype(float), plain


def judged_share(cell: Cell, count: int = 0) -> tuple[float, float]:
    """Share of samples with p < .001 at the first level, and of them how many were judged."""
    x, w = cell.draw(count or cell.samples)
    found = sample_tests(x, weights=w, levels=1, design=cell.design)
    small = found.pvalue[:, 0] < 0.001
    return float(small.mean()), float(found.judged[small, 0].mean())


def uniformity_rates(cell: Cell, level: int, count: int) -> Array:
    """Rejection at 1, 5 and 10 % of `Profile.uniformity` through a level."""
    x, _ = cell.draw(count)
    return rates(np.array([sr.profile(one, levels=level).uniformity().pvalue[-1] for one in x]))


@dataclass(frozen=True)
class UnitsCell:
    """Units of which a share has rows of all groups, and the others of one."""

    name: str
    units: int
    shift: float = 0.0  # radians between neighbouring groups
    own: float = 1.0  # standard deviation of what a unit adds to all of its rows
    overlap: float = 1.0
    groups: int = 2
    even: bool = True  # five rows each, or one to nine

    def draw(self, rng: np.random.Generator) -> tuple[Array, laws.IntArray, laws.IntArray]:
        """Rows, groups and units."""
        t, by, ids = [], [], []
        for unit in range(self.units):
            about, alone = self.own * rng.normal(), rng.random() >= self.overlap
            for group in [int(rng.integers(self.groups))] if alone else range(self.groups):
                size = 5 if self.even else int(rng.integers(1, 10))
                t.append(about + self.shift * group + rng.vonmises(0.0, 8.0, size))
                by += [group] * size
                ids += [unit] * size
        return laws.on_circle(np.concatenate(t)), np.array(by), np.array(ids)


WITHIN = (
    UnitsCell("18 units in both groups", 18),
    UnitsCell("18 units in both groups, turned by .15", 18, shift=0.15),
    UnitsCell("30 units, half in both", 30, overlap=0.5),
    UnitsCell("25 units in both, one to nine rows", 25, even=False),
    UnitsCell("30 units, most in all of three groups", 30, own=0.6, overlap=0.7, groups=3),
    UnitsCell("30 units in both, turned by .5", 30, shift=0.5, own=0.4),
)


def within_units(cell: UnitsCell, count: int) -> dict[str, float]:
    """Rejection at 5 % of the tests of a comparison, and of Hotelling's paired test."""
    rng, found = np.random.default_rng([laws.SEED, cell.units, len(cell.name)]), []
    for _ in range(count):
        x, by, ids = cell.draw(rng)
        tests = sr.compare(x, by=by, levels=2, design=sr.designs.Clusters(ids)).tests(
            permutations=199, replicates=99
        )
        paired = hotelling(x, by, ids) if cell.groups == 2 else np.nan
        found.append([tests.any_pvalue, *tests.pvalue, paired])
    share = np.mean(np.array(found) <= 0.05, axis=0)
    return dict(zip(("same law", "level 1", "level 2", "Hotelling"), share.tolist(), strict=True))


def hotelling(x: Array, by: laws.IntArray, ids: laws.IntArray) -> float:
    """P-value of the paired test of units that are in both of two groups."""
    pairs = [
        x[(ids == u) & (by == 0)].mean(axis=0) - x[(ids == u) & (by == 1)].mean(axis=0)
        for u in np.unique(ids)
        if len(set(by[ids == u].tolist())) == 2
    ]
    n, k = len(pairs), x.shape[1]
    if n <= k + 1:
        return 1.0
    mean = np.mean(pairs, axis=0)
    square = n * mean @ np.linalg.solve(np.cov(np.transpose(pairs)), mean)
    return float(fdtrc(k, n - k, square * (n - k) / (k * (n - 1))))


# --- B: the other forms -----------------------------------------------------------------------


@dataclass(frozen=True)
class Variant:
    """One way to test a gap, as `Profile.tests` names it."""

    name: str
    null: Null
    statistic: Statistic
    covariance: Covariance | None = None

    def test(self, profile: sr.results.Profile, **more: object) -> sr.results.GapTests:
        """The same through a single profile."""
        return profile.tests(self.null, self.statistic, self.covariance, **more)  # type: ignore[arg-type]


DEFAULT = Variant("default", "moment", "score")
VARIANTS = (
    DEFAULT,
    Variant("score, plain tilt", "moment", "score", "tilted"),
    Variant("score, null", "moment", "score", "null"),
    Variant("score, empirical", "moment", "score", "empirical"),
    Variant("gap, null", "moment", "gap", "null"),
    Variant("gap, empirical", "moment", "gap", "empirical"),
    Variant("score, χ²", "model", "score"),
    Variant("gap, χ²", "model", "gap"),
)


def variant_pvalues(x: Array, w: Array | None, levels: int) -> dict[str, Array]:
    """P-values (B, L) of every variant, never recalibrated, from one pass per covariance."""
    design = None if w is None else "fixed"
    kinds: tuple[Covariance, ...] = ("damped", "tilted", "null", "empirical")
    tested = {
        kind: sample_tests(x, weights=w, levels=levels, design=design, covariance=kind)
        for kind in kinds
    }
    out = {}
    for variant in VARIANTS:
        found = tested[variant.covariance or "damped"]
        value = found.score_statistic if variant.statistic == "score" else found.gap_statistic
        if variant.null == "model":
            dof = [c.shape[1] for c in found.coefficients]
            out[variant.name] = np.asarray(chi2.sf(2.0 * value, dof))
        else:
            columns = [mixture_sf(value[:, k], c) for k, c in enumerate(found.coefficients)]
            out[variant.name] = np.stack(columns, axis=1)
    return out


@dataclass(frozen=True, eq=False)
class VariantRow:
    """Rejection rates of one variant in one cell and level, and what its warnings caught."""

    cell: Cell
    level: int
    variant: Variant
    rates: Array  # at 1, 5, 10 %
    worst: float  # nominal size at which it is more than twice too large, 0 if none
    warned: float  # share of rejecting samples (100 looked at) that carry a warning, NaN if none


def variant_rows(cell: Cell, count: int = REPLICATES, looked: int = 100) -> list[VariantRow]:
    """Every variant in a cell of independent rows."""
    x, w = cell.draw(count)
    pvalues = variant_pvalues(x, w, max(cell.levels))
    rows = []
    for level in cell.levels:
        for variant in VARIANTS:
            p = pvalues[variant.name][:, level - 1]
            found = rates(p)
            worst = next(
                (a for a, r in zip((0.05, 0.01), found[1::-1], strict=True) if r > 2 * a), 0.0
            )
            warned = float("nan")
            if worst:
                chosen = np.flatnonzero(p <= worst)[:looked]
                warned = float(
                    np.mean([_warned(cell, x, w, int(k), level, variant) for k in chosen])
                )
            rows.append(VariantRow(cell, level, variant, found, worst, warned))
    return rows


def _warned(cell: Cell, x: Array, w: Array | None, k: int, level: int, variant: Variant) -> bool:
    weights = None if w is None else w[k]
    profile = sr.profile(x[k], weights=weights, levels=level, design=cell.design)
    said = variant.test(profile, replicates=19).diagnostics
    return any(one.level in (None, level) for one in said)


# --- C: Table 3 of the paper ------------------------------------------------------------------


def table_3(count: int) -> paper.Calibration:
    """As many samples of each kind, with a seed of our own."""
    return paper.calibrate(laws.SEED, count, count)


def deviations(row: str, pvalues: Array, batches: int = 1000) -> tuple[Array, Array]:
    """What as many replicates as the paper's print on average, and by how many of their own
    standard deviations, joined with those of our p-values, the printed figures are off.
    """
    size = paper.EQUAL_SAMPLES if row == paper.EQUAL else paper.WEIGHTED_SAMPLES
    rng = np.random.default_rng([laws.SEED, size])
    drawn = paper.figures(rng.choice(pvalues, (batches, size)))
    spread = drawn.std(axis=0) * np.sqrt(1.0 + size / len(pvalues))
    return drawn.mean(axis=0), (printed(row) - drawn.mean(axis=0)) / spread


def printed(row: str) -> Array:
    """The columns of the paper's table without the ESS."""
    return np.array([float(text) for text in paper.PRINTED[row].split("; ")[1:]])


# --- D: coverage ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class CoverageCell:
    """A law on the circle whose second gap is known."""

    name: str
    n: int
    law: laws.Inverse
    strict: bool  # whether the fits describe it, so that .935 to .965 is asked for
    proposal: laws.Inverse | None = None

    @property
    def gap(self) -> float:
        """I_2 of the law itself, by the trapezoidal rule."""
        theta = 2.0 * np.pi * np.arange(4096) / 4096 - np.pi
        rows = sr.Directions.from_angles(theta, weights=self.law.density(theta))
        return float(sr.profile(rows, levels=2).gaps[1])

    def sampler(self) -> laws.Sampler:
        """Independent rows, or importance sampling from the proposal."""
        if self.proposal is None:
            return laws.iid(laws.circular(self.law))
        proposal = self.proposal

        def log_ratio(x: Array) -> Array:
            theta = np.arctan2(x[..., 1], x[..., 0])
            return np.asarray(np.log(self.law.density(theta) / proposal.density(theta)))

        return laws.importance(laws.circular(proposal), log_ratio)


_VM1 = laws.circle(laws.exponential(1.0, 0.0))
COVERAGE = tuple(
    cell
    for n in (200, 800)
    for cell in (
        CoverageCell("β = 0.3", n, laws.circle(laws.exponential(2.0, 0.3)), strict=True),
        CoverageCell("β = 0.6", n, laws.circle(laws.exponential(2.0, 0.6)), strict=True),
        CoverageCell("mixture of two vM", n, laws.MIXTURE, strict=False),
        CoverageCell(
            "β = 0.6 from vM(1)", n, laws.circle(laws.exponential(2.0, 0.6)), strict=False,
            proposal=_VM1,
        ),
    )
)  # fmt: skip


def coverage(cell: CoverageCell, count: int = REPLICATES) -> dict[str, float]:
    """Share of 95 % intervals of the second gap that hold it, by method; and their mean width."""
    design = "iid" if cell.proposal is None else "importance"
    source = Cell(f"coverage {cell.name}", cell.n, (2,), cell.sampler(), design)
    x, w = source.draw(count)
    truth, z = cell.gap, float(norm.ppf(0.975))
    held: dict[str, list[bool]] = {"noncentral": [], "sqrt": [], "wald": []}
    below, width = [], []
    for k, one in enumerate(x):
        weights = None if w is None else w[k]
        found = sr.profile(one, weights=weights, levels=2, design=design).intervals()
        gap, se, low, high = (float(v[1]) for v in (found.gaps, found.se, found.low, found.high))
        root, half = np.sqrt(gap), 0.5 * z * se / np.sqrt(gap)
        held["noncentral"].append(low <= truth <= high)
        held["sqrt"].append(max(root - half, 0.0) ** 2 <= truth <= (root + half) ** 2)
        held["wald"].append(gap - z * se <= truth <= gap + z * se)
        below.append(high < truth)
        width.append(high - low)
    out = {name: float(np.mean(hits)) for name, hits in held.items()}
    return {**out, "below": float(np.mean(below)), "width": float(np.mean(width)), "gap": truth}


# --- E: power ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PowerCell:
    """An alternative at level 2, and a law of its null on which the same tests are sized."""

    name: str
    null_name: str
    n: int
    alternative: laws.Draw
    null: laws.Draw
    parametric: bool = False  # whether the parametric bootstrap, which takes long, is run too

    def samples(self, count: int) -> tuple[Array, Array]:
        """Samples of the null and of the alternative."""
        null = Cell(f"power, {self.null_name}", self.n, (2,), laws.iid(self.null))
        other = Cell(f"power, {self.name}", self.n, (2,), laws.iid(self.alternative))
        return null.draw(count)[0], other.draw(count)[0]


def _on_circle(beta: float, n: int) -> PowerCell:
    law = laws.circle(laws.exponential(2.0, beta))
    draw, null = laws.circular(law), laws.circular(laws.VON_MISES)
    return PowerCell(f"S¹ β = {beta}", "vM(2)", n, draw, null, beta == 0.6 and n == 200)


POWER = (
    *(_on_circle(beta, n) for n in (200, 800) for beta in (0.3, 0.6)),
    PowerCell("S² Kent(5, 0.8)", "vMF(5)", 200, laws.kent(5.0, 0.8), laws.vmf(5.0), True),
)
PARAMETRIC = 200  # samples, each with 199 replicates


def power(cell: PowerCell, count: int = REPLICATES) -> dict[str, tuple[float, float]]:
    """Rejection at 5 % of level 2 per test: of the null law (size) and of the alternative."""
    found: list[dict[str, float]] = []
    for x in cell.samples(count):
        share = {k: _rejected(p[:, 1]) for k, p in variant_pvalues(x, None, 2).items()}
        share["default"] = _rejected(
            _together(Cell("", cell.n, (2,), laws.iid(cell.null)), x, None)[0][:, 1]
        )
        if cell.n <= 200:
            share["multiplier bootstrap"] = _bootstrapped(x, "moment")
        if cell.parametric:
            share["parametric bootstrap"] = _bootstrapped(x[:PARAMETRIC], "model")
        found.append(share)
    return {name: (found[0][name], found[1][name]) for name in found[0]}


def _rejected(pvalues: Array) -> float:
    return float(rates(pvalues)[1])


def _bootstrapped(x: Array, null: Null) -> float:
    """The same for the bootstrap of a null."""
    found = [
        sr.profile(one, levels=2)
        .tests(null, method="bootstrap", replicates=INNER, seed=k)
        .pvalue[1]
        for k, one in enumerate(x)
    ]
    return _rejected(np.array(found))
