"""Whatever is passed to whatever is public: a result, or an error of our own."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

import steradian as sr
from steradian.paper import mixture_sf, ridge

RNG = np.random.default_rng(0)


def unit(n: int, d: int) -> np.ndarray[Any, Any]:
    x = RNG.standard_normal((n, d))
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))


X, W, ANGLES = unit(12, 3), RNG.random(12), np.linspace(0.0, 3.0, 12)
DATA = sr.Directions(X)
PROFILE = sr.profile(X, levels=3)
HIGH = sr.profile(unit(40, 5), levels=2)
MOMENTS = PROFILE.moments
LAW = sr.FisherBingham([0.0, 0.0, 5.0], np.diag([1.0, -1.0, 0.0]))
H = sr.Harmonics(3, 2)
CERTIFICATE = sr.boundary(X, levels=1).entries[0].certificate
FILE = Path(__file__).parent / "test_hostile.py"  # exists, and is no table


class Refuses:
    """Raises whatever one does with it."""

    def __array__(self, *_: object, **__: object) -> Any:
        raise RuntimeError("no array")

    def __repr__(self) -> str:
        raise RuntimeError("no words")

    def __len__(self) -> int:
        raise RuntimeError("no length")


class Pretends:
    """Looks like a frame."""

    columns = 3

    def __getitem__(self, name: object) -> Any:
        raise RuntimeError(f"no {name}")


class HalfFrame:
    """Names columns that it does not have."""

    columns = ("x", "y", "z")

    def __getitem__(self, name: object) -> Any:
        raise LookupError(name)


def masked() -> Any:
    return np.ma.masked_array(X, mask=np.abs(X) > 0.9)


def frames() -> dict[str, Any]:
    table = {"x": X[:, 0], "y": X[:, 1], "z": X[:, 2]}
    double = pd.DataFrame(X, columns=["x", "y", "y"])
    return {
        "frame": pd.DataFrame(table),
        "frame of text": pd.DataFrame({"x": ["a"], "y": ["b"], "z": ["c"]}),
        "frame with a column twice": double,
        "frame with levels of columns": pd.DataFrame(
            X, columns=pd.MultiIndex.from_product([["a"], list("xyz")])
        ),
        "frame of dates": pd.DataFrame({"x": pd.date_range("2020", periods=3), "y": 1.0, "z": 0.0}),
        "frame of NA": pd.DataFrame({"x": pd.array([1, None], dtype="Int64"), "y": 0.0, "z": 0.0}),
        "frame of categories": pd.DataFrame({k: pd.Categorical(v) for k, v in table.items()}),
        "frame of lists": pd.DataFrame({"x": [[1], [2]], "y": 0.0, "z": 0.0}),
        "frame without columns": pd.DataFrame(index=range(3)),
        "frame without rows": pd.DataFrame({"x": [], "y": [], "z": []}),
        "frame of number names": pd.DataFrame(X),
        "frame of None names": pd.DataFrame(X, columns=[None, "y", "z"]),
        "sparse frame": pd.DataFrame(table).astype(pd.SparseDtype("float64", 0.0)),
        "series": pd.Series(X[:, 0]),
        "polars": pl.DataFrame(table),
        "polars of text": pl.DataFrame({"x": ["a"], "y": ["b"], "z": ["c"]}),
        "polars of null": pl.DataFrame({"x": [None, 1.0], "y": [0.0, 0.0], "z": [1.0, 0.0]}),
        "polars of structs": pl.DataFrame({"x": [{"a": 1}], "y": [1.0], "z": [0.0]}),
        "lazy polars": pl.DataFrame(table).lazy(),
        "arrow": pa.table(table),
        "looks like a frame": Pretends(),
        "half a frame": HalfFrame(),
    }


VALUES: dict[str, Any] = {
    "None": None,
    "text": "a",
    "empty text": "",
    "bytes": b"x",
    "path": "no/such/file.csv",
    "null byte": "a\0b",
    "fraction": 2.5,
    "minus one": -1,
    "zero": 0,
    "one": 1,
    "True": True,
    "nan": float("nan"),
    "inf": float("inf"),
    "large": 10**9,
    "larger": 10**15,
    "beyond float": 10**400,
    "minus beyond float": -(10**400),
    "complex": 1j,
    "empty list": [],
    "list of empty": [[]],
    "ragged": [[1.0], [1.0, 2.0]],
    "nested None": [[None, 1.0, 0.0]],
    "nested text": [["a", "b", "c"]],
    "list of nan": [float("nan")] * 12,
    "list of inf": [float("inf")] * 12,
    "list of minus": [-1.0] * 12,
    "list of zeros": [0.0] * 12,
    "list of beyond float": [10**400] * 12,
    "list of large": [1e308] * 12,
    "list of subnormal": [5e-324] * 12,
    "huge angle": [1e20],
    "dict": {"a": 1},
    "set": {1, 2},
    "range": range(3),
    "function": unit,
    "class": Refuses,
    "object": object(),
    "refuses": Refuses(),
    "generator": (k for k in range(3)),
    "0-d": np.array(1.0),
    "1-d": X[0],
    "3-d": np.ones((2, 2, 2)),
    "no rows": np.zeros((0, 3)),
    "no columns": np.zeros((3, 0)),
    "one column": np.ones((3, 1)),
    "zeros": np.zeros((3, 3)),
    "nan rows": np.full((2, 3), np.nan),
    "inf rows": np.full((2, 3), np.inf),
    "huge rows": np.full((2, 3), 1e200),
    "bools": np.eye(3, dtype=bool),
    "ints": np.eye(3, dtype=np.int8),
    "float32": X.astype(np.float32),
    "float16": X.astype(np.float16),
    "long double": X.astype(np.longdouble),
    "big-endian": X.astype(">f8"),
    "complex array": X.astype(complex),
    "text array": np.array([["a", "b"], ["c", "d"]]),
    "dates": np.array(["2020-01-01"], dtype="datetime64[D]"),
    "object array": np.array([[1.0, None, 0.0]], dtype=object),
    "structured": np.array([(1.0, 0.0)], dtype=[("x", "f8"), ("y", "f8")]),
    "masked": masked(),
    "mask": np.ma.masked,
    "sparse": scipy.sparse.csr_array(X),
    "memoryview": memoryview(bytes(24)),
    "directions": DATA,
    "moments": MOMENTS,
    "hierarchy": H,
    "profile": PROFILE,
    **frames(),
}

FIT_CALLS: dict[str, Callable[[sr.results.MaxEntFit, Any], object]] = {
    "logpdf": lambda fit, v: fit.logpdf(v),
    "pdf": lambda fit, v: fit.pdf(v),
    "measure": lambda fit, v: fit.entropy(measure=v),
    "sample n": lambda fit, v: fit.sample(v, 0),
    "sample rng": lambda fit, v: fit.sample(2, v),
}


def with_entry(name: str, value: object) -> sr.Moments:
    return sr.Moments.from_dict({**MOMENTS.to_dict(), name: value})


CALLS: dict[str, Callable[[Any], object]] = {
    "Directions": sr.Directions,
    "Directions(normalize)": lambda v: sr.Directions(v, normalize=True),
    "Directions weights": lambda v: sr.Directions(X, v).ess,
    "Directions counts": lambda v: sr.Directions(X, counts=v),
    "Directions normalize": lambda v: sr.Directions(X, normalize=v),
    "from_angles": sr.Directions.from_angles,
    "from_angles weights": lambda v: sr.Directions.from_angles(ANGLES, weights=v),
    "from_lonlat lon": lambda v: sr.Directions.from_lonlat(v, ANGLES),
    "from_lonlat lat": lambda v: sr.Directions.from_lonlat(ANGLES, v),
    "within_span": DATA.within_span,
    "blocks": lambda v: next(DATA.blocks(v)),
    "profile": lambda v: sr.profile(v).deficits,
    "profile weights": lambda v: sr.profile(X, weights=v, levels=2).gaps,
    "profile levels": lambda v: sr.profile(X, levels=v),
    "profile hierarchy": lambda v: sr.profile(X, hierarchy=v),
    "profile shrinkage": lambda v: sr.profile(X, levels=2, shrinkage=v),
    "profile levels in R^5": lambda v: sr.profile(unit(20, 5), levels=v),
    "profile moments levels": lambda v: sr.profile(MOMENTS, levels=v),
    "profiles": lambda v: sr.profiles(v, weights=np.ones((2, 3))),
    "profiles weights": lambda v: sr.profiles(X, weights=v),
    "profiles levels": lambda v: sr.profiles(X, weights=W[None], levels=v),
    "Moments directions": lambda v: sr.Moments.from_directions(v, H),
    "Moments hierarchy": lambda v: sr.Moments.from_directions(DATA, v),
    "expectations hierarchy": lambda v: sr.Moments.from_expectations(v, np.zeros(8)),
    "expectations features": lambda v: sr.Moments.from_expectations(H, v),
    "expectations n": lambda v: sr.Moments.from_expectations(H, np.zeros(8), n=v),
    "from_dict": sr.Moments.from_dict,
    **{f"from_dict {name}": partial(with_entry, name) for name in MOMENTS.to_dict()},
    "up_to": MOMENTS.up_to,
    "Harmonics d": lambda v: sr.Harmonics(v, 2),
    "Harmonics levels": lambda v: sr.Harmonics(3, v).dims,
    "Harmonics levels on the circle": lambda v: sr.Harmonics(2, v).dims,
    "family": H.family,
    "FisherBingham eta": lambda v: sr.FisherBingham(v, np.zeros((3, 3))),
    "FisherBingham B": lambda v: sr.FisherBingham(np.zeros(3), v),
    "hessian_product eta": lambda v: LAW.hessian_product(v, np.zeros((3, 3))),
    "hessian_product B": lambda v: LAW.hessian_product(np.zeros(3), v),
    **{
        f"{method} of level {fit.level} in R^{fit.space.d}, {type(fit).__name__}": partial(
            call, fit
        )
        for fit in (*PROFILE.fits, HIGH.fits[2], LAW)
        for method, call in FIT_CALLS.items()
    },
    "boundary": lambda v: sr.boundary(v, levels=2),
    "boundary levels": lambda v: sr.boundary(X, levels=v),
    "boundary weights": lambda v: sr.boundary(X, levels=2, weights=v),
    "ridge": lambda v: ridge(v, 0.01, levels=2),
    "ridge alpha": lambda v: ridge(X, v, levels=2),
    "ridge levels": lambda v: ridge(X, 0.01, levels=v),
    "ridge weights": lambda v: ridge(X, 0.01, levels=2, weights=v),
    "Shrinkage": sr.Shrinkage,
    "Shrinkage toward": lambda v: sr.Shrinkage(0.1, v),
    "read_directions": sr.read_directions,
    "read a file that is no table": lambda v: sr.read_directions(FILE, columns=v),
    "load": sr.examples.load,
    "Poisson": sr.kernels.Poisson,
    "Heat": sr.kernels.Heat,
    "von Mises-Fisher kernel": sr.kernels.VonMisesFisherKernel,
    "sensitivity epsilons": lambda v: PROFILE.sensitivity(v, rotations=1),
    "sensitivity rotations": lambda v: PROFILE.sensitivity((0.01,), rotations=v),
    "sensitivity seed": lambda v: PROFILE.sensitivity((0.01,), rotations=1, seed=v),
    "certificate": CERTIFICATE,
}


def trouble(call: Callable[[Any], object], value: object, own: type[Exception]) -> str:
    """What went wrong, if anything but a result or a sentence of ours."""
    try:
        call(value)
    except own as error:
        return "" if len(str(error)) > 10 else "no words"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


@pytest.mark.parametrize("call", CALLS)
def test_only_errors_of_our_own_leave(call: str) -> None:
    found = {name: trouble(CALLS[call], value, sr.SteradianError) for name, value in VALUES.items()}
    assert {name: words for name, words in found.items() if words} == {}


@pytest.mark.parametrize("which", ["t", "coefficients", "dof"])
def test_tails_refuse_in_words(which: str) -> None:
    def call(value: Any) -> object:
        arguments: dict[str, Any] = {"t": [1.0], "coefficients": np.ones((1, 2)), "dof": 5.0}
        return mixture_sf(**{**arguments, which: value})

    found = {name: trouble(call, value, sr.InvalidArgument) for name, value in VALUES.items()}
    assert {name: words for name, words in found.items() if words} == {}


def many_levels(levels: int) -> sr.results.Profile:
    """Spectra of the first grids are shorter than the window that was looked at."""
    angles = np.random.default_rng(1).vonmises(0.0, 2.0, 500)
    return sr.profile(sr.Directions.from_angles(angles), levels=levels)


def test_many_levels_on_the_circle_are_judged() -> None:
    p = many_levels(16)
    assert np.isfinite(p.intervals().high).all()
    assert np.isfinite(p.tests(replicates=19).pvalue).any()


@pytest.mark.slow
@pytest.mark.parametrize("levels", [16, 29])
def test_many_levels_on_the_circle_answer_every_question(levels: int) -> None:
    p = many_levels(levels)
    assert "Is there more structure?" in str(p)
    assert np.isfinite(p.intervals().high).all()
    assert np.isfinite(p.tests(replicates=19).pvalue).any()


def test_intervals_of_a_law_too_sharp_for_its_curvature() -> None:
    angles = np.random.default_rng(1).vonmises(0.0, 1e5, 40)
    p = sr.profile(sr.Directions.from_angles(angles), levels=3)
    assert np.isfinite(p.intervals().high).all()
