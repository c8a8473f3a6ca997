"""The backbone angles of a protein: how much φ tells about ψ, beside estimates of another kind."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.spatial import cKDTree
from scipy.special import digamma

import steradian as sr
from steradian.numerics.arrays import Array

WHY = "needs MDAnalysisTests: pip install 'steradian[realdata]'"


@pytest.fixture(scope="module")
def angles() -> Array:
    """φ and ψ of the 212 inner residues of adenylate kinase, first frame, in radians."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mda = pytest.importorskip("MDAnalysis", reason=WHY)
        files = pytest.importorskip("MDAnalysisTests.datafiles", reason=WHY)
        from MDAnalysis.analysis.dihedrals import Ramachandran

        protein = mda.Universe(files.PSF, files.DCD).select_atoms("protein")
        found = Ramachandran(protein).run(stop=1).results.angles[0]
    return np.asarray(np.radians(found), dtype=np.float64)


def neighbours(x: Array, k: int = 4) -> float:
    """Mutual information of two angles in nats by k nearest neighbours (Kraskov et al. 2004)."""
    turn = 2.0 * np.pi
    x = np.mod(x, turn)
    away = cKDTree(x, boxsize=turn).query(x, k + 1, p=np.inf)[0][:, -1]
    counts = [
        cKDTree(x[:, [j]], boxsize=turn).query_ball_point(
            x[:, [j]], np.nextafter(away, 0.0), p=np.inf, return_length=True
        )
        for j in (0, 1)
    ]
    return float(digamma(k) + digamma(len(x)) - sum(digamma(c).mean() for c in counts))


def test_what_phi_tells_about_psi(angles: Array) -> None:
    assert angles.shape == (212, 2)
    p = sr.profile(sr.Directions.from_dihedrals(angles), hierarchy=sr.Interactions(2, 2))
    assert p.dims.tolist() == [8, 16]
    np.testing.assert_allclose(p.gaps, [1.577, 0.392], atol=1e-3)
    assert p.tests().pvalue[1] < 1e-3
    found = p.intervals()
    assert 0.15 < found.low[1] < found.debiased[1] < found.high[1] < 0.6
    assert found.low[1] < neighbours(angles) < found.high[1]


def test_permuted_angles_tell_nothing(angles: Array) -> None:
    """No pairing of φ with the ψ of other residues has as large a second gap: p = 1 / 40."""
    rng, h = np.random.default_rng(0), sr.Interactions(2, 2)
    seen = sr.profile(sr.Directions.from_dihedrals(angles), hierarchy=h).gaps[1]
    phi, psi = angles.T
    others = [
        sr.profile(sr.Directions.from_dihedrals(phi, rng.permutation(psi)), hierarchy=h).gaps[1]
        for _ in range(39)
    ]
    assert seen > 2.0 * max(others)
