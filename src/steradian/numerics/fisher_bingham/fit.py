"""Fisher-Bingham parameters from means and covariances, in any dimension: many samples at once.

Maximises the concave dual ``Σ π_g {η_g·m_g + tr B (S_g + m_g m_gᵀ) - ψ(η_g, B)}`` of each sample:
one law, or G groups of shares π_g that have their own means and share B (their second moments are
those of the pooled sample). Newton's method in a trust region, the steps from conjugate gradients.
Every iterate lives in the eigenbasis of its own B; steps are taken in coordinates centred at the
fitted means. No matrix larger than d × d is formed. No row of a stack looks at another.

Quadratics that mix no two groups of coordinates are a smaller family with the same integrals: B,
steps and targets are masked (`Partition`), and every eigenbasis mixes no groups either.

Far from the end contours need few digits and curvatures never need many: the trapezoidal rule
doubles its digits when its step is halved, so that a quarter of the nodes keeps a quarter of them,
and what a rough curvature leaves over the next step repairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from steradian.numerics.arrays import ROUNDOFF, Array, BoolArray, IntArray
from steradian.numerics.contour import EXACT, Effort
from steradian.numerics.fisher_bingham.curvature import Curvature, Step
from steradian.numerics.fisher_bingham.integral import FisherBinghamTerms, fisher_bingham
from steradian.numerics.fisher_bingham.newton_steps import TruncatedSteps, inner, truncated_steps
from steradian.numerics.fisher_bingham.partition import Partition
from steradian.numerics.heights.bessel import concentration
from steradian.numerics.linalg import on_diagonal
from steradian.numerics.tolerances import (
    BINGHAM_RELATIVE,
    DUAL_ROUNDING,
    FINE_NODE,
    LEAST_REGION,
    NEARLY_DECREMENT,
    RESTING_DECREMENT,
    ROUGH_CONTOUR,
    ROUGH_NODE,
    SHARP_DECREMENT,
    TINY,
    TINY_MEAN,
)

_RADIUS = 0.6  # of trust regions, at first and at most
_POWERS, _VECTORS = 12, 4  # steps and vectors of the power method
_MOST_TAKEN = 0.5  # of a variance by what is known of it to first order
_UNSEEN = 2.0  # times what steps of the saddles' Gaussians left those of η and B may leave
_STALLED = 4  # steps that do not halve a decrement of the size of rounding: it will not fall
_ENTRIES = 1 << 17  # numbers of one array of nodes that stay near the processor
_NODES = 17, 65  # that most rows take on the way and at the end


@dataclass(frozen=True, slots=True)
class _Plan:
    """How closely laws are looked at, and until when."""

    effort: Effort
    error: float  # of the dual, by the contour
    enough: float  # decrement at which the plan is fulfilled
    resting: float  # decrement that is at rest if it does not fall to its half
    most: int  # steps
    negligible: float  # weight of nodes that curvatures do without, over the largest
    kind: type[Any] = np.float64


_ROUGH = _Plan(
    effort=Effort(16, 64, np.sqrt(ROUGH_CONTOUR), -18.0),
    error=ROUGH_CONTOUR,
    enough=4e-3,
    resting=0.1,
    most=12,
    negligible=ROUGH_NODE,
    kind=np.float32,
)
_FINE = _Plan(EXACT, 0.0, SHARP_DECREMENT, RESTING_DECREMENT, 12, FINE_NODE)
_FIRST = _Plan(EXACT, 0.0, SHARP_DECREMENT, RESTING_DECREMENT, 150, 0.0)
_SECOND = _Plan(EXACT, 0.0, SHARP_DECREMENT, RESTING_DECREMENT, 300, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class FisherBinghamFits:
    """Laws exp(η_g·x + xᵀBx - ψ_g) of S samples of G groups, in eigenbases of B."""

    axes: Array  # (S, d, d), columns are the eigenvectors of B
    beta: Array  # (S, d) eigenvalues of B, largest zero
    b: Array  # (S, G, d) η in the eigenbasis
    psi: Array  # (S, G)
    deficit: Array  # (S,)
    residual: Array  # (S,) largest mismatch of mean or covariance
    relative: Array  # (S,) largest mismatch of the covariance in units of the one given
    decrement: Array  # (S,)
    error: Array  # (S,) estimated error of ψ from the contour
    nodes: IntArray  # (S,) of the contour
    steps: IntArray  # (S,)
    products: IntArray  # (S,) with curvatures
    ended: BoolArray  # (S,) by themselves, and not because there were too many steps

    @property
    def eta(self) -> Array:
        """η, (S, G, d)."""
        return np.asarray(self.b @ self.axes.swapaxes(1, 2))

    @property
    def quadratic(self) -> Array:
        """B, (S, d, d), of trace zero."""
        centred = self.beta - self.beta.mean(axis=1, keepdims=True)
        return np.asarray((self.axes * centred[:, None, :]) @ self.axes.swapaxes(1, 2))

    def take(self, rows: Any) -> FisherBinghamFits:
        """Some of them."""
        return FisherBinghamFits(**{f.name: getattr(self, f.name)[rows] for f in fields(self)})

    def put(self, rows: IntArray, found: FisherBinghamFits) -> None:
        """Fill in some of them."""
        for each in fields(self):
            getattr(self, each.name)[rows] = getattr(found, each.name)

    @classmethod
    def empty(cls, samples: int, groups: int, d: int) -> FisherBinghamFits:
        """To be filled."""
        shapes = (d, d), (d,), (groups, d), (groups,), (), (), (), (), ()
        parts: list[Any] = [np.full((samples, *shape), np.nan) for shape in shapes]
        parts += [*np.zeros((3, samples), dtype=np.int64), np.zeros(samples, dtype=np.bool_)]
        return cls(*parts)


@dataclass(frozen=True, slots=True, eq=False)
class _Targets:
    """The moments to be matched, in the eigenbases of the pooled covariances within groups."""

    basis: Array  # (S, d, d), columns are the eigenvectors
    values: Array  # (S, d)
    mean: Array  # (S, G, d)
    traces: Array  # (S, G): of the covariance of a group, less that of the pooled one
    shares: Array  # (G,)
    partition: Partition

    @classmethod
    def of(cls, m: Array, scatter: Array, shares: Array, partition: Partition) -> _Targets:
        pooled = scatter[:, 0] if len(shares) == 1 else np.tensordot(scatter, shares, (1, 0))
        values, basis = partition.eigh(partition.masked(pooled))
        traces = on_diagonal(scatter).sum(axis=-1)
        traces = traces - (traces @ shares)[:, None]
        return cls(basis, values, m @ basis, traces, shares, partition)

    @property
    def noise(self) -> Array:
        """Nats that rounding moves the dual by, (S,)."""
        return np.asarray(ROUNDOFF * self.values.max(axis=1) / self.values.min(axis=1))

    def take(self, rows: Any) -> _Targets:
        """Those of some samples."""
        names = "basis", "values", "mean", "traces"
        return replace(self, **{name: getattr(self, name)[rows] for name in names})

    def gaussian(self) -> _Laws:
        """The Gaussians with these moments, nearly the answer in high dimension."""
        b = self.mean / self.values[:, None, :]
        return _Laws.start(self.axes, -0.5 / self.values, b)

    def corrected_gaussian(self) -> _Laws:
        """The same; that of a group by itself is better by terms of order 1/d.

        The law of covariance V and centre c of its saddle's Gaussian has, with
        ``1/τ = Σ 2 v² + 4 c² v`` and ``μ = τ² Σ (8 v³ + 24 c² v²)``, to first order the covariance
        V + μ V² - 4τ (V³ + V c cᵀ V) and the mean c + μ V c - 4τ V² c, to be solved for V and c.
        """
        values = self.values
        if len(self.shares) > 1:
            return self.gaussian()
        mean = self.mean[:, 0]
        squares = mean * mean
        tau = 1.0 / (values * (2.0 * values + 4.0 * squares)).sum(axis=1)[:, None]
        mu = tau**2 * (values**2 * (8.0 * values + 24.0 * squares)).sum(axis=1)[:, None]
        kept = 1.0 - np.minimum(values * (mu - 4.0 * tau * values), _MOST_TAKEN)
        pull = 2.0 * np.sqrt(tau) * values * mean
        matrix = pull[:, :, None] * pull[:, None, :]
        on_diagonal(matrix)[...] += kept * values
        variances, axes = self.partition.eigh(matrix)
        b = ((kept * mean)[:, None, :] @ axes) / variances[:, None, :]
        return _Laws.start(axes, -0.5 / variances, b)

    def von_mises_fisher(self) -> _Laws:
        """Better for one cluster whose fit has a faint second mode."""
        length = np.linalg.norm(self.mean, axis=2)
        spread = self.values.sum(axis=1)[:, None] + self.traces
        known = concentration(self.mean.shape[2], np.maximum(length, TINY_MEAN), spread)
        scale = np.asarray(known.kappa) / np.maximum(length, TINY_MEAN)
        return _Laws.start(self.axes, np.zeros_like(self.values), scale[..., None] * self.mean)

    @property
    def axes(self) -> Array:
        """The eigenbasis of the targets, seen from itself."""
        return np.broadcast_to(np.eye(self.values.shape[1]), self.basis.shape)


@dataclass(frozen=True, slots=True, eq=False)
class _Laws:
    """Parameters of S samples, each in its own eigenbasis, which is seen from the targets'."""

    axes: Array  # (S, d, d)
    beta: Array  # (S, d)
    b: Array  # (S, G, d)
    last: Array  # (S,): decrement before the step that led there; inf at the start

    @classmethod
    def start(cls, axes: Array, beta: Array, b: Array) -> _Laws:
        """Where climbs begin."""
        return cls(axes, beta, b, np.full(len(b), np.inf))

    def take(self, rows: Any) -> _Laws:
        """Those of some samples."""
        return _Laws(self.axes[rows], self.beta[rows], self.b[rows], self.last[rows])

    def put(self, rows: Any, laws: _Laws) -> None:
        """Those of some samples anew."""
        for each in fields(self):
            getattr(self, each.name)[rows] = getattr(laws, each.name)


@dataclass(frozen=True, slots=True, eq=False)
class _States:
    """Laws with their integrals, and the target moments in their eigenbases."""

    targets: _Targets
    laws: _Laws
    terms: FisherBinghamTerms  # (S G, …)
    mean: Array  # (S, G, d) target means
    scatter: Array  # (S, d, d) target covariances within
    dual: Array  # (S,)

    @classmethod
    def at(cls, targets: _Targets, laws: _Laws, effort: Effort) -> _States:
        samples, groups, d = laws.b.shape
        beta = np.broadcast_to(laws.beta[:, None, :], laws.b.shape).reshape(-1, d)
        terms = fisher_bingham(beta, laws.b.reshape(-1, d), effort)
        mean = targets.mean @ laws.axes
        turned = targets.partition.product(
            laws.axes.swapaxes(1, 2) * targets.values[:, None, :], laws.axes
        )
        variances = np.repeat(on_diagonal(turned), groups, axis=0)
        dual = terms.duals(mean.reshape(-1, d), variances).reshape(samples, groups)
        dual = dual - terms.p.min(axis=1).reshape(samples, groups) * targets.traces
        return cls(targets, laws, terms, mean, turned, dual @ targets.shares)

    @property
    def law_mean(self) -> Array:
        return self.terms.mean.reshape(self.mean.shape)

    def unknown(self, plan: _Plan) -> BoolArray:
        """Whether contours show too little for a plan that stops at so many nodes, (S,)."""
        errors = self.terms.error.reshape(len(self.dual), -1).max(axis=1)
        return np.asarray((plan.error > 0.0) & ~(errors <= plan.error))

    def gradient(self) -> Step:
        """Target moments minus those of the laws, about their means; of the means by shares."""
        shares, samples = self.targets.shares, len(self.dual)
        miss = self.mean - self.law_mean
        d = miss.shape[2]
        covariance = self.terms.covariance().reshape(samples, -1, d * d)
        pooled = (shares[None, None, :] @ covariance).reshape(samples, d, d)
        weighted = shares[:, None] * miss
        second = weighted.swapaxes(1, 2) @ miss - pooled
        return weighted, self.scatter + self.targets.partition.masked(second)

    def gains(self, step: Step) -> Array:
        """How much higher the exponents are after steps, by the target moments; of one group."""
        (g, q), mean = step, self.law_mean
        linear = g - 2.0 * mean @ q
        second = self.scatter + self.mean.swapaxes(1, 2) @ self.mean
        return inner((linear, q.astype(np.float64)), (self.mean, second))

    def moved(self, found: TruncatedSteps, rows: IntArray, gaussian: BoolArray) -> _Laws:
        """Some of the laws after their steps, in their own eigenbases.

        Steps are changes of η and B, or to first order the same as such, of the saddles'
        Gaussians.
        """
        laws = self.laws.take(rows)
        linear, q = (part[rows].astype(np.float64) for part in found.step)
        p, mean = self.terms.p.reshape(self.mean.shape)[rows], self.law_mean[rows]
        matrix, sharpest = q.copy(), p.max(axis=1, keepdims=True)
        on_diagonal(matrix)[...] += laws.beta
        b = laws.b + linear - 2.0 * mean @ q
        some = np.flatnonzero(gaussian)
        centre = 0.5 * laws.b / p
        centre += 0.5 * (linear + 2.0 * (centre - mean) @ q) / p
        variances = 0.5 / sharpest
        covariance = 2.0 * (variances.swapaxes(1, 2) * q * variances)
        on_diagonal(covariance)[...] += variances[:, 0]
        matrix[some], b[some] = covariance[some], centre[some]
        values, turn = self.targets.partition.eigh(0.5 * (matrix + matrix.swapaxes(1, 2)))
        axes, b = self.targets.partition.product(laws.axes, turn), b @ turn
        precision = 0.5 / np.maximum(values[some], TINY)
        values[some] = -precision
        b[some] *= 2.0 * (precision[:, None, :] + (p - sharpest)[some])
        return _Laws(axes, values, b, found.decrement[rows])


def fit_fisher_bingham(
    m: Array, scatter: Array, shares: Array | None = None, partition: Partition | None = None
) -> FisherBinghamFits:
    """The laws with means ``m`` (S, G, d) and positive definite covariances (S, G, d, d).

    Covariances are centred and have trace 1 - |m|². ``shares`` (G,) are of sum one; the pooled
    second moment alone is matched. With a ``partition`` only what it does not mask is.
    """
    samples, groups, d = m.shape
    each = np.ones(1) if shares is None else shares
    mixed = Partition.whole(d) if partition is None else partition
    out = FisherBinghamFits.empty(samples, groups, d)
    way, end = (max(8, _ENTRIES // (nodes * groups * d)) for nodes in _NODES)
    for some in _even_parts(samples, way):
        targets = _Targets.of(m[some], scatter[some], each, mixed)
        laws = _approached(targets, targets.corrected_gaussian())
        for part in _even_parts(len(some), end):
            out.put(some[part], _fitted(targets.take(part), laws.take(part)))
    return out


def _even_parts(count: int, most: int) -> list[IntArray]:
    """Numbers below ``count`` in parts of about one size, at most ``most``."""
    return np.array_split(np.arange(count), -(-count // most)) if count else []


def _fitted(targets: _Targets, laws: _Laws) -> FisherBinghamFits:
    """From near the end; with all nodes, and then from elsewhere where that does not settle.

    What matches the covariance badly in its own units may lack a faint mode, and counts as open.
    """
    one = _climb(targets, laws, _FINE)
    open_ = np.flatnonzero(~_finished(one, targets) | (one.relative > BINGHAM_RELATIVE))
    if len(open_):
        left = targets.take(open_)
        _put_higher(one, open_, _climb(left, left.gaussian(), _FIRST), left)
        tried = one.take(open_)
        open_ = open_[~_finished(tried, left) | (tried.relative > BINGHAM_RELATIVE)]
    if not len(open_):
        return one
    left = targets.take(open_)
    other = _climb(left, left.von_mises_fisher(), _SECOND)
    # what has settled is not given for what has not
    kept = np.flatnonzero(~_finished(one.take(open_), left) | _finished(other, left))
    open_, left, other = open_[kept], left.take(kept), other.take(kept)
    lower = _put_higher(one, open_, other, left)
    # where the other rests is not the maximum
    again = np.flatnonzero(lower & _finished(other, left))
    if len(again):
        left, first = left.take(again), one.take(open_[again])
        axes = left.basis.swapaxes(1, 2) @ first.axes
        one.put(open_[again], _climb(left, _Laws.start(axes, first.beta, first.b), _SECOND))
    return one


def _put_higher(
    to: FisherBinghamFits, rows: IntArray, other: FisherBinghamFits, targets: _Targets
) -> BoolArray:
    """Fill in others but for those clearly lower, which are told: dual values are lower bounds.

    But for what their last step was to gain, ½ of the squared decrement.
    """
    known, promised = to.deficit[rows], to.decrement[rows] ** 2
    lower = np.asarray(known - other.deficit > _felt(known, targets.noise) + promised)
    to.put(rows[~lower], other.take(~lower))
    return lower


def _finished(fits: FisherBinghamFits, targets: _Targets) -> BoolArray:
    near = np.maximum(NEARLY_DECREMENT, np.sqrt(targets.noise))
    return np.asarray(fits.ended & (fits.decrement <= near))


def _felt(dual: Array, noise: Array) -> Array:
    """Nats by which the dual must change to be told from rounding."""
    return np.maximum(DUAL_ROUNDING * (1.0 + np.abs(dual)), 10.0 * noise)


@dataclass(slots=True, eq=False)
class _Ways:
    """How far the climbs of some samples are, (S,) each."""

    rows: IntArray  # which samples they are
    radius: Array
    decrement: Array
    floor: Array  # least decrement so far
    unseen: Array  # what the last step leaves of it, if that need not be looked at
    stalled: IntArray
    steps: IntArray
    products: IntArray

    @classmethod
    def begun(cls, decrement: Array) -> _Ways:
        samples = len(decrement)
        radius, far = np.full(samples, _RADIUS), np.full((2, samples), np.inf)
        return cls(
            np.arange(samples), radius, decrement, *far, *np.zeros((3, samples), dtype=np.int64)
        )

    def take(self, rows: Any) -> _Ways:
        return _Ways(*(getattr(self, each.name)[rows] for each in fields(self)))

    def over(self, found: TruncatedSteps, plan: _Plan, noise: Array, alone: bool) -> BoolArray:
        """Note what was found; which climbs are over."""
        known = alone & np.isfinite(self.decrement) & found.gaussian
        squared = np.clip(self.decrement, SHARP_DECREMENT, 1.0) ** 2
        growth = np.maximum(found.decrement / squared, 1.0)
        self.unseen = np.where(known, _UNSEEN * growth * found.decrement**2, np.inf)
        self.decrement, self.products = found.decrement, self.products + found.count
        rests = 0.5 * self.floor <= self.decrement
        rounded = np.maximum(RESTING_DECREMENT, 0.3 * np.sqrt(noise))
        self.stalled = np.where(rests & (self.decrement < rounded), self.stalled + 1, 0)
        over = (self.decrement <= plan.enough) | (rests & (self.decrement < plan.resting))
        over |= self.unseen <= plan.enough
        over |= (self.stalled == _STALLED) | (self.steps >= plan.most)
        over |= (found.count == 0) | (self.radius < LEAST_REGION) | np.isnan(self.decrement)
        self.floor = np.minimum(self.floor, self.decrement)
        return over

    def judged(self, ratio: Array, at_edge: BoolArray) -> BoolArray:
        """Wider or narrower trust regions, by risen over predicted duals; which steps are taken."""
        wider = (ratio > 0.75) & at_edge
        self.radius = np.where(wider, np.minimum(1.5 * self.radius, _RADIUS), self.radius)
        self.radius = np.where(ratio > 0.25, self.radius, 0.5 * self.radius)
        self.steps = self.steps + 1
        return np.asarray(ratio > 1e-3)


@dataclass(frozen=True, slots=True, eq=False)
class _End:
    """Where some climbs are over."""

    way: _Ways
    states: _States  # of all that were on the way,
    some: IntArray  # of which these are over
    found: TruncatedSteps
    gradient: Step
    gain: Array  # nats that the steps gain


def _climbs(targets: _Targets, laws: _Laws, plan: _Plan) -> Iterator[_End]:
    """Trust-region Newton from ``laws``; rises below rounding are not told from it."""
    alone = len(targets.shares) == 1  # the ψ of groups by themselves are not known without a look
    way, states = _Ways.begun(laws.last), _States.at(targets, laws, plan.effort)
    while True:
        targets, laws = states.targets, states.laws
        curvature = Curvature.of(
            states.terms, targets.shares, targets.partition, plan.kind, plan.negligible
        )
        gradient, noise = states.gradient(), targets.noise
        found = truncated_steps(curvature, gradient, way.radius, way.decrement)
        predicted = found.gain
        over = way.over(found, plan, noise, alone) | states.unknown(plan)
        if over.any():
            some = np.flatnonzero(over)
            yield _End(way.take(some), states, some, found, gradient, predicted)
        going = np.flatnonzero(~over)
        if not len(going):
            return
        before, way, targets = states.dual[going], way.take(going), targets.take(going)
        trial = _States.at(targets, states.moved(found, going, found.gaussian[going]), plan.effort)
        felt = _felt(before, noise[going]) + plan.error
        rise, predicted = trial.dual - before, predicted[going]
        seen = predicted > felt  # else lost in rounding, unless the dual clearly falls
        ratio = np.where(seen, rise / np.where(seen, predicted, 1.0), rise >= -felt)
        taken = way.judged(ratio, found.at_edge[going])
        if not taken.all():
            trial.laws.put(~taken, laws.take(going[~taken]))
            trial = _States.at(targets, trial.laws, plan.effort)
        states = trial


def _approached(targets: _Targets, laws: _Laws) -> _Laws:
    """Laws near the end, by those that are known roughly; the same where this leads nowhere."""
    out = _Laws.start(laws.axes.copy(), laws.beta, laws.b)
    for end in _climbs(targets, laws, _ROUGH):
        near = np.flatnonzero(end.way.decrement <= _ROUGH.resting)
        rows = end.some[near]
        out.put(end.way.rows[near], end.states.moved(end.found, rows, end.found.gaussian[rows]))
    return out


def _climb(targets: _Targets, laws: _Laws, plan: _Plan) -> FisherBinghamFits:
    out = FisherBinghamFits.empty(*laws.b.shape)
    for end in _climbs(targets, laws, plan):
        out.put(end.way.rows, _fits(end, plan))
    return out


def _fits(end: _End, plan: _Plan) -> FisherBinghamFits:
    """What climbs that are over have found, each after its last step where that gets it there."""
    way, states, some, step = end.way, end.states, end.some, end.found.step
    terms, targets, shape = states.terms, states.targets.take(some), states.laws.b.shape[:2]
    last = way.unseen <= plan.enough
    moved = states.moved(end.found, some[last], np.zeros(last.sum(), dtype=np.bool_))
    laws = states.laws.take(some)
    laws.put(last, moved)
    left = np.ones(len(some))
    left[last] = way.unseen[last] / np.maximum(way.decrement[last], TINY)
    linear, second = (
        left[:, None, None] * all_of[some] + np.where(last[:, None, None], rest[some], 0.0)
        for all_of, rest in zip(end.gradient, end.found.left, strict=True)
    )
    psi = terms.psi.reshape(shape)[some]
    psi[last] += (states.gains(step) - end.gain)[some[last], None]
    top = laws.beta.max(axis=1)
    shown = linear / targets.shares[:, None]
    axes = targets.partition.product(targets.basis, laws.axes)
    return FisherBinghamFits(
        axes=_orthonormal(axes),
        beta=laws.beta - top[:, None],
        b=laws.b,
        psi=psi - top[:, None],
        deficit=states.dual[some] + end.gain[some],
        residual=np.maximum(np.abs(shown).max(axis=(1, 2)), np.abs(second).max(axis=(1, 2))),
        relative=_in_units(second, laws.axes, targets.values),
        decrement=np.where(last, way.unseen, way.decrement),
        error=terms.error.reshape(shape)[some].max(axis=1),
        nodes=np.full(len(some), terms.weights.shape[1]),
        steps=way.steps + last,
        products=way.products,
        ended=way.steps < plan.most,
    )


def _in_units(mismatch: Array, axes: Array, values: Array) -> Array:
    """Largest eigenvalues in size of mismatches, in units of axesᵀ diag(values) axes, (S,).

    By the power method, from random vectors of a fixed seed: one that stands out within a few
    percent.
    """
    samples, d = values.shape
    x = np.random.default_rng(0).standard_normal((d, min(d, _VECTORS)))
    x, size = np.broadcast_to(x, (samples, *x.shape)), np.zeros(samples)
    roots = np.sqrt(values)[:, :, None]
    for _ in range(_POWERS):
        length = np.linalg.norm(x, axis=1, keepdims=True)
        x = x / np.where(length > 0.0, length, 1.0)
        x = axes @ (mismatch @ (axes.swapaxes(1, 2) @ (x / roots))) / roots
        size = np.linalg.norm(x, axis=1).max(axis=1)
    return size


def _orthonormal(axes: Array) -> Array:
    """Undo what products of rotations have lost of orthogonality: B would magnify it.

    One step of Newton's method for the polar factor: what is off by 1e-14 is off by its square.
    """
    return np.asarray(1.5 * axes - 0.5 * axes @ (axes.swapaxes(1, 2) @ axes))
