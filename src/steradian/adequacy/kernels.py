"""Characteristic kernels on the sphere, by their weight for each degree.

``k(x, y) = Σ_l b_l Σ_r Y_lr(x) Y_lr(y)`` with orthonormal harmonics: a function of the angle
between x and y. All b_l are positive, so two laws with the same kernel mean are the same law.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Protocol

import numpy as np
from scipy.special import gammaln, ive

from steradian.arguments import real_number, shown
from steradian.errors import InvalidArgument
from steradian.numerics.arrays import Array


class Kernel(Protocol):
    """A kernel of positive weights b_l."""

    def weights(self, d: int, degree: int) -> Array:
        """b_1..b_degree on the unit sphere of R^d, (degree,)."""
        ...


@dataclass(frozen=True, slots=True)
class Poisson:
    """``(1 - ρ²) / |x - ρy|^d``: b_l = ρ^l. Near ρ = 1 it is narrow."""

    rho: float = 0.5

    def __post_init__(self) -> None:
        rho = real_number(self.rho, "rho", "give a number between 0 and 1")
        if not 0.0 < rho < 1.0:
            raise InvalidArgument(f"rho is {self.rho!r}; give a number between 0 and 1")

    def weights(self, d: int, degree: int) -> Array:  # noqa: ARG002
        return np.asarray(self.rho ** np.arange(1.0, degree + 1.0))


@dataclass(frozen=True, slots=True)
class Heat:
    """Heat spread for a time t: ``b_l = exp{-t l(l + d - 2)}``. Small t is narrow."""

    time: float = 0.1

    def __post_init__(self) -> None:
        time = real_number(self.time, "time", "give a positive number")
        if not time > 0.0:
            raise InvalidArgument(f"time is {self.time!r}; give a positive number")

    def weights(self, d: int, degree: int) -> Array:
        ell = np.arange(1.0, degree + 1.0)
        return np.asarray(np.exp(-self.time * ell * (ell + d - 2.0)))


@dataclass(frozen=True, slots=True)
class VonMisesFisherKernel:
    """``exp{κ(x·y - 1)}``: b_l = e^{-κ} Γ(ν) (2/κ)^{ν-1} I_{ν-1+l}(κ), ν = d/2.

    Large κ is narrow; about 2√d lets degrees 3 and 4 count.
    """

    kappa: float = 4.0

    def __post_init__(self) -> None:
        kappa = real_number(self.kappa, "kappa", "give a positive number")
        if not kappa > 0.0:
            raise InvalidArgument(f"kappa is {self.kappa!r}; give a positive number")

    def weights(self, d: int, degree: int) -> Array:
        order = d / 2.0 - 1.0
        factor = np.exp(gammaln(d / 2.0) + order * np.log(2.0 / self.kappa))
        return np.asarray(factor * ive(order + np.arange(1.0, degree + 1.0), self.kappa))


NAMES = ("heat", "poisson", "vmf")


def as_kernel(given: Kernel | str, d: int) -> Kernel:
    """A name means that kernel with a width that suits the dimension."""
    if isinstance(given, str):
        sharp = VonMisesFisherKernel(2.0 * float(np.sqrt(d)))
        named: dict[str, Kernel] = {"heat": Heat(), "poisson": Poisson(), "vmf": sharp}
        if given in named:
            return named[given]
    elif callable(getattr(given, "weights", None)):
        kernel: Kernel = given
        return kernel
    known = ", ".join(repr(name) for name in NAMES)
    raise InvalidArgument(f"kernel is {shown(given)}; choose {known} or one of sr.kernels")


def words_of(kernel: Kernel) -> str:
    """A kernel with its width to four digits."""
    if not isinstance(kernel, Heat | Poisson | VonMisesFisherKernel):
        return repr(kernel)
    inside = ", ".join(f"{name}={value:.4g}" for name, value in asdict(kernel).items())
    return f"{type(kernel).__name__}({inside})"


def enough_degrees(kernel: Kernel, b: Array, sizes: Array, share: float) -> int:
    """The first degree above which a share of the kernel's trace is left out.

    ``b`` are its weights and ``sizes`` the numbers of harmonics, of degrees 1, 2, …
    """
    above = np.append(np.cumsum((b * sizes)[::-1])[::-1], 0.0)  # from each degree on
    if above[-2] > share * above[0]:
        raise InvalidArgument(
            f"{kernel} is too narrow: {len(sizes)} degrees do not hold it; choose a wider one"
        )
    return max(2, int(np.argmax(above <= share * above[0])))
