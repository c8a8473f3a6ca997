"""Fisher-Bingham parameters from a mean and a covariance, in any dimension.

Maximises the concave dual ``η·m + tr B (S + mmᵀ) - ψ(η, B)`` by Newton's method in a trust
region, the step from conjugate gradients (Steihaug) preconditioned with the Fisher
information of the Gaussian of the saddle. Every iterate lives in the eigenbasis of its own B;
steps are taken in coordinates centred at the fitted mean, ``f = g·y + yᵀ δB y``, ``y = x - m``,
where covariances keep their digits. No matrix larger than d × d is formed.

Quadratics that mix no two groups of coordinates are a smaller family with the same integrals: B,
steps and targets are masked (`Partition`), and every eigenbasis mixes no groups either.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from steradian.numerics.arrays import ROUNDOFF, Array
from steradian.numerics.contour import Complex
from steradian.numerics.fisher_bingham.conjugate_gradients import (
    ProductsOfOne,
    inner,
    truncated_step,
)
from steradian.numerics.fisher_bingham.integral import FisherBinghamTerms, fisher_bingham
from steradian.numerics.fisher_bingham.partition import Partition
from steradian.numerics.heights.bessel import concentration
from steradian.numerics.linalg import on_diagonal
from steradian.numerics.tolerances import (
    DUAL_ROUNDING,
    NEARLY_DECREMENT,
    RESTING_DECREMENT,
    SHARP_DECREMENT,
)

_FIRST_RADIUS, _LARGEST_RADIUS = 0.4, 0.6
_POWERED, _POWERS, _VECTORS = 100, 12, 4  # dimensions, steps and vectors of the power method
_STALLED = 4  # steps that do not halve a decrement of the size of rounding: it will not fall
_MOST_STEPS = 150, 300  # from the first and from the second start


Step = tuple[Array, Array]
"""A linear (d,) and a quadratic (d, d) part."""


@dataclass(frozen=True, slots=True)
class FisherBinghamFit:
    """The law exp(ηᵀx + xᵀBx - ψ) with the given moments, in the eigenbasis of B."""

    axes: Array  # (d, d), columns are the eigenvectors of B
    beta: Array  # (d,) eigenvalues of B, largest zero
    b: Array  # (d,) η in the eigenbasis
    psi: float
    deficit: float
    residual: float  # largest mismatch of mean or covariance
    relative: float  # largest mismatch of the covariance in units of the one given
    decrement: float
    error: float  # estimated error of ψ from the contour
    nodes: int  # of the contour
    steps: int
    cg_steps: int

    @property
    def ended(self) -> bool:
        """Whether the steps ended by themselves, and not because there were too many."""
        return self.steps not in _MOST_STEPS

    @property
    def eta(self) -> Array:
        """η, (d,)."""
        return self.axes @ self.b

    @property
    def quadratic(self) -> Array:
        """B, (d, d), of trace zero."""
        centred = self.beta - self.beta.mean()
        return (self.axes * centred) @ self.axes.T


@dataclass(frozen=True, slots=True)
class _Target:
    """The moments to be matched, in the eigenbasis of their covariance."""

    basis: Array  # (d, d), columns are the eigenvectors
    values: Array  # (d,)
    mean: Array  # (d,)
    partition: Partition

    @classmethod
    def of(cls, m: Array, scatter: Array, partition: Partition) -> _Target:
        values, basis = partition.eigh(partition.masked(scatter))
        return cls(basis, values, basis.T @ m, partition)

    @property
    def noise(self) -> float:
        """Nats that rounding moves the dual by."""
        return float(ROUNDOFF * self.values.max() / self.values.min())

    def seen_from(self, axes: Array | None, beta: Array, b: Array) -> _State:
        """The law of these eigenvalues and η, with its eigenbasis ``axes``; None: the target's."""
        terms = fisher_bingham(beta[None], b[None])
        mean = self.mean if axes is None else axes.T @ self.mean
        values = self.values
        scatter = np.diag(values) if axes is None else self.partition.spread(values, axes)
        dual = terms.dual(mean, np.diagonal(scatter))
        return _State(self, axes, mean, scatter, terms, dual)


@dataclass(frozen=True, slots=True)
class _State:
    """One iterate: its law, and the target moments, in its own eigenbasis."""

    target: _Target
    axes: Array | None  # in the basis of the target; None: the same
    mean: Array  # target mean
    scatter: Array  # target covariance
    terms: FisherBinghamTerms
    dual: float

    @property
    def curvature(self) -> Curvature:
        return Curvature.at(self.terms, self.target.partition)


@dataclass(frozen=True, slots=True)
class FlatDirection:
    """Where |x|² = 1 makes the dual flat, for residuals without a part along it."""

    linear: Array  # (d,): what is taken away from means
    diagonal: Array  # (d,): and from variances
    means: Array  # (d,): how much of it means show
    variances: float  # and variances, each

    def share(self, change: Array, variances: Array) -> float:
        """How much of it a residual holds, by its mean and the diagonal of its matrix."""
        return float(self.means @ change) + self.variances * float(variances.sum())


@dataclass(frozen=True, slots=True)
class Curvature:
    """Hessian products and preconditioner at one law, or a stack (…) of them, in its eigenbasis."""

    mean: Array  # (…, d)
    covariance: Array  # (…, d, d)
    pairs: Array  # (…, d, d): E v vᵀ
    guess: Array  # (…, d): variances of the saddle's Gaussian
    w: Complex  # (…, n) node weights
    v: Complex  # (…, n, d)
    away: Complex  # (…, n, d): v minus its mean
    a: Complex  # (…, n, d): node means minus the mean
    partition: Partition  # what the quadratics mix

    @classmethod
    def at(cls, terms: FisherBinghamTerms, partition: Partition | None = None) -> Curvature:
        """From a stack of one; of all quadratics, unless a partition is given."""
        nodes = terms.v[0], terms.weights[0]
        d = terms.b.shape[1]
        mixed = Partition.whole(d) if partition is None else partition
        return cls.on_nodes(terms.b[0], terms.v_mean[0], 0.5 / terms.p[0], nodes, mixed)

    @classmethod
    def on_nodes(
        cls, b: Array, v: Array, guess: Array, nodes: tuple[Complex, Complex], mixed: Partition
    ) -> Curvature:
        """With mean variances ``v``, from variances (…, n, d) at ``nodes`` and their weights."""
        away, w = nodes[0] - v[..., None, :], nodes[1]
        spread = mixed.gram(w[..., None] * away, away)  # Cov_W(v)
        covariance = b[..., :, None] * b[..., None, :] * spread
        on_diagonal(covariance)[...] += v
        return cls(
            mean=b * v,
            covariance=covariance,
            pairs=mixed.masked(v[..., :, None] * v[..., None, :]) + spread,
            guess=guess,
            w=w,
            v=nodes[0],
            away=away,
            a=b[..., None, :] * away,
            partition=mixed,
        )

    def gradient(self, m: Array, scatter: Array) -> Step:
        """Target moments minus the law's, about the law's mean."""
        miss = m - self.mean
        outer = self.partition.masked(miss[..., :, None] * miss[..., None, :])
        return miss, scatter + outer - self.covariance

    def precondition(self, r: Step) -> Step:
        scaled = r[1] / self.guess[..., :, None]
        return r[0] / self.guess, 0.5 * scaled / self.guess[..., None, :]

    def project(self, r: Step) -> Step:
        """Make a residual blind to (2 m, I), along which |x|² = 1 makes f constant.

        In the metric of the preconditioner, so that preconditioned steps have no part along
        it either; any other choice makes harmless steps look long when data concentrate.
        """
        v, share = self.guess, np.asarray(self.along(r))[..., None]
        quadratic = r[1].copy()
        on_diagonal(quadratic)[...] -= share * v * v
        return r[0] - share * v * self.mean, quadratic

    @property
    def flat_direction(self) -> FlatDirection:
        """What `project` takes away, of one law."""
        v, m = self.guess, self.mean
        scale = 4.0 * float((v * m) @ m) + 2.0 * float(v @ v)
        return FlatDirection(v * m, v * v, (4.0 / scale) * m, 2.0 / scale)

    def along(self, r: Step) -> Array:
        """How much of a residual `project` takes away, (…)."""
        v, m = self.guess, self.mean
        scale = 4.0 * (v * m * m).sum(axis=-1) + 2.0 * (v * v).sum(axis=-1)
        along = 2.0 * (m * r[0]).sum(axis=-1) + on_diagonal(r[1]).sum(axis=-1)
        return np.asarray(2.0 * along / scale)

    def product(self, step: Step) -> Step:
        """Change of (mean, centred second moment) along ``step``."""
        g, q = step[0][..., None, :], step[1]
        mixed = self.partition
        x = mixed.product(self.a.real, q) + 1j * mixed.product(self.a.imag, q)
        f = ((g + x) * self.a).sum(axis=-1) + (self.away * on_diagonal(q)[..., None, :]).sum(
            axis=-1
        )
        f = f - (self.w * f).sum(axis=-1, keepdims=True).real
        pull = self.v * (g + 2.0 * x)
        wf = (self.w * f)[..., None, :]
        change = (wf @ self.a + self.w[..., None, :] @ pull).real[..., 0, :]
        half = mixed.gram(self.w[..., None] * (0.5 * f[..., None] * self.a + pull), self.a)
        second = half + half.swapaxes(-1, -2) + 2.0 * q * self.pairs
        on_diagonal(second)[...] += (wf @ self.away).real[..., 0, :]
        return change, second


def fit_fisher_bingham(
    m: Array, scatter: Array, partition: Partition | None = None
) -> FisherBinghamFit:
    """The Fisher-Bingham law with mean ``m`` (d,) and positive definite covariance (d, d).

    ``scatter`` must be centred and have trace 1 - |m|². With a ``partition`` only what it does not
    mask is matched, and B is masked likewise.
    """
    mixed = Partition.whole(len(m)) if partition is None else partition
    target = _Target.of(m, scatter, mixed)
    noise, starts = target.noise, _starts(target)
    one = _climb(next(starts), _MOST_STEPS[0], noise)
    if _finished(one, _MOST_STEPS[0], noise):
        return one
    other = _climb(next(starts), _MOST_STEPS[1], noise)
    lead = one.deficit - other.deficit
    if lead <= _felt(one.deficit, noise):
        return other
    if not _finished(other, _MOST_STEPS[1], noise):
        return one
    # every dual value is a lower bound: where the other rests is not the maximum
    state = target.seen_from(target.basis.T @ one.axes, one.beta, one.b)
    return _climb(state, _MOST_STEPS[1], noise)


def _finished(fit: FisherBinghamFit, most: int, noise: float) -> bool:
    return fit.steps < most and fit.decrement <= max(NEARLY_DECREMENT, np.sqrt(noise))


def _felt(dual: float, noise: float) -> float:
    """Nats by which the dual must change to be told from rounding."""
    return max(DUAL_ROUNDING * (1.0 + abs(dual)), 10.0 * noise)


def _climb(state: _State, most_steps: int, noise: float) -> FisherBinghamFit:
    """Trust-region Newton from ``state``; rises below ``noise`` nats are not told from rounding."""
    rounded = max(RESTING_DECREMENT, 0.3 * np.sqrt(noise))
    radius, cg_total = _FIRST_RADIUS, 0
    steps, stalled, decrement, floor = 0, 0, np.inf, np.inf
    curvature = state.curvature
    gradient = curvature.gradient(state.mean, state.scatter)
    while steps < most_steps:
        found = truncated_step(ProductsOfOne(curvature), gradient, radius, decrement)
        step, decrement = found.step, found.decrement
        cg_total += found.count
        resting = 0.5 * floor <= decrement < RESTING_DECREMENT
        if decrement <= SHARP_DECREMENT or resting:
            break
        stalled = stalled + 1 if 0.5 * floor <= decrement < rounded else 0
        if stalled == _STALLED:
            break
        floor = min(floor, decrement)
        steps += 1
        trial = _moved(state, curvature, step)
        predicted = 0.5 * (inner(gradient, step) + inner(found.residual, step))
        rise = trial.dual - state.dual
        felt = _felt(state.dual, noise)
        unseen = 1.0 if rise >= -felt else 0.0  # lost in rounding, unless the dual clearly falls
        ratio = rise / predicted if predicted > felt else unseen
        if ratio > 0.75 and found.at_edge:
            radius = min(1.5 * radius, _LARGEST_RADIUS)
        elif ratio < 0.25:
            radius *= 0.5
        if ratio > 1e-3:
            state, curvature = trial, trial.curvature
            gradient = curvature.gradient(state.mean, state.scatter)
        elif radius < 1e-10:
            break
    residual = float(max(np.abs(part).max() for part in gradient))
    relative = _in_units(gradient[1], state.scatter)
    return _result(state, residual, relative, decrement, steps, cg_total)


def _in_units(mismatch: Array, scatter: Array) -> float:
    """Largest eigenvalue in size of a mismatch of covariances, in units of ``scatter``.

    Of large matrices by the power method, which sees one that stands out within a few percent.
    """
    factor, failed = lapack.dpotrf(scatter, lower=1)
    if failed:
        return np.inf
    if len(scatter) > _POWERED:
        return _by_powers(mismatch, factor)
    half = lapack.dtrtrs(factor, mismatch, lower=1)[0]
    white = lapack.dtrtrs(factor, half.T, lower=1)[0]
    return float(np.abs(np.linalg.eigvalsh(0.5 * (white + white.T))).max())


def _by_powers(mismatch: Array, factor: Array) -> float:
    """The same for L⁻¹ M L⁻ᵀ, from random vectors of a fixed seed."""
    x, size = np.random.default_rng(0).standard_normal((len(factor), _VECTORS)), 0.0
    for _ in range(_POWERS):
        x /= np.linalg.norm(x, axis=0)
        x = mismatch @ lapack.dtrtrs(factor, x, lower=1, trans=1)[0]
        x = lapack.dtrtrs(factor, x, lower=1)[0]
        size = float(np.linalg.norm(x, axis=0).max())
        if not size > 0.0:
            break
    return size


def _starts(target: _Target) -> Iterator[_State]:
    """The Gaussian with these moments, nearly the answer in high dimension; then von
    Mises-Fisher, better for one cluster whose fit has a faint second mode.
    """
    mean, values = target.mean, target.values
    yield target.seen_from(None, -0.5 / values, mean / values)
    length = float(np.linalg.norm(mean))
    kappa = float(concentration(len(mean), length, float(values.sum())).kappa)
    eta = kappa * mean / length if length else mean
    yield target.seen_from(None, np.zeros_like(values), eta)


def _moved(state: _State, curvature: Curvature, step: Step) -> _State:
    """The iterate after ``step``, in its own eigenbasis."""
    g, q = step
    matrix, mixed = q.copy(), state.target.partition  # symmetric; one triangle is read
    on_diagonal(matrix)[...] += state.terms.beta[0]
    eta = state.terms.b[0] + g - 2.0 * q @ curvature.mean
    beta, turn = mixed.eigh(matrix)
    axes = turn if state.axes is None else mixed.product(state.axes, turn)
    return state.target.seen_from(axes, beta - beta.max(), turn.T @ eta)


def _orthonormal(axes: Array) -> Array:
    """Undo what products of rotations have lost of orthogonality: B would magnify it.

    One step of Newton's method for the polar factor: what is off by 1e-14 is off by its square.
    """
    return np.asarray(axes @ (1.5 * np.eye(len(axes)) - 0.5 * (axes.T @ axes)))


def _result(
    state: _State, residual: float, relative: float, decrement: float, steps: int, cg_steps: int
) -> FisherBinghamFit:
    terms, basis = state.terms, state.target.basis
    axes = basis if state.axes is None else state.target.partition.product(basis, state.axes)
    top = float(terms.beta[0].max())
    return FisherBinghamFit(
        axes=_orthonormal(axes),
        beta=terms.beta[0] - top,
        b=terms.b[0],
        psi=float(terms.psi[0]) - top,
        deficit=state.dual,
        residual=residual,
        relative=relative,
        decrement=decrement,
        error=float(terms.error[0]),
        nodes=terms.weights.shape[1],
        steps=steps,
        cg_steps=cg_steps,
    )
