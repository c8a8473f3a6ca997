"""What the examples on a sentence model compute from its vectors, on numbers anybody can check."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import attention
import docstrings
import embeddings
from isotropy import average_cosine, iso_score
from steradian.numerics.arrays import Array


def cloud(n: int, d: int, seed: int = 0) -> Array:
    x = np.random.default_rng(seed).normal(0.3, 1.0, (n, d))
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))


def test_average_cosine_is_that_of_all_pairs() -> None:
    x = cloud(40, 6)
    pairs = (x @ x.T)[np.triu_indices(40, 1)]
    assert average_cosine(x) == pytest.approx(pairs.mean(), abs=1e-13)


def test_iso_score_is_the_number_of_variances_that_count() -> None:
    """(Σv)² / Σv², from 1 to d, brought to 0 to 1: the same in one step, and without axes."""
    x = np.random.default_rng(1).normal(size=(200, 7)) * np.arange(1, 8)
    covariance = np.cov(x.T)
    counted = np.trace(covariance) ** 2 / np.sum(covariance**2)
    assert iso_score(x) == pytest.approx((counted - 1.0) / 6.0, abs=1e-12)
    cross = np.vstack([np.eye(5), -np.eye(5)])
    assert iso_score(cross) == pytest.approx(1.0, abs=1e-12)
    assert iso_score(np.outer(np.arange(9.0), np.ones(5))) == pytest.approx(0.0, abs=1e-12)


def test_discrepancy_is_the_sum_over_pairs() -> None:
    x, y = cloud(30, 4), cloud(30, 4, seed=1)

    def mean(a: Array, b: Array, same: bool) -> float:
        values = [
            np.exp(embeddings.KAPPA * (float(a[i] @ b[j]) - 1.0))
            for i in range(30)
            for j in range(30)
            if not (same and i == j)
        ]
        return float(np.mean(values))

    seen, floor, pvalue = embeddings.discrepancy(x, y)
    direct = mean(x, x, True) + mean(y, y, True) - 2.0 * mean(x, y, False)
    assert seen == pytest.approx(direct, abs=1e-13)
    assert 0.001 < pvalue < 1.0
    assert floor > 0.0
    far, below, smallest = embeddings.discrepancy(cloud(60, 4) ** 2, -(cloud(60, 4) ** 2))
    assert far > 10.0 * below
    assert smallest == 0.001


def test_nearest_cosine_leaves_out_the_row_itself() -> None:
    x = np.array([[1.0, 0.0], [0.6, 0.8], [-1.0, 0.0]])
    np.testing.assert_allclose(embeddings.nearest_cosine(x), [0.6, 0.6, -0.6])


def test_dead_coordinates_are_left_out() -> None:
    x = np.insert(cloud(20, 4), 2, 1e-20, axis=1)
    np.testing.assert_allclose(embeddings.alive(x), cloud(20, 4), atol=1e-15)


def test_jackknife_debiases_a_variance() -> None:
    x = np.random.default_rng(3).normal(size=attention.GROUPS)
    without = np.array([np.delete(x, k) for k in range(attention.GROUPS)])
    variances = np.array([x.var(), *without.var(axis=1)])
    means = np.array([x.mean(), *without.mean(axis=1)])
    assert attention.jackknife(variances)[0] == pytest.approx(x.var(ddof=1), abs=1e-14)
    value, error = attention.jackknife(means)
    assert value == pytest.approx(x.mean(), abs=1e-14)
    assert error == pytest.approx(x.std(ddof=1) / np.sqrt(attention.GROUPS), abs=1e-14)


def test_attention_moves_the_gaps_of_the_heads_it_should() -> None:
    """Equal attention changes nothing; attention on one side of the keys raises I₁."""
    x = np.broadcast_to(cloud(200, 8), (2, 1, 200, 8))
    received = np.ones((2, 1, 200))
    received[1] = np.exp(8.0 * x[1, :, :, 0])
    ends = np.arange(200) < 20
    change = attention.change_by_attention(
        attention.Keys(x, received, ends, np.arange(200) % attention.GROUPS)
    )
    np.testing.assert_allclose(change.of(False)[0], 0.0, atol=1e-9)
    assert (change.of(True)[1, 0, :, 0] > 0.5).all()
    assert change.share_of_ends == pytest.approx(0.1)
    np.testing.assert_allclose(change.on_ends[0], 0.1)
    means = [x[0, 0, ends].mean(axis=0), x[0, 0, ~ends].mean(axis=0)]
    cosine = means[0] @ means[1] / np.linalg.norm(means[0]) / np.linalg.norm(means[1])
    assert change.facing[0, 0] == pytest.approx(cosine, abs=1e-12)


def change_of(gaps: Array) -> attention.Change:
    """Effective sizes of 50; half of the attention on the ends, at a cosine of a half."""
    half = np.full((6, 12), 0.5)
    return attention.Change(gaps, np.full((6, 12, 4), 50.0), half, half, 0.1)


def queries_of(gaps: Array, seconds: float) -> attention.Queries:
    """As large with shuffled weights, when all are one."""
    ones = np.ones_like(gaps)
    return attention.Queries(gaps, ones, ones[:, :, 0], ones[..., 0], seconds)


def test_pictures_are_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    import attention_figures
    import embeddings_figures

    rng = np.random.default_rng(4)
    layers = [
        embeddings.Isotropy(9, 0.1, 0.2, 0.3, np.array([1.0, 2.0]), np.array([0.1, 0.2]))
        for _ in range(7)
    ]
    sizes = [
        embeddings.Size(n, 2.0, 0.1, np.nan, 1.0, {0.02: 1.0, 0.1: 2.0, 0.3: -1.0})
        for n in (250, 500)
    ]
    near = rng.uniform(size=(3, 40))
    left = embeddings.Remainder(near[0], (near[1], near[2]), (1, 1), (1, 1), (1, 1), (1, 1))
    change = change_of(rng.uniform(size=(6, 12, 6, 4, 2)))
    single = queries_of(rng.uniform(size=(6, 12, 3, 2)), 1.0)
    pictures = (
        embeddings_figures.layers(layers),
        embeddings_figures.sizes(sizes),
        embeddings_figures.neighbours(left),
        attention_figures.changes(change),
        attention_figures.queries(single),
    )
    for number, picture in enumerate(pictures):
        picture.savefig(tmp_path / f"{number}.png")
        assert (tmp_path / f"{number}.png").stat().st_size > 5_000


def test_tables_say_what_was_found(capsys: pytest.CaptureFixture[str]) -> None:
    gaps = np.zeros((6, 12, 6, 4, 2))
    gaps[:, :, :, 1, 0] = -1.0  # attention lowers I₁ by one,
    gaps[:, :, 2, 1, 0] = -1.1  # and by more without the second group: mean -1.02 of the five
    change = change_of(gaps)
    attention.show("texts", change)
    first = capsys.readouterr().out.split("\n| 1 |")[1].splitlines()[0]
    changes = "-0.92 ± 0.08 | 12/0 | +0.00 ± 0.00 | 0/0"  # 5 x -1 + 4 x 1.02; √(4/5 x 0.008)
    assert first == f" 50% | 0.50 | 0.00, 0.00 | 0.320, 5.27 | {changes} |"
    single = queries_of(np.ones((6, 12, 3, 2)), 7.0)
    attention.show_queries(single)
    shown = capsys.readouterr().out
    assert "3 queries of one text of 256 tokens**: 504 fits, 7 s of processor time" in shown
    assert "| 6 | 1.0 | 1.00 | 1.00 (1.00 to 1.00) | 1.00 | +0.00 |" in shown


def test_sentences_are_sentences_and_always_the_same() -> None:
    found = list(
        docstrings._split(
            "A few words make a sentence. No.\n\n>>> code\n\nThis one has five words!"
        )
    )
    assert found == ["A few words make a sentence.", "This one has five words!"]
