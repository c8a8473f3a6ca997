"""The kernel mean under exp(η·x) in closed form, against the contour of any quadratic."""

from __future__ import annotations

import numpy as np
import pytest

import steradian as sr
from steradian.adequacy import mmd as any_dimension
from steradian.adequacy.mmd import _kernel_mean, _LinearMean, _QuadraticMean


@pytest.mark.parametrize("d", [4, 9, 57])
@pytest.mark.parametrize("size", [0.0, 0.3, 12.0, 900.0])
def test_it_is_that_of_the_contour(d: int, size: float) -> None:
    rng = np.random.default_rng(d)
    x = rng.normal(size=(30, d)) + np.eye(d)[0]
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    eta, none, kappa = size * x[0], np.zeros((d, d)), 0.4 * d
    closed = _kernel_mean(eta, none, kappa)
    assert isinstance(closed, _LinearMean)
    contour = _QuadraticMean(eta, none, kappa)
    np.testing.assert_allclose(closed(x), contour(x), rtol=1e-10)
    np.testing.assert_allclose(closed.of_pairs(), contour.of_pairs(), rtol=1e-10)


def test_means_of_sharp_laws_keep_their_digits() -> None:
    """Far along η the law is a point: E k(x, Y) is k(x, point) but for terms of order 1 / |η|."""
    d, kappa, size = 12, 5.0, 1e8
    point = np.eye(d)[2]
    x = np.random.default_rng(0).normal(size=(10, d))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    found = _kernel_mean(size * point, np.zeros((d, d)), kappa)(x)
    np.testing.assert_allclose(found, np.exp(kappa * (x @ point - 1.0)), rtol=1e-6)


def test_draws_stop_when_the_pvalue_is_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thirty of the draws beyond the sample tell, whether or not the draws were asked for."""
    x = np.random.default_rng(5).normal(size=(40, 5))
    profile, looked = sr.profile(sr.Directions(x, normalize=True), levels=1), []
    forms = any_dimension.forms_of

    def counted(*given: object) -> any_dimension.Forms:
        looked.append(1)
        return forms(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(any_dimension, "forms_of", counted)
    quick = profile.mmd(replicates=499)
    few = len(looked)
    asked = profile.mmd(replicates=499, method="bootstrap")
    assert quick.pvalue[0] > 0.1
    assert few < 400
    assert asked.pvalue.tolist() == quick.pvalue.tolist()
