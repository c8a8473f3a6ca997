"""Estimators keep the contract of scikit-learn, and give the numbers of the library."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import steradian as sr

pytest.importorskip("sklearn", minversion="1.6")
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.utils.estimator_checks import parametrize_with_checks

from steradian.estimators import GeometricInformation, MaxEntDensity

EXPECTED = {"check_estimators_dtypes": "its whole numbers hold a row of zeros: no direction"}


def expected_failures(estimator: Any) -> dict[str, str]:
    """Checks that cannot hold for directions, each with its reason."""
    return EXPECTED


@pytest.mark.slow
@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [MaxEntDensity(), GeometricInformation(levels=1)], expected_failed_checks=expected_failures
)
def test_the_contract_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


def two_opposite(n: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.asarray(
        rng.normal([0, 0, 4.0], 1.0, (n, 3)) * np.where(rng.random(n) < 0.5, 1, -1)[:, None]
    )


def test_a_density_is_that_of_the_profile() -> None:
    X = two_opposite(200, 0)
    model = MaxEntDensity(level=2).fit(X)
    fit = sr.profile(sr.Directions(X, normalize=True), levels=2).fits[2]
    unit = X[:7] / np.linalg.norm(X[:7], axis=1)[:, None]
    assert model.score_samples(X[:7]) == pytest.approx(fit.logpdf(unit), abs=1e-10)
    assert model.score(X) == pytest.approx(fit.deficit, abs=1e-8)  # E log p under its own moments
    assert model.sample(4, random_state=0).shape == (4, 3)
    assert (model.sample(4, random_state=0) == model.sample(4, random_state=0)).all()


def test_weights_are_repetitions() -> None:
    X = two_opposite(60, 1)
    weights = np.arange(60) % 3
    once = MaxEntDensity(level=2).fit(X, sample_weight=weights)
    twice = MaxEntDensity(level=2).fit(np.repeat(X, weights, axis=0))
    assert once.score_samples(X) == pytest.approx(twice.score_samples(X), abs=1e-8)


def test_cross_validation_finds_the_level() -> None:
    """Two opposite clusters: level 1 sees nothing, level 2 the axis."""
    search = GridSearchCV(MaxEntDensity(), {"level": [1, 2]}, cv=3).fit(two_opposite(150, 2))
    assert search.best_params_ == {"level": 2}
    assert search.best_score_ > 1.0


def test_a_pipeline_is_cross_validated_cloned_and_pickled() -> None:
    rng = np.random.default_rng(3)
    X = np.vstack([two_opposite(60, 3), rng.normal(size=(60, 3))])
    y = np.repeat([0, 1], 60)
    pipe = make_pipeline(Normalizer(), GeometricInformation(levels=2), LogisticRegression())
    assert cross_val_score(clone(pipe), X, y, cv=3).mean() > 0.7
    fitted = pipe.fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    assert (again.predict(X) == fitted.predict(X)).all()


def test_weightings_of_given_points() -> None:
    points = two_opposite(40, 4)
    weights = np.random.default_rng(5).random((6, 40))
    model = GeometricInformation(levels=2, points=points, shrinkage=0.05).fit(weights)
    unit = points / np.linalg.norm(points, axis=1)[:, None]
    direct = sr.profiles(unit, weights=weights, levels=2, shrinkage=0.05).gaps
    assert model.transform(weights) == pytest.approx(direct, abs=1e-12)
    with pytest.raises(ValueError, match="X has 3 columns for 40 points"):
        GeometricInformation(points=points).fit(np.ones((2, 3)))


def test_frames_come_out_with_names() -> None:
    pytest.importorskip("pandas")
    model = GeometricInformation(levels=2).set_output(transform="pandas")
    frame = model.fit_transform(two_opposite(30, 6))
    assert list(frame.columns) == ["geometricinformation0", "geometricinformation1"]


def test_wrong_parameters_are_refused_in_words() -> None:
    X = two_opposite(20, 7)
    with pytest.raises(ValueError, match="level is 0; give 1 or more"):
        MaxEntDensity(level=0).fit(X)
    with pytest.raises(ValueError, match="row 3 of X is zero and has no direction"):
        MaxEntDensity().fit(np.vstack([X[:3], np.zeros(3), X[3:]]))
