"""Fisher-Bingham parameters of many means and covariances at once.

The same Newton steps as in `fit`, taken by all rows together: stacked eigenbases, contours and
conjugate gradients. What a row needs beyond plain steps (a second start, shorter steps, a faint
mode, very many nodes) is not tried here: such rows are not ``settled``, and the caller fits them
alone. No row looks at another.

Two things make it quick besides. On the way contours need few digits, and curvatures never need
many: a trapezoidal rule doubles its digits when its step is halved, so that a quarter of the nodes
keeps a quarter of them, conjugate gradients run in single precision, and what a rough curvature
leaves over the next step repairs. And the last step is not looked at again: from a decrement δ it
leaves a decrement of c δ², and the dual after it is known to c δ³, which is added to the stated
error; c is what the step before has shown.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from steradian.numerics.arrays import ROUNDOFF, AnyArray, Array, BoolArray, IntArray
from steradian.numerics.contour import Effort
from steradian.numerics.fisher_bingham.integral import FisherBinghamTerms, fisher_bingham
from steradian.numerics.fisher_bingham.white_steps import (
    Digits,
    Pair,
    WhiteCurvature,
    dots,
    newton_steps,
)
from steradian.numerics.linalg import on_diagonal
from steradian.numerics.tolerances import (
    BINGHAM_RESIDUAL,
    CONTOUR_AGREEMENT,
    NEARLY_DECREMENT,
    ROUGH_CONTOUR,
    STACK_LAST_NODE,
    STACK_LAST_STEP,
    STACK_LEFT,
    STACK_LEFT_ON_THE_WAY,
    STACK_NODE,
    TINY,
)

_ENTRIES = 1 << 17  # numbers of one array of nodes that stay near the processor
_NODES = 17, 49  # that most rows take on the way and at the end
_MOST_TAKEN = 0.5  # of a variance by what is known of it to first order
_MOST_POLISHED = 4  # steps to orthogonality, each of which squares what is missing


@dataclass(frozen=True, slots=True)
class StackFit:
    """R laws exp(ηᵀx + xᵀBx - ψ); rows that are not ``settled`` mean nothing."""

    eta: Array  # (R, d)
    quadratic: Array  # (R, d, d): B, of trace zero
    psi: Array  # (R,)
    deficit: Array  # (R,)
    residual: Array  # (R,) largest mismatch of mean or covariance, after the last step
    decrement: Array  # (R,) after the last step
    error: Array  # (R,) of the deficit: of the contour, and of the last step
    nodes: IntArray  # (R,) of the contour
    steps: IntArray  # (R,)
    settled: BoolArray  # (R,)

    @classmethod
    def empty(cls, rows: int, d: int) -> StackFit:
        """To be filled."""
        numbers = [np.full(shape, np.nan) for shape in ((rows, d), (rows, d, d), *[(rows,)] * 5)]
        eta, quadratic, *rest = numbers
        psi, deficit, residual, decrement, error = rest
        return cls(
            eta, quadratic, psi, deficit, residual, decrement, error,
            nodes=np.zeros(rows, dtype=np.int64),
            steps=np.zeros(rows, dtype=np.int64),
            settled=np.zeros(rows, dtype=np.bool_),
        )  # fmt: skip

    def take(self, rows: BoolArray | IntArray) -> StackFit:
        """Some of them."""
        return StackFit(*(getattr(self, each.name)[rows] for each in fields(self)))


@dataclass(frozen=True, slots=True)
class _Plan:
    """How closely laws are looked at, and up to which decrement."""

    effort: Effort
    error: float  # of a contour that is good enough
    digits: Digits  # of curvatures
    enough: float  # decrement at which the plan is fulfilled
    unfelt: float  # part of one that a step may leave
    steps: int  # that may be taken


# rows that take more nodes than the others would make all of them take as many
_ROUGH = _Plan(
    Effort(16, 64, np.sqrt(ROUGH_CONTOUR), -18.0),
    ROUGH_CONTOUR,
    Digits(2, STACK_NODE, np.float32),
    1e-2,
    STACK_LEFT_ON_THE_WAY,
    6,
)
_FINE = _Plan(
    Effort(48, 48),
    2.0 * ROUNDOFF + CONTOUR_AGREEMENT**2,
    Digits(2, STACK_LAST_NODE, np.float32),
    STACK_LAST_STEP,
    STACK_LEFT,
    5,
)
_FINEST = replace(_FINE, effort=Effort(96, 384), error=4.0 * ROUNDOFF)


@dataclass(frozen=True, slots=True)
class _States:
    """The iterates of the rows still in play, each in its own eigenbasis, and their targets.

    On the way bases are in single precision, and orthogonal to it.
    """

    rows: IntArray  # (R,) where they belong
    values: Array  # (R, d) eigenvalues of the target covariance
    centre: Array  # (R, d) the target mean in its eigenbasis
    axes: AnyArray  # (R, d, d) from there
    beta: Array  # (R, d)
    b: Array  # (R, d)
    last: Array  # (R,) the decrement before the last step
    steps: IntArray  # (R,)

    @classmethod
    def near(cls, rows: IntArray, mean: Array, values: Array) -> _States:
        """Laws that have these moments but for terms of second order in 1/d.

        The law of covariance V and centre c of its saddle's Gaussian has, with the fluctuations of
        the saddle, ``1/τ = Σ 2 v² + 4 c² v`` and ``μ = τ² Σ (8 v³ + 24 c² v²)``, to first order the
        covariance V + μ V² - 4τ (V³ + V c cᵀ V) and the mean c + μ V c - 4τ V² c. Solved for V and
        c, to first order, in the eigenbasis of the covariance aimed at.
        """
        count = len(mean)
        squares = mean * mean
        tau = 1.0 / (values * (2.0 * values + 4.0 * squares)).sum(axis=1)[:, None]
        mu = tau**2 * (values**2 * (8.0 * values + 24.0 * squares)).sum(axis=1)[:, None]
        kept = 1.0 - np.minimum(values * (mu - 4.0 * tau * values), _MOST_TAKEN)
        pull = 2.0 * np.sqrt(tau) * values * mean
        thin = pull.astype(np.float32)
        matrix = thin[:, :, None] * thin[:, None, :]
        on_diagonal(matrix)[...] += kept * values
        variances, turn = _eigenbases(matrix)
        axes = _orthonormal(turn)
        law = -0.5 / variances, _turned(axes, kept * mean) / variances
        zeros = np.zeros(count, dtype=np.int64)
        return cls(rows, values, mean, axes, *law, np.full(count, np.inf), zeros)

    @property
    def target(self) -> Pair:
        """Mean (R, d) and covariance (R, d, d) aimed at."""
        weighted = self.axes.swapaxes(1, 2) * self.values[:, None, :].astype(self.axes.dtype)
        return _turned(self.axes, self.centre), weighted @ self.axes

    @property
    def exact(self) -> _States:
        """With bases that are orthogonal in double precision."""
        return replace(self, axes=_orthonormal(self.axes.astype(np.float64)))

    def take(self, kept: IntArray) -> _States:
        """Some of them."""
        return _States(*(getattr(self, each.name)[kept] for each in fields(self)))

    @classmethod
    def together(cls, parts: list[_States]) -> _States:
        """All of them."""
        names = [each.name for each in fields(cls)]
        return cls(*(np.concatenate([getattr(p, name) for p in parts]) for name in names))

    def parameters(self, mean: Array, step: Pair) -> tuple[Array, Array]:
        """η, and B of trace zero, after a step in coordinates about the ``mean`` of the laws."""
        matrix = 0.5 * (step[1] + step[1].swapaxes(1, 2))
        eta = self.b + step[0] - 2.0 * _turned(matrix, mean)
        diagonal = on_diagonal(matrix)
        diagonal += self.beta
        diagonal -= diagonal.mean(axis=1)[:, None]
        return eta, matrix

    def moved(self, taken: _Steps, kept: IntArray) -> _States:
        """Some of them after their steps, in the eigenbases there.

        Taken as changes of the saddles' Gaussians, beyond the first order nearer to the answer than
        changes of η and B, since a Gaussian would have it there.
        """
        here, decrement = self.take(kept), taken.decrement[kept]
        centre, covariance = (part[kept] for part in taken.gaussian)
        centre = (here.axes @ centre[:, :, None])[:, :, 0]
        values, turn = _eigenbases(covariance)
        axes = _orthonormal(here.axes.astype(np.float32) @ turn)
        return replace(
            here,
            axes=axes,
            beta=-0.5 / values,
            b=_turned(axes, centre) / values,
            last=decrement,
            steps=here.steps + 1,
        )


def _eigenbases(matrices: AnyArray) -> tuple[Array, AnyArray]:
    """Eigenvalues, above zero, and bases, in single precision if the matrices are."""
    values, turn = np.linalg.eigh(matrices)
    return np.maximum(values.astype(np.float64), TINY), turn


def _orthonormal(bases: AnyArray) -> AnyArray:
    """Nearly orthogonal bases (R, d, d), made so to rounding by Newton's method."""
    known = np.sqrt(np.finfo(bases.dtype).eps)  # what is missing is squared
    for _ in range(_MOST_POLISHED):
        missing = bases.swapaxes(1, 2) @ bases
        on_diagonal(missing)[...] -= 1.0
        bases = bases - 0.5 * (bases @ missing)
        if np.abs(missing).max() <= known:
            break
    return bases


@dataclass(frozen=True, slots=True)
class _Steps:
    """Newton steps of a stack of iterates, and what their laws were before them."""

    terms: FisherBinghamTerms
    target: Pair
    gradient: Pair
    curvature: WhiteCurvature
    white: Pair  # steps in the coordinates of the curvature,
    left: Pair  # and what they leave of the gradient to first order
    decrement: Array  # (R,) in the metric of the saddle's Gaussian
    usable: BoolArray  # (R,)

    @classmethod
    def at(cls, states: _States, plan: _Plan) -> _Steps:
        terms, target = fisher_bingham(states.beta, states.b, plan.effort), states.target
        mean, second = target[0] - terms.mean, target[1] - terms.covariance(target[1].dtype.type)
        miss = mean.astype(second.dtype)
        second += miss[:, :, None] * miss[:, None, :]
        with np.errstate(over="ignore", invalid="ignore"):  # such rows are not usable
            curvature = WhiteCurvature.of(terms, plan.digits)
            left = curvature.white((mean, second))
            white, decrement = newton_steps(curvature, left, plan.unfelt)
        usable = (terms.error <= plan.error) & np.isfinite(decrement + white[1].sum(axis=(1, 2)))
        return cls(
            terms, target, (mean, second), curvature, white, left, decrement, np.asarray(usable)
        )

    @property
    def gaussian(self) -> Pair:
        """Centres and covariances of the saddles' Gaussians after the steps."""
        terms = self.terms
        centre = 0.5 * terms.b / terms.p
        change, covariance = self.curvature.gaussian(self.white, centre - terms.mean)
        return centre + change, covariance


def fit_stack(m: Array, values: Array, axes: Array) -> StackFit:
    """Laws of means ``m`` (R, d) and covariances of eigenvalues (R, d) and eigenbases (R, d, d)."""
    count, d = m.shape
    out = StackFit.empty(count, d)
    way, end = (max(8, _ENTRIES // (nodes * d)) for nodes in _NODES)
    for part in _even_parts(count, way):
        mean = _turned(axes[part], m[part])
        near = _approached(_States.near(part, mean, values[part]))
        if near is not None:
            for some in _even_parts(len(near.rows), end):
                _finish(near.take(some).exact, axes, out)
    return out


def _even_parts(count: int, most: int) -> list[IntArray]:
    """Numbers below ``count`` in parts of about one size, at most ``most``."""
    return np.array_split(np.arange(count), -(-count // most)) if count else []


def _approached(states: _States) -> _States | None:
    """The rows that plain steps bring near the end, from laws that are known roughly."""
    near: list[_States] = []
    for _ in range(_ROUGH.steps):
        taken = _Steps.at(states, _ROUGH)
        close = taken.usable & (taken.decrement <= _ROUGH.enough)
        some = np.flatnonzero(close)
        if len(some):
            near.append(states.moved(taken, some))
        going = np.flatnonzero(taken.usable & ~close)
        if not len(going):
            break
        states = states.moved(taken, going)
    return _States.together(near) if near else None


def _finish(states: _States, basis: Array, out: StackFit) -> None:
    """Take the last steps, and write the rows that arrive."""
    for plan in (_FINE, _FINEST):
        left = _ended(states, plan, basis, out)
        if not left:
            return
        states = _States.together(left)


def _ended(states: _States, plan: _Plan, basis: Array, out: StackFit) -> list[_States]:
    """The same with so many nodes; rows that want more."""
    left: list[_States] = []
    for _ in range(plan.steps):
        taken = _Steps.at(states, plan)
        close = taken.usable & (taken.decrement <= plan.enough)
        if close.any():
            close = _write(states, taken, close, basis, out)
        coarse = np.flatnonzero(~(taken.terms.error <= plan.error))
        if len(coarse):
            left.append(states.take(coarse))
        going = np.flatnonzero(taken.usable & ~close)
        if not len(going):
            break
        states = states.moved(taken, going).exact
    return left


def _write(
    states: _States, taken: _Steps, close: BoolArray, basis: Array, out: StackFit
) -> BoolArray:
    """The rows that are ``close`` after their last step; those of which it was."""
    terms, curvature, decrement = taken.terms, taken.curvature, taken.decrement
    gradient, (mean, scatter) = curvature.white(taken.gradient), taken.target
    eta, matrix = states.parameters(terms.mean, curvature.step(taken.white))
    gain = 0.5 * (dots(gradient, taken.white) + dots(taken.left, taken.white))
    dual = terms.duals(mean, on_diagonal(scatter)) + gain
    psi = np.einsum("ri,ri->r", eta + _turned(matrix, mean), mean) - dual
    psi += np.einsum("rij,rij->r", matrix, scatter)
    grown = np.maximum(decrement - _ROUGH.unfelt, 0.0)  # but for what was left on purpose
    growth = np.maximum(grown / np.clip(states.last, STACK_LEFT, 1.0) ** 2, 1.0)
    after = growth * decrement  # what the step leaves of the gradient to second order
    (residual, relative), (before, scale) = (
        (curvature.largest(white), _in_units(states, curvature, white[1]))
        for white in (taken.left, gradient)
    )
    residual, relative = residual + after * before, relative + after * scale
    d = eta.shape[1]
    last = close & (np.sqrt(d * (d + 2.0)) * residual <= BINGHAM_RESIDUAL)
    last &= relative <= NEARLY_DECREMENT  # else a faint mode may hide in it
    some = np.flatnonzero(last)
    rows, axes = states.rows[some], basis[states.rows[some]] @ states.axes[some]
    out.eta[rows] = _turned(axes.swapaxes(1, 2), eta[some])
    out.quadratic[rows] = axes @ matrix[some] @ axes.swapaxes(1, 2)
    out.psi[rows], out.deficit[rows], out.residual[rows] = psi[some], dual[some], residual[some]
    out.decrement[rows] = (growth * decrement**2 + np.sqrt(dots(taken.left, taken.left)))[some]
    out.error[rows] = (terms.error + 2.0 * growth * decrement**3)[some]
    out.nodes[rows], out.steps[rows] = terms.weights.shape[1], states.steps[some] + 1
    out.settled[rows] = True
    return last


def _in_units(states: _States, curvature: WhiteCurvature, second: AnyArray) -> Array:
    """Size of mismatches of covariances, white ones, in units of those aimed at, (R,)."""
    turn = states.axes.astype(second.dtype) * curvature.scale[:, None, :]
    turn *= np.sqrt(1.0 / states.values)[:, :, None].astype(second.dtype)
    size = turn @ second @ turn.swapaxes(1, 2)
    return np.sqrt(2.0 * np.einsum("rij,rij->r", size, size))


def _turned(axes: Array, vectors: Array) -> Array:
    """axesᵀ v, (R, d)."""
    return np.asarray((vectors[:, None, :] @ axes)[:, 0, :])
