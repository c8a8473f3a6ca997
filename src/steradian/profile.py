"""Profile: what people hold. A façade over the nested fits."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from steradian.diagnostics.sensitivity import (
    DEFAULT_EPSILONS,
    Sensitivity,
    shrinkage_sensitivity,
)
from steradian.directions import Directions
from steradian.dual import Status
from steradian.errors import InvalidDirections
from steradian.fisher_bingham import FisherBingham
from steradian.fit import MaxEntFit
from steradian.hierarchies import Harmonics, MomentStack
from steradian.hierarchies.quadratic import feature_moments
from steradian.io.frames import directions_from_frame, frame_of_levels, is_frame
from steradian.moments import Moments
from steradian.nested import NestedFits, Support, fit_levels
from steradian.numerics.arrays import Array, IntArray
from steradian.shrinkage import Shrinkage, as_shrinkage
from steradian.summary import summarise

_EXAMINED_ROWS = 100_000  # above it only the moments decide about the boundary


@dataclass(frozen=True, slots=True, eq=False)
class Numerics:
    """How each number of a profile was obtained and how far to trust it.

    Attributes
    ----------
    residual : array, (L,)
        Largest moment mismatch, in units of orthonormal features.
    quadrature : array, (L,)
        Estimated integration error of the deficit, nats.
    decrement : array, (L,)
        Newton decrement at the end; the deficit is good to half its square.
    condition : array, (L,)
        Condition of the features' covariance under the fit, estimated.
    moment_rounding : array, (L,)
        What rounding of the moments moves the deficit by, nats: 2^-53 ||lam||_1 on grids.
    nodes, steps : arrays of int, (L,)
        Quadrature nodes (0 for a closed form) and Newton steps on the last grid.
    elapsed : float
        Seconds for everything.
    """

    residual: Array
    quadrature: Array
    decrement: Array
    condition: Array
    moment_rounding: Array
    nodes: IntArray
    steps: IntArray
    elapsed: float


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """The geometric information decomposition of one weighted sample.

    Attributes
    ----------
    levels, dims : arrays of int, (L,)
        1..L, and the features each level adds.
    deficits, gaps, uncertainty : arrays, (L,)
        D_L, I_L = D_L - D_{L-1} = KL(p_L ‖ p_{L-1}) in nats, and U_L = exp(-D_L).
    fits : tuple of MaxEntFit
        ``fits[l]`` for l = 0 (uniform) … L.
    moments : Moments
        All the fits have seen of the data.
    numerics : Numerics
        Certificates of every level.
    stopped : str
        Why there is no higher level, when fewer exist than the default; else empty.
    shrinkage : Shrinkage or None
        What was mixed into the data; None for exact GID of the data themselves.
    ambient : int
        Dimension the data were given in; larger than ``d`` after `Directions.within_span`.
    """

    moments: Moments
    fits: tuple[MaxEntFit, ...]
    numerics: Numerics
    stopped: str
    shrinkage: Shrinkage | None
    ambient: int

    @property
    def levels(self) -> IntArray:
        return np.arange(1, len(self.fits))

    @property
    def dims(self) -> IntArray:
        return np.diff([len(fit.lam) for fit in self.fits])

    @property
    def deficits(self) -> Array:
        return np.array([fit.deficit for fit in self.fits[1:]])

    @property
    def gaps(self) -> Array:
        return np.array([fit.gap for fit in self.fits[1:]])

    @property
    def uncertainty(self) -> Array:
        return np.exp(-self.deficits)

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.moments.n

    @property
    def d(self) -> int:
        """Ambient dimension."""
        return self.moments.hierarchy.d

    @property
    def ess(self) -> float:
        """Kish's effective sample size: weight concentration, not sampling precision."""
        return self.moments.ess

    @property
    def resultant(self) -> float:
        """Mean resultant length R."""
        return float(np.linalg.norm(self.moments.mean))

    @property
    def kappa(self) -> float:
        """Concentration of the level-1 (von Mises-Fisher) fit."""
        return self.fits[1].kappa

    def sensitivity(self, epsilons: Sequence[float] = DEFAULT_EPSILONS) -> Sensitivity:
        """Gaps against the share of another law mixed into the data; ``print`` shows a table."""
        return shrinkage_sensitivity(self.moments, epsilons)

    def summary(self) -> str:
        """The table that ``print`` shows."""
        return summarise(self)

    def to_dict(self) -> dict[str, Any]:
        """Every number of the profile as plain lists, ready for JSON."""
        return {
            "n": self.n,
            "d": self.d,
            "space": self.moments.hierarchy.space.name,
            "hierarchy": "Harmonics",
            "kish_ess": self.ess,
            "mean_direction": _unit(self.moments.mean),
            "resultant_length": self.resultant,
            "vmf_kappa": self.kappa,
            "levels": self.levels.tolist(),
            "dims": self.dims.tolist(),
            "deficits": self.deficits.tolist(),
            "gaps": self.gaps.tolist(),
            "uncertainty": self.uncertainty.tolist(),
            "lam": [fit.lam.tolist() for fit in self.fits[1:]],
            "psi": [fit.psi for fit in self.fits[1:]],
            "numerics": {
                name: np.asarray(getattr(self.numerics, name)).tolist()
                for name in Numerics.__slots__
            },
            "stopped": self.stopped,
            "shrinkage": asdict(self.shrinkage) if self.shrinkage else None,
            "ambient": self.ambient,
            "unit": "nats",
        }

    def to_frame(self) -> Any:
        """One row per level as a pandas frame (pandas must be installed)."""
        return frame_of_levels(self.to_dict())

    def __str__(self) -> str:
        return self.summary()


def profile(
    data: Any,
    *,
    weights: ArrayLike | str | None = None,
    levels: int | None = None,
    hierarchy: Harmonics | None = None,
    shrinkage: Shrinkage | float | None = None,
) -> Profile:
    """Decompose what a weighted set of directions tells, level by level, in nats.

    Parameters
    ----------
    data : (n, d) array_like, DataFrame, Directions or Moments
        Unit vectors, one per row. A frame with named columns is read by name: ``x, y, z``,
        ``lon, lat`` or ``angle``, in degrees.
    weights : array_like or column name, optional
        Non-negative weights of any scale, when ``data`` does not carry them.
    levels : int, optional
        Highest level. By default up to 4 on the circle and the two-sphere and 2 above,
        stopping at the last level that exists and saying so. When given, a level that does
        not exist is an error.
    hierarchy : Harmonics, optional
        The nested features; replaces ``levels``.
    shrinkage : Shrinkage or float, optional
        Mix the data with a law that has a fit; a number is the share of the uniform law.

    Returns
    -------
    Profile

    Raises
    ------
    BoundaryError, ResolutionError, ConvergenceError
        A level has no usable fit; ``error.profile`` holds the levels below.

    Examples
    --------
    >>> import steradian as sr
    >>> p = sr.profile(sr.examples.load("mcmurdo"), levels=2)
    >>> p.gaps.round(3).tolist()
    [0.067, 1.633]
    """
    began = time.perf_counter()
    explicit = levels is not None or hierarchy is not None
    source = _source(data, weights)
    if isinstance(source, Moments):
        moments, directions = _restricted(source, levels, hierarchy), None
    else:
        wanted = hierarchy or Harmonics(
            source.d, _default_levels(source.d) if levels is None else levels
        )
        moments, directions = Moments.from_directions(source, wanted), source
    mixing = as_shrinkage(shrinkage)
    nested = fit_levels(moments.hierarchy, moments.stack(), _support(directions), mixing)
    run = _Run(moments, nested, mixing, began, directions.ambient if directions else 0)
    return _assemble(run, explicit=explicit)


def _support(directions: Directions | None) -> Support | None:
    if directions is None or directions.n > _EXAMINED_ROWS:
        return None
    return lambda _row: directions.support()


def _default_levels(d: int) -> int:
    return 4 if d <= 3 else 2


def _source(data: Any, weights: ArrayLike | str | None) -> Directions | Moments:
    if isinstance(data, Directions | Moments):
        if weights is not None:
            raise InvalidDirections(
                f"{type(data).__name__} carry their own weights; leave out weights="
            )
        return data
    if is_frame(data):
        return directions_from_frame(data, weights=weights)
    if isinstance(weights, str):
        raise InvalidDirections("weights names a column, but data is not a frame; pass an array")
    return Directions(data, weights)


def _restricted(moments: Moments, levels: int | None, hierarchy: Harmonics | None) -> Moments:
    if hierarchy not in (None, moments.hierarchy):
        raise ValueError(f"these moments are of {moments.hierarchy}, not {hierarchy}")
    return moments if levels is None else moments.up_to(levels)


@dataclass(frozen=True, slots=True)
class _Run:
    """What a finished computation hands over."""

    moments: Moments
    nested: NestedFits
    shrinkage: Shrinkage | None
    began: float
    ambient: int


def _assemble(run: _Run, *, explicit: bool) -> Profile:
    moments, nested = run.moments, run.nested
    failure = nested.failures.get(0)
    sound = failure.level - 1 if failure else moments.hierarchy.levels
    stopped = str(failure.error()) if failure and not explicit else ""
    result = None
    if sound:
        result = Profile(
            moments=moments if sound == moments.hierarchy.levels else moments.up_to(sound),
            fits=_fits(run, sound),
            numerics=_numerics(nested, sound, time.perf_counter() - run.began),
            stopped=stopped,
            shrinkage=run.shrinkage,
            ambient=run.ambient or moments.hierarchy.d,
        )
    if failure and (explicit or result is None):
        error = failure.error()
        error.profile = result
        raise error
    if result is None:
        raise AssertionError("a fit without failure has at least one level")
    return result


def _fits(run: _Run, sound: int) -> tuple[MaxEntFit, ...]:
    moments, nested = run.moments, run.nested
    hierarchy, gaps = moments.hierarchy, nested.gaps[0]
    none = np.zeros(0)
    fits = [MaxEntFit(hierarchy, 0, none, 0.0, 0.0, 0.0, 0.0, none, Status.CONVERGED)]
    for level, s in enumerate(nested.solutions[:sound], start=1):
        fit = MaxEntFit(
            hierarchy=hierarchy,
            level=level,
            lam=s.lam[0],
            psi=float(s.psi[0]),
            deficit=float(s.deficit[0]),
            gap=float(gaps[level - 1]),
            residual=float(s.residual[0]),
            moments=_fitted_moments(run, level),
            status=Status.CONVERGED,
        )
        fits.append(FisherBingham.of(fit) if level == 2 else fit)
    return tuple(fits)


def _fitted_moments(run: _Run, level: int) -> Array:
    """The feature moments a fit matches: those of the data, mixed when asked for."""
    plain = run.moments.up_to_level(level)
    if run.shrinkage is None:
        return plain
    if run.shrinkage.toward == "uniform":
        return (1.0 - run.shrinkage.epsilon) * plain
    hierarchy = run.moments.hierarchy
    mixed = plain
    for lower in range(1, level):
        fit = run.nested.solutions[lower - 1].lam
        law = hierarchy.moments_of(fit, run.moments.mean[None])
        features = _features_of(hierarchy, law, level)
        mixed = (1.0 - run.shrinkage.epsilon) * mixed + run.shrinkage.epsilon * features
    return mixed


def _features_of(hierarchy: Harmonics, law: MomentStack, level: int) -> Array:
    if hierarchy.d <= 3:
        return law.features[0, : hierarchy.space.size(level) - 1]
    mean = law.mean[0]
    return feature_moments(hierarchy.space, mean, law.scatter[0] + np.outer(mean, mean))


def _numerics(nested: NestedFits, sound: int, elapsed: float) -> Numerics:
    solutions = nested.solutions[:sound]
    return Numerics(
        residual=np.array([s.residual[0] for s in solutions]),
        quadrature=np.array([s.quadrature[0] for s in solutions]),
        decrement=np.array([s.decrement[0] for s in solutions]),
        condition=np.array([s.condition[0] for s in solutions]),
        moment_rounding=np.array([s.moment_rounding[0] for s in solutions]),
        nodes=np.array([s.nodes[0] for s in solutions]),
        steps=np.array([s.steps[0] for s in solutions]),
        elapsed=elapsed,
    )


def _unit(vector: Array) -> list[float]:
    length = float(np.linalg.norm(vector))
    return (vector / length if length else vector).tolist()
