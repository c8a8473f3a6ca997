"""Relative to a law of the same features, in any dimension: closed forms, nodes and samples."""

from __future__ import annotations

import numpy as np
import pytest

import steradian as sr
from steradian.conformance import check_hierarchy
from steradian.hierarchies import Against
from steradian.hierarchies.relative import Shifted
from steradian.relative import as_reference, relative_hierarchy


def laws(d: int) -> tuple[sr.FisherBingham, sr.FisherBingham]:
    """A reference, and a law that rows are drawn from."""
    rng = np.random.default_rng(d)
    quadratic, eta = rng.normal(size=(d, d)), rng.normal(size=d)
    quadratic = (quadratic + quadratic.T) / 4.0
    other = quadratic + np.diag(0.3 * rng.normal(size=d))
    return sr.FisherBingham(eta, quadratic), sr.FisherBingham(eta + 0.5 * rng.normal(size=d), other)


@pytest.mark.parametrize(("d", "n"), [(4, 300), (10, 500), (128, 1000)])
def test_level_two_is_the_ordinary_fit(d: int, n: int) -> None:
    """D₂ relative to p₀ is D₂ - (λ₀·m - ψ₀), the density that of the ordinary fit."""
    reference, law = laws(d)
    x = law.sample(n, 1)
    plain, found = sr.profile(x, levels=2), sr.profile(x, levels=2, reference=reference)
    second = x.T @ x / n
    told = reference.eta @ x.mean(axis=0) + np.sum(reference.B * second) - reference.psi
    assert found.deficits[1] == pytest.approx(plain.deficits[1] - told, abs=1e-10)
    np.testing.assert_allclose(found.fits[2].logpdf(x[:4]), plain.fits[2].logpdf(x[:4]), atol=1e-8)
    assert (found.gaps > 0.0).all()
    assert found.fits[1].sample(3, 0).shape == (3, d)


@pytest.mark.parametrize("d", [4, 10])
def test_level_one_against_a_large_sample_of_the_reference(d: int) -> None:
    """ψ as a mean over 40,000 draws: D₁ is off by about sd(p₁ / p₀) / 200."""
    reference, law = laws(d)
    x = law.sample(400, 1)
    found = sr.profile(x, levels=1, reference=reference)
    drawn = sr.Directions(reference.sample(40_000, 2))
    sampled = sr.profile(x, levels=1, reference=drawn)
    ratio = found.fits[1].pdf(drawn, measure="reference")
    assert ratio.mean() == pytest.approx(1.0, abs=5.0 * ratio.std() / 200.0)
    assert found.deficits[0] == pytest.approx(sampled.deficits[0], abs=5.0 * ratio.std() / 200.0)


@pytest.mark.slow
def test_nodes_say_the_same_in_four_dimensions() -> None:
    reference, law = laws(4)
    x = law.sample(300, 1)
    whole = as_reference(reference, sr.Harmonics(4, 2).space)
    assert whole is not None
    on_nodes = Against.of(sr.Harmonics(4, 2), whole)
    closed = sr.profile(x, levels=2, reference=reference)
    nodes = sr.profile(x, hierarchy=on_nodes)
    np.testing.assert_allclose(closed.deficits, nodes.deficits, rtol=0.0, atol=1e-8)
    one, two = (p.tests().score_statistic for p in (closed, nodes))
    np.testing.assert_allclose(one, two, rtol=1e-6)


def test_relative_to_its_own_level_one_in_many_dimensions() -> None:
    """Nothing is left at level 1; level 2 and its test are those relative to uniform."""
    x = laws(30)[1].sample(2000, 1)
    plain = sr.profile(x, levels=2)
    found = sr.profile(x, levels=2, reference=plain.fits[1])
    assert abs(found.gaps[0]) < 1e-12
    assert found.gaps[1] == pytest.approx(plain.gaps[1], abs=1e-10)
    test = [p.tests(null="model", statistic="score", method="simulate") for p in (plain, found)]
    assert test[1].score_statistic[1] == pytest.approx(test[0].score_statistic[1], rel=1e-9)


@pytest.mark.slow
def test_size_of_tests_where_rows_are_of_the_reference() -> None:
    """p-values of 60 samples are not small more often than chance allows."""
    reference = laws(5)[0]
    rng = np.random.default_rng(3)
    p = np.array([
        sr.profile(reference.sample(400, rng), levels=2, reference=reference).tests().pvalue
        for _ in range(60)
    ])  # fmt: skip
    assert ((p < 0.05).sum(axis=0) <= 9).all()  # of a mean of 3: once in 500 by chance
    assert ((p > 0.5).mean(axis=0) > 0.25).all()


@pytest.mark.slow
@pytest.mark.parametrize("flat", [False, True])
def test_the_contract(flat: bool) -> None:
    reference = laws(5)[0]
    if flat:
        reference = sr.FisherBingham(reference.eta, np.zeros((5, 5)))
    data = sr.Directions(reference.sample(50, 0))
    hierarchy = relative_hierarchy(reference, data, 2, None)
    assert isinstance(hierarchy, Shifted)
    check_hierarchy(hierarchy)


def test_what_is_not_formed_is_refused_in_words() -> None:
    reference, law = laws(30)
    found = sr.profile(law.sample(3000, 1), levels=2, reference=reference)
    tests = found.tests()
    assert np.isnan(tests.pvalue[1])
    assert "has 494 features, and tests relative to a law of level 2 form matrices" in str(tests)
    with pytest.raises(sr.InvalidArgument, match="measures other features"):
        sr.profile(law.sample(300, 1), hierarchy=sr.Diagonal(30), reference=reference)
    with pytest.raises(sr.InvalidArgument, match="cannot be integrated on the sphere in R"):
        sr.profile(law.sample(300, 1), reference=lambda x: np.ones(len(x)))
