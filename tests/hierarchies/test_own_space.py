"""A space of one's own, with rules or with draws alone, through every method of a profile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import steradian as sr
from own_spaces import Slab, places
from steradian.numerics.arrays import AnyArray, Array

N = 300


def alone(x: AnyArray) -> AnyArray:
    return np.asarray(x)


def together(x: AnyArray) -> AnyArray:
    return np.asarray(x[:, :2] * x[:, 2:])


def data(seed: int = 0) -> Array:
    """The higher, the closer to angle zero."""
    rng = np.random.default_rng(seed)
    height = rng.beta(2.0, 1.5, N)
    return places(rng.vonmises(0.0, 0.3 + 2.0 * height), height)


def profile_of(ruled: bool, **options: Any) -> sr.results.Profile:
    space = Slab(ruled)
    rows = sr.Directions(data(), space=space)
    return sr.profile(rows, hierarchy=sr.Custom(space, [alone, together]), **options)


@pytest.fixture(scope="module")
def profiles() -> dict[bool, sr.results.Profile]:
    return {ruled: profile_of(ruled) for ruled in (True, False)}


def brute_deficit(features: Callable[[Array], AnyArray]) -> float:
    """max λ·m - log ∫ exp(λ·φ), by SciPy on a midpoint grid of its own."""
    from scipy.optimize import minimize

    turn = (np.arange(200) + 0.5) * (2.0 * np.pi / 200)
    angle, height = np.meshgrid(turn, (np.arange(400) + 0.5) / 400, indexing="ij")
    phi = features(places(angle.ravel(), height.ravel()))
    m = features(data()).mean(axis=0)

    def dual(lam: Array) -> tuple[float, Array]:
        mass = np.exp(phi @ lam)
        return float(np.log(mass.mean()) - lam @ m), mass @ phi / mass.sum() - m

    found = minimize(dual, np.zeros(phi.shape[1]), jac=True, method="BFGS", options={"gtol": 1e-9})
    return -float(found.fun)


def test_against_brute_force(profiles: dict[bool, sr.results.Profile]) -> None:
    wanted = [brute_deficit(alone), brute_deficit(lambda x: np.hstack([alone(x), together(x)]))]
    np.testing.assert_allclose(profiles[True].deficits, wanted, atol=1e-5)
    drawn = profiles[False]
    assert (drawn.numerics.quadrature > 1e-4).all()
    assert (np.abs(drawn.deficits - wanted) < drawn.numerics.quadrature).all()


def test_the_error_that_is_stated_holds_for_other_draws(
    profiles: dict[bool, sr.results.Profile],
) -> None:
    """Under many laws: the fits of one set of draws, against rules."""
    weights = np.random.default_rng(3).gamma(0.5, size=(15, N))
    found = {}
    for ruled in (True, False):
        space = Slab(ruled)
        rows = sr.Directions(data(), space=space)
        h = sr.Custom(space, [alone, together])
        found[ruled] = sr.profiles(rows, weights=weights, hierarchy=h)
    off = np.abs(found[True].deficits - found[False].deficits)
    assert off.max() < profiles[False].numerics.quadrature.max() * 2.0
    assert off.max() > 1e-6  # draws are no rule


CALLS: dict[str, Callable[[sr.results.Profile], Any]] = {
    "tests": lambda p: p.tests(),
    "bootstrap tests": lambda p: p.tests(method="bootstrap", replicates=19),
    "intervals": lambda p: p.intervals(),
    "uniformity": lambda p: p.uniformity(),
    "residuals": lambda p: p.residuals(),
    "mmd": lambda p: p.mmd(),
    "sensitivity": lambda p: p.sensitivity(rotations=1),
    "trust": lambda p: p.trust(),
    "summary": lambda p: p.summary(),
    "dictionary": lambda p: p.to_dict(),
    "order": sr.choose_order,
    "bootstrap": lambda p: sr.bootstrap(p, "parametric", replicates=19),
    "sample": lambda p: p.fits[2].sample(50, 1),
    "entropy": lambda p: p.fits[2].entropy(),
    "boundary": lambda p: sr.boundary(p.moments),
}
REFUSED = {"mmd"}


@pytest.mark.parametrize("ruled", [True, False])
@pytest.mark.parametrize("call", CALLS)
def test_every_method(call: str, ruled: bool, profiles: dict[bool, sr.results.Profile]) -> None:
    if call in REFUSED:
        with pytest.raises(sr.SteradianError, match=r"\w+ \w+"):
            CALLS[call](profiles[ruled])
        return
    answer = CALLS[call](profiles[ruled])
    for p in np.ravel(getattr(answer, "pvalue", [])):
        assert np.isnan(p) or 0.0 <= p <= 1.0


def test_words_of_draws(profiles: dict[bool, sr.results.Profile]) -> None:
    own = profiles[False].moments.hierarchy
    assert repr(own) == "Custom(slab, dims (3, 2), orthonormal under 131072 uniform draws)"
    assert str(profiles[False].trust().numbers.answer) == "no"
    assert not profiles[False].has_mean
    assert "place" not in str(profiles[True])
    both = [profiles[ruled].tests().pvalue for ruled in (True, False)]
    assert (both[0] < 1e-4).all()
    assert (both[1] < 1e-4).all()


def test_laws_too_sharp_for_draws_are_refused() -> None:
    rng = np.random.default_rng(1)
    sharp = places(rng.normal(0.0, 0.003, 200), 0.5 + rng.normal(0.0, 0.003, 200))
    space = Slab(False)
    own = sr.Custom(space, [lambda x: np.hstack([x, x[:, 2:] ** 2])])
    with pytest.raises(sr.ResolutionError, match=r"cannot be resolved .* 131072 nodes"):
        sr.profile(sr.Directions(sharp, space=space), hierarchy=own)


def test_a_row_that_is_no_point_is_refused_in_the_space_s_words() -> None:
    with pytest.raises(sr.InvalidDirections, match="row 0 has height 2; fix it"):
        sr.Directions([[1.0, 0.0, 2.0]], space=Slab())
    with pytest.raises(sr.InvalidArgument, match="nothing is known to measure on the slab"):
        sr.profile(sr.Directions(data(), space=Slab()))
