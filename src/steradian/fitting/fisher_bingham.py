"""FisherBingham: the level-2 law in any dimension, with the words of those who use it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from steradian.data.validation import as_numeric
from steradian.errors import InvalidArgument
from steradian.fitting.maxent import MaxEntFit
from steradian.fitting.solution import Status
from steradian.hierarchies.registry import default_hierarchy
from steradian.numerics.arrays import Array
from steradian.numerics.fisher_bingham.law import FisherBinghamLaw
from steradian.numerics.tolerances import LARGEST_PARAMETER, LARGEST_SUMMED, SYMMETRIC_MATRIX, TINY
from steradian.spaces import unit_sphere
from steradian.spaces.quadratic import feature_moments, feature_parameters

_LIMIT = f"laws are offered up to {LARGEST_PARAMETER:g}, where double precision can tell them apart"


@dataclass(frozen=True, eq=False, init=False, repr=False)
class FisherBingham(MaxEntFit):
    """p ∝ exp(ηᵀx + xᵀBx) on the unit sphere of R^d, exactly, for d from 2 to 1024.

    Contains von Mises-Fisher (B = 0), Bingham (η = 0), Kent (η an eigenvector of B, other
    eigenvalues ±β) and Watson (B of rank one) laws. The normaliser is a one-dimensional
    contour integral: for parameters of size s the deficit is good to 1e-12 + 1e-16 √s nats,
    and relatively so near uniform. Rounding of a B that is not diagonal comes on top: it moves
    what B leaves free by about 2e-16 s.

    Parameters
    ----------
    eta : array_like, (d,)
        Linear parameter, of length at most 1e12.
    B : array_like, (d, d)
        Symmetric quadratic parameter; only its traceless part matters. Its eigenvalues differ
        by at most 1e12.

    Raises
    ------
    InvalidArgument
        Parameters of other shapes, not finite, not symmetric, or beyond these limits.

    Examples
    --------
    >>> import numpy as np, steradian as sr
    >>> law = sr.FisherBingham([0, 0, 5], np.diag([1.0, -1.0, 0.0]))
    >>> law.mean().round(3).tolist()
    [0.0, 0.0, 0.789]
    >>> law.sample(4, 0).shape
    (4, 3)
    """

    def __init__(self, eta: ArrayLike, B: ArrayLike) -> None:
        linear, quadratic = _parameters(eta, B)
        _refuse_beyond(linear, quadratic)
        hierarchy = default_hierarchy(unit_sphere(len(linear)), 2)
        law = FisherBinghamLaw.of(linear, quadratic)
        mean = law.mean()
        second = law.covariance() + np.outer(mean, mean)
        below, gap = law.deficit_and_gap()
        self._fill(
            hierarchy=hierarchy,
            level=2,
            lam=feature_parameters(unit_sphere(len(linear)), linear, quadratic),
            psi=law.psi,
            deficit=below + gap,
            gap=gap,
            residual=0.0,
            moments=feature_moments(unit_sphere(len(linear)), mean, second),
            status=Status.CONVERGED,
            law=law,
        )

    @classmethod
    def of(cls, fit: MaxEntFit) -> FisherBingham:
        """The same law as a level-2 fit, without computing it again."""
        self = cls.__new__(cls)
        self._fill(**{field.name: getattr(fit, field.name) for field in fields(MaxEntFit)})
        return self

    def _fill(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def contour(self) -> FisherBinghamLaw:
        """Eigenbasis and contour integral."""
        law = self.law
        assert isinstance(law, FisherBinghamLaw)
        return law

    @cached_property
    def _natural(self) -> tuple[Array, Array]:
        found = self.hierarchy.family(self.level).natural(self.lam)
        assert found is not None
        return found

    @property
    def eta(self) -> Array:
        """η, (d,)."""
        return self._natural[0]

    @property
    def B(self) -> Array:  # noqa: N802 - the letter everybody uses
        """B, (d, d), of trace zero."""
        return self._natural[1]

    def second_moment(self) -> Array:
        """E xxᵀ, (d, d)."""
        mean = self.contour.mean()
        return self.contour.covariance() + np.outer(mean, mean)

    def covariance(self) -> Array:
        """Cov x, (d, d), without cancellation."""
        return self.contour.covariance()

    def hessian_product(self, eta: ArrayLike, B: ArrayLike) -> tuple[Array, Array]:
        """Change of (E x, E xxᵀ) along a change (``eta``, ``B``) of the parameters."""
        return self.contour.hessian_product(*_parameters(eta, B))

    @property
    def eigenvalues(self) -> Array:
        """Bingham eigenvalues: those of B, in descending order, the largest set to zero."""
        values = np.linalg.eigvalsh(self.B)[::-1]
        return np.asarray(values - values[0])

    @property
    def axis(self) -> Array:
        """Unit eigenvector of the largest eigenvalue of B: the axis of a bipolar law."""
        return self._eigenvector(-1)

    @property
    def girdle_normal(self) -> Array:
        """Unit eigenvector of the smallest eigenvalue of B: normal to a girdle's plane."""
        return self._eigenvector(0)

    def _eigenvector(self, which: int) -> Array:
        vector = np.linalg.eigh(self.B)[1][:, which]
        return np.asarray(vector * (1.0 if vector[np.argmax(np.abs(vector))] > 0 else -1.0))

    def kent(self) -> tuple[float, float, Array]:
        """The Kent-like reading (κ, β, axes).

        κ = |η|; the columns of axes are the direction of η and the major and minor axes across
        it; β is half the difference of B between those two.
        """
        d = self.space.d
        if self.kappa == 0.0:
            raise InvalidArgument(
                "η is zero, so there is no Kent-like reading; see eigenvalues and axis"
            )
        if d != 3:
            raise InvalidArgument(f"Kent parameters are for the two-sphere, not for d = {d}")
        pole = self.eta / self.kappa
        basis = np.linalg.svd(pole[None])[2]
        across = basis[1:].T
        values, turn = np.linalg.eigh(across.T @ self.B @ across)
        axes = np.column_stack([pole, across @ turn[:, 1], across @ turn[:, 0]])
        return self.kappa, float(0.5 * (values[1] - values[0])), axes


def _parameters(eta: ArrayLike, B: ArrayLike) -> tuple[Array, Array]:
    linear = np.asarray(as_numeric(eta, "eta"), dtype=np.float64)
    quadratic = np.asarray(as_numeric(B, "B"), dtype=np.float64)
    d = len(linear) if linear.ndim == 1 else 0
    if d < 2 or quadratic.shape != (d, d):
        raise InvalidArgument(
            f"eta has shape {linear.shape}, B {quadratic.shape}; give (d,) and (d, d)"
        )
    if not (np.isfinite(linear).all() and np.isfinite(quadratic).all()):
        raise InvalidArgument("eta and B must be finite")
    scale = float(np.abs(quadratic).max())
    if scale > LARGEST_SUMMED:
        raise InvalidArgument(f"B has an entry of size {scale:.3g}; {_LIMIT}")
    if np.abs(quadratic - quadratic.T).max() > SYMMETRIC_MATRIX * max(scale, TINY):
        raise InvalidArgument("B is not symmetric; pass (B + B.T) / 2")
    return linear, quadratic - np.eye(d) * (np.trace(quadratic) / d)


def _refuse_beyond(linear: Array, quadratic: Array) -> None:
    """Parameters of which rounding leaves too little."""
    largest = float(np.abs(linear).max())
    length = largest * float(np.linalg.norm(linear / largest)) if largest else 0.0
    if length > LARGEST_PARAMETER * (1.0 + SYMMETRIC_MATRIX):
        raise InvalidArgument(f"eta has length {length:.3g}; {_LIMIT}")
    values = np.linalg.eigvalsh(quadratic)
    spread = float(values[-1] - values[0])
    if spread > LARGEST_PARAMETER * (1.0 + SYMMETRIC_MATRIX):
        raise InvalidArgument(f"the eigenvalues of B differ by {spread:.3g}; {_LIMIT}")
