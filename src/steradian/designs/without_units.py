"""Designs without independent units: a known covariance, a description, a choice from its rows."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from steradian.arguments import real_number
from steradian.data.directions import Directions
from steradian.data.moments import Moments
from steradian.data.validation import as_numeric
from steradian.designs.base import Design, Units, whole_units
from steradian.errors import DesignError, InvalidArgument
from steradian.numerics.arrays import Array, BoolArray
from steradian.numerics.tolerances import LARGEST_SUMMED
from steradian.text.audience import Advice
from steradian.text.messages import arguments


@dataclass(frozen=True, eq=False)
class Known(Design):
    """The covariance of the moments is known from elsewhere.

    Parameters
    ----------
    covariance : array_like, (q, q)
        Covariance Σ of ``rate`` · (estimated - true moments) of the features of the highest
        level, in the order of ``hierarchy.features``.
    rate : float
        a_n.
    """

    covariance: ArrayLike
    rate: float
    name: ClassVar[str] = "known"
    has_units: ClassVar[bool] = False
    random_weights: ClassVar[bool] = False
    from_sums: ClassVar[bool] = True

    @property
    def sentence(self) -> str:
        return "covariance and rate of the moments given"

    def units(self, directions: Directions) -> Units:
        raise DesignError(
            f"a known covariance says nothing about single rows (n = {directions.n}); bootstraps "
            "and tilted covariances need a design with units"
        )

    def drawn_rows(
        self,
        directions: Directions,
        share: float,  # noqa: ARG002
        rng: np.random.Generator,  # noqa: ARG002
    ) -> BoolArray:
        """None: the covariance is that of all rows together."""
        raise DesignError(
            f"a covariance of the moments of all {directions.n} rows is not one of some of them, so"
            " they cannot be split; split them yourself and give the covariance of each part"
        )

    def check(self, directions: Directions) -> None:  # noqa: ARG002
        self._check_covariance()

    def check_sums(self, *, weighted: bool) -> None:  # noqa: ARG002
        self._check_covariance()

    def rate_from_sums(self, moments: Moments) -> float:  # noqa: ARG002
        return float(self.rate)

    @property
    def known_covariance(self) -> Array:
        return np.asarray(as_numeric(self.covariance, "covariance"), dtype=np.float64)

    def _check_covariance(self) -> None:
        sigma = self.known_covariance
        try:
            rate = real_number(self.rate, "rate", "give a_n > 0, the root of the sample size")
        except InvalidArgument as error:
            raise DesignError(str(error)) from None
        if sigma.ndim != 2 or sigma.shape[0] != sigma.shape[1] or not np.isfinite(sigma).all():
            raise DesignError(
                f"covariance has shape {sigma.shape}; give a finite square matrix, one row per "
                "feature of the highest level"
            )
        if np.abs(sigma - sigma.T).max() > 1e-8 * np.abs(sigma).max():
            raise DesignError("covariance is not symmetric")
        if np.linalg.eigvalsh(sigma)[0] < -1e-10 * np.trace(sigma):
            raise DesignError("covariance has a negative eigenvalue; a covariance has none")
        if not 0.0 < rate < LARGEST_SUMMED:
            raise DesignError(f"rate is {rate:g}; give a_n > 0, the root of the sample size")
        if not np.trace(sigma) > 0.0:
            raise DesignError("covariance is zero: moments without error have no p-value")


_OTHERS = Advice(
    "design='iid' (equal weights), 'fixed', 'importance', 'chain', sr.designs.Clusters(ids), "
    "Survey(...) or Known(covariance, rate)",
    "--design iid (equal weights), fixed, importance, chain, clusters:COLUMN or survey:psu=COLUMN",
)


@dataclass(frozen=True, eq=False)
class Descriptive(Design):
    """The weighted set is itself what is described: quadrature, attention, reliability."""

    name: ClassVar[str] = "descriptive"
    defines_inference: ClassVar[bool] = False
    has_units: ClassVar[bool] = False
    random_weights: ClassVar[bool] = False
    from_sums: ClassVar[bool] = True

    @property
    def sentence(self) -> str:
        return "the weighted set itself is described: no sampling, no standard errors"

    def units(self, directions: Directions) -> Units:  # noqa: ARG002
        raise self.refusal()

    def refusal(self) -> DesignError:
        """Why there is no inference, and the ways out."""
        return DesignError(
            "design 'descriptive' describes this weighted set and defines no p-value or standard "
            "error; if the rows are a sample, say how the weights arose: {remedy}; numbers of "
            "observations are no weights but {counts}",
            remedy=_OTHERS, counts=arguments(counts=...),
        )  # fmt: skip

    def check(self, directions: Directions) -> None:
        """Any rows can be described."""

    def drawn_rows(
        self, directions: Directions, share: float, rng: np.random.Generator
    ) -> BoolArray:
        """Single rows: nothing is said about which belong together."""
        return whole_units(np.arange(directions.n), None, share, rng)


@dataclass(frozen=True, eq=False)
class ChosenFromSameRows(Design):
    """What is measured was chosen by the rows it is measured on, however these came about.

    Parameters
    ----------
    choice : str
        What was chosen, in words.
    stated : Design
        How the rows came about.
    """

    choice: str
    stated: Design
    name: ClassVar[str] = "descriptive"
    defines_inference: ClassVar[bool] = False
    has_units: ClassVar[bool] = False
    random_weights: ClassVar[bool] = False
    from_sums: ClassVar[bool] = True

    @property
    def sentence(self) -> str:
        return (
            f"chosen from these same rows: {self.choice}; they are described, nothing is inferred"
        )

    @property
    def in_short(self) -> str:
        return (
            f"{textwrap.fill(f'Chosen from these same rows: {self.choice}.', 80)}\n"
            "So the gaps describe these rows, and there are no p-values (give split= for them)."
        )

    def units(self, directions: Directions) -> Units:  # noqa: ARG002
        raise self.refusal()

    def refusal(self) -> DesignError:
        """Why there is no inference, and the ways out."""
        return DesignError(
            f"{self.choice} of these same rows: gaps about it are too large and there is no "
            "p-value, standard error or interval; give split=0.5, so that some rows choose and "
            "the others are profiled, or choose it from other data"
        )

    def check(self, directions: Directions) -> None:
        """As the rows were stated."""
        self.stated.check(directions)
