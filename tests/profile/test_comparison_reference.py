"""`compare` relative to another law than the uniform one: identities, words, refusals, noise."""

from __future__ import annotations

import numpy as np
import pytest

import steradian as sr
from coded import coded
from comparison_groups import gaussian
from steradian.numerics.arrays import Array

LAW = sr.FisherBingham([0.5, 0.2, 1.0], np.diag([0.5, -0.5, 0.0]))


def exposure(x: Array) -> Array:
    return 1.0 + 0.8 * x[:, 2] + 0.3 * x[:, 0] * x[:, 1]


@pytest.fixture(scope="module")
def groups() -> dict[str, sr.Directions]:
    rng = np.random.default_rng(21)
    return {
        "a": sr.Directions(gaussian(120, np.array([0.5, 0.2, 1.0]), np.ones(3), rng)),
        "b": sr.Directions(gaussian(160, np.array([0.2, 0.2, 1.0]), np.array([1, 0.6, 1]), rng)),
    }


def whole(groups: dict[str, sr.Directions]) -> sr.Directions:
    return sr.Directions(np.concatenate([part.x for part in groups.values()]))


REFERENCES = {
    "density": exposure,
    "law": LAW,
    "mask": sr.Mask(bands=[(-90, -80)], density=exposure),
    "sample": sr.Directions(LAW.sample(300, 1)),
}


@pytest.mark.parametrize("name", REFERENCES)
def test_identities_hold_relative_to_anything(groups: dict[str, sr.Directions], name: str) -> None:
    reference = REFERENCES[name]
    if isinstance(reference, sr.Mask):
        groups = {k: sr.Directions(p.x[reference.sees(p.x)]) for k, p in groups.items()}
    c = sr.compare(groups, reference=reference)
    own = [sr.profile(p, levels=2, reference=reference).deficits[-1] for p in groups.values()]
    pooled = sr.profile(whole(groups), levels=2, reference=reference)
    # D is good to 1e-10 (NUMERICS); sums of a few of them to 1e-9
    assert c.between.sum() == pytest.approx(float(c.shares @ own - pooled.deficits[-1]), abs=1e-9)
    assert (c.between > -1e-12).all()
    assert [c.groups[k].deficits[-1] for k in groups] == pytest.approx(own, abs=1e-9)
    js = c.label_information
    assert 0.0 <= js.value <= min(js.entropy, c.total + js.error + 1e-9)
    assert c.intervals().se.shape == (2,)


def test_a_law_of_the_features_cancels(groups: dict[str, sr.Directions]) -> None:
    """If log p₀ is in V_L, D changes by λ₀·m - ψ₀, whose mean over groups is the pooled one's."""
    plain = sr.compare(groups)
    for reference in (LAW, lambda x: np.ones(len(x)), sr.HealpixMap(np.ones(12), "ring")):
        relative = sr.compare(groups, reference=reference)
        assert relative.between == pytest.approx(plain.between, abs=1e-9)
        assert relative.label_information.value == pytest.approx(
            plain.label_information.value, abs=1e-9
        )


def test_any_dimension_relative_to_a_law() -> None:
    rng = np.random.default_rng(2)
    parts = {
        str(k): sr.Directions(gaussian(n, 0.4 * k * np.eye(10)[0] + 0.3, np.ones(10), rng))
        for k, n in enumerate((150, 200))
    }
    reference = sr.FisherBingham(np.linspace(0.0, 1.0, 10), np.zeros((10, 10)))
    plain, relative = sr.compare(parts), sr.compare(parts, reference=reference)
    assert relative.between == pytest.approx(plain.between, abs=1e-9)
    assert "relative to a Fisher-Bingham law" in repr(relative.hierarchy)


def test_the_first_line_says_relative_to_what(groups: dict[str, sr.Directions]) -> None:
    c = sr.compare(groups, reference=exposure)
    assert (
        str(c)
        .replace("\n", " ")
        .startswith(
            "Comparison of 2 groups on the sphere relative to the density exposure (d = 3), in nats"
        )
    )
    assert max(map(len, str(c).splitlines())) <= 80
    assert c.to_dict()["reference"] == "the density exposure"
    assert sr.compare(groups).to_dict()["reference"] == "uniform"
    assert "beyond the density exposure" in str(c.gap_differences())


def test_what_a_reference_cannot_be(groups: dict[str, sr.Directions]) -> None:
    with pytest.raises(sr.InvalidDirections, match="rows lie where the reference is zero"):
        sr.compare(groups, reference=sr.Mask(bands=[(0, 90)]))
    sums = [sr.Moments.from_directions(p, sr.Harmonics(3, 2)) for p in groups.values()]
    with pytest.raises(sr.InvalidArgument, match="with reference="):
        sr.compare(sums, reference=exposure)


def test_noise_of_a_sampled_reference_is_counted_where_it_is_felt() -> None:
    """Groups that differ in level 1 feel what the reference misses of level 2; others do not."""
    rng = np.random.default_rng(5)
    apart = {
        "a": sr.FisherBingham([1.5, 0.2, 1.0], np.diag([0.5, -0.5, 0.0])).sample(300, 1),
        "c": sr.FisherBingham([-0.5, 0.2, 1.5], np.diag([0.5, -0.5, 0.0])).sample(300, 2),
    }
    few, many = (sr.Directions(LAW.sample(n, rng)) for n in (100, 20_000))
    se = [sr.compare(apart, reference=r).intervals().se for r in (LAW, many, few)]
    assert se[1] == pytest.approx(se[0], rel=0.05)  # n₀ = 20,000 adds under a hundredth of n
    assert se[2][1] > 1.5 * se[1][1]
    known = coded(sr.compare(apart, reference=few).tests(), "few_reference_rows", 2).data
    assert (round(known["rows"], 6), known["features"]) == (100.0, 8)
    same = {"a": LAW.sample(200, 3), "b": LAW.sample(200, 4)}
    kept = [sr.compare(same, reference=r).intervals().se for r in (LAW, few)]
    assert kept[1][0] == pytest.approx(kept[0][0], rel=0.2)
