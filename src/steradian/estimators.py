"""Scikit-learn estimators: laws of directions, and the information around each row.

Both take the rows of X as directions of R^d, scaled to length one. They clone, pickle, go into
pipelines and cross-validation, and set their output as scikit-learn's own do. Needs scikit-learn.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from steradian.arguments import real_number, whole_number
from steradian.batches import profiles
from steradian.data.directions import Directions
from steradian.decomposition import profile
from steradian.errors import InvalidArgument, MissingExtra
from steradian.numerics.arrays import Array
from steradian.text.messages import Row

try:
    from sklearn.base import (
        BaseEstimator,
        ClassNamePrefixFeaturesOutMixin,
        DensityMixin,
        TransformerMixin,
    )
    from sklearn.utils import check_random_state
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise MissingExtra(
        "estimators need scikit-learn 1.6; install it with: pip install 'steradian[estimators]'"
    ) from error

__all__ = ["GeometricInformation", "MaxEntDensity"]

_LEAST_COLUMNS = 2


def _unit_rows(X: Array) -> Array:
    """Rows scaled to length one; those of no length are refused."""
    size = np.abs(X).max(axis=1, keepdims=True)
    if (size == 0.0).any():
        row = int(np.argmin(size))
        raise InvalidArgument("{row} of X is zero and has no direction", row=Row(row))
    scaled = X / size
    return np.asarray(scaled / np.linalg.norm(scaled, axis=1, keepdims=True))


def _checked(estimator: Any, X: Any, *, reset: bool) -> Array:
    found = validate_data(
        estimator, X, dtype=np.float64, reset=reset,
        ensure_min_features=_LEAST_COLUMNS if reset else 1, ensure_min_samples=2 if reset else 1,
    )  # fmt: skip
    return _unit_rows(np.asarray(found, dtype=np.float64))


class MaxEntDensity(DensityMixin, BaseEstimator):  # type: ignore[misc]
    """The maximum-entropy law of one level as a density estimator.

    Parameters
    ----------
    level : int
        1 is von Mises-Fisher, 2 Fisher-Bingham, L all harmonics through degree L.
    shrinkage : float
        Share of the uniform law that is mixed in, so that a fit exists for few rows.

    Attributes
    ----------
    fit_ : MaxEntFit
        The law, with density, entropy and draws.
    profile_ : Profile
        All levels up to it.
    n_features_in_ : int
        d.

    Examples
    --------
    >>> import numpy as np
    >>> from steradian.estimators import MaxEntDensity
    >>> X = np.random.default_rng(0).normal([2.0, 0.0, 0.0], 1.0, (200, 3))
    >>> MaxEntDensity(level=1).fit(X).score_samples(X[:5]).shape
    (5,)
    """

    def __init__(self, level: int = 1, *, shrinkage: float = 0.0) -> None:
        self.level = level
        self.shrinkage = shrinkage

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: ARG002
        """Fit the law to the directions of the rows ``X`` (n, d)."""
        level = whole_number(self.level, "level", least=1)
        share = real_number(self.shrinkage, "shrinkage", "give a share from 0 to 1")
        rows = _checked(self, X, reset=True)
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        data = Directions(rows, weights)
        self.profile_ = profile(data, levels=level, shrinkage=share or None)
        self.fit_ = self.profile_.fits[level]
        return self

    def score_samples(self, X: Any) -> Array:
        """Log-density at the directions of ``X`` (n, d), nats; zero for the uniform law: (n,)."""
        check_is_fitted(self)
        return self.fit_.logpdf(_checked(self, X, reset=False))

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002
        """The mean log-density, nats."""
        return float(self.score_samples(X).mean())

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Array:
        """Exact draws of the law, (n_samples, d)."""
        check_is_fitted(self)
        seed = check_random_state(random_state).randint(np.iinfo(np.int32).max)
        return self.fit_.sample(n_samples, np.random.default_rng(seed))


class GeometricInformation(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """What the directions around each row tell, level by level: rows → gaps in nats.

    Without ``points`` the rows that it was fitted to are the points, and a row x weighs them by
    ``exp(kappa x·x_i)``, as an attention head does. With ``points`` the rows of X are themselves
    weightings of those.

    Parameters
    ----------
    levels : int
        Gaps of levels 1..levels are the columns of the output.
    kappa : float
        How near a point must be to count.
    points : (n, d) array_like, optional
        Directions that the rows of X weigh; X then has n columns, none negative.
    shrinkage : float
        Share of the uniform law that is mixed in, so that every row has a fit.

    Attributes
    ----------
    points_ : array, (n, d)
        Unit vectors that are weighed.

    Examples
    --------
    >>> import numpy as np
    >>> from steradian.estimators import GeometricInformation
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> GeometricInformation(levels=2).fit_transform(X).shape
    (50, 2)
    """

    def __init__(
        self,
        levels: int = 2,
        *,
        kappa: float = 4.0,
        points: Any = None,
        shrinkage: float = 0.05,
    ) -> None:
        self.levels = levels
        self.kappa = kappa
        self.points = points
        self.shrinkage = shrinkage

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Take the points; nothing else is learned."""
        whole_number(self.levels, "levels", least=1)
        if self.points is None:
            self.points_ = _checked(self, X, reset=True)
        else:
            self._weightings(X, reset=True)
            self.points_ = _unit_rows(np.asarray(self.points, dtype=np.float64))
        self._n_features_out = int(self.levels)
        return self

    def _weightings(self, X: Any, *, reset: bool) -> Array:
        found = validate_data(self, X, dtype=np.float64, reset=reset)
        if len(self.points) != found.shape[1]:
            raise InvalidArgument(
                f"X has {found.shape[1]} columns for {len(self.points)} points; give one weight of "
                "each point in every row"
            )
        return np.asarray(found, dtype=np.float64)

    def transform(self, X: Any) -> Array:
        """Gaps of every row, (n, levels), nats; NaN where a row has no fit."""
        check_is_fitted(self)
        if self.points is None:
            cosines = _checked(self, X, reset=False) @ self.points_.T
            strength = real_number(self.kappa, "kappa", "give a number")
            weights = np.exp(strength * (cosines - cosines.max(axis=1, keepdims=True)))
        else:
            weights = self._weightings(X, reset=False)
        share = self.shrinkage or None
        return profiles(self.points_, weights=weights, levels=self.levels, shrinkage=share).gaps
