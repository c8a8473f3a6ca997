"""The sentence model in NumPy, beside numbers of PyTorch's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

import minilm
import steradian as sr

CAT = ["The cat sits on the mat.", "A cat is sitting on a rug."]
SHARES = [
    "Stock prices fell sharply on Monday.",
    "Shares dropped steeply at the start of the week.",
]
# sentence-transformers 6.2.0 on PyTorch 2.13.0 (CPU), single precision; sums of a few hundred
# terms of size one are good to 1e-5 in any order of summation.
ATOL = 2e-5
COSINES = [0.7688794, 0.0318074, 0.0507942, 0.0658658, 0.0478605, 0.6375219]
COORDINATES = [0.1341771, -0.0199058, -0.0087283, 0.0761552, 0.0601219]  # 0, 100, 200, 300, 383
HIDDEN = [  # of "cat" after 0 to 6 layers, coordinates 0, 50, 383
    [0.4196445, -0.4698115, -0.5034626],
    [0.2968933, -0.1960135, -1.2396780],
    [0.3672929, -0.2492963, -1.2061510],
    [0.5281040, -0.5475910, -1.4306763],
    [0.7550916, -0.7329371, -1.8216598],
    [0.6359764, -0.7573453, -1.9770952],
    [1.2942039, -0.7703037, 0.0223693],
]
ATTENTION = {  # of "sits" in (layer, head), counted from 0
    (0, 0): [0.488951, 0.056837, 0.01734, 0.06529, 0.093562, 0.04846, 0.040492, 0.050334, 0.138734],
    (5, 11): [0.053891, 0.00394, 0.843484, 0.042211, 0.00124, 0.00438, 0.0404, 0.005155, 0.005299],
}


@pytest.fixture(scope="module")
def model() -> minilm.MiniLM:
    try:
        return minilm.load()
    except sr.MissingExtra as error:
        pytest.skip(str(error))


def test_tokens(model: minilm.MiniLM) -> None:
    assert model.tokens(CAT[:1])[0].tolist() == [
        101,
        1996,
        4937,
        7719,
        2006,
        1996,
        13523,
        1012,
        102,
    ]
    assert model.trace("Ünïcode").tokens == ("[CLS]", "unicode", "[SEP]")
    assert model.trace("").tokens == ("[CLS]", "[SEP]")
    assert len(model.tokens(["word " * 400])[0]) == minilm.MOST_TOKENS


def test_sentence_vectors(model: minilm.MiniLM) -> None:
    x = model.encode([*CAT, *SHARES])
    np.testing.assert_allclose(np.linalg.norm(x, axis=1), 1.0, atol=1e-6)
    np.testing.assert_allclose((x @ x.T)[np.triu_indices(4, 1)], COSINES, atol=ATOL)
    np.testing.assert_allclose(x[0, [0, 100, 200, 300, 383]], COORDINATES, atol=ATOL)


def test_every_layer(model: minilm.MiniLM) -> None:
    trace = model.trace(CAT[0])
    hidden = np.stack([trace.embedded, *(layer.hidden[0] for layer in trace.layers)])
    np.testing.assert_allclose(hidden[:, 2][:, [0, 50, 383]], HIDDEN, atol=ATOL)
    for (layer, head), row in ATTENTION.items():
        np.testing.assert_allclose(trace.layers[layer].attention[0, head, 3], row, atol=ATOL)


def test_attention_is_what_queries_and_keys_say(model: minilm.MiniLM) -> None:
    for layer in model.trace(SHARES[1]).layers:
        t = layer.hidden.shape[1]
        assert layer.queries.shape == layer.keys.shape == layer.values.shape == (1, 12, t, 32)
        assert layer.attention.shape == (1, 12, t, t)
        np.testing.assert_allclose(layer.attention.sum(axis=-1), 1.0, atol=1e-5)
        odds = np.log(layer.attention[..., 1:] / layer.attention[..., :1])
        further = layer.keys[..., 1:, :] - layer.keys[..., :1, :]
        scores = np.einsum("bhid,bhjd->bhij", layer.queries, further) / np.sqrt(32.0)
        np.testing.assert_allclose(odds, scores, atol=1e-3)


def test_texts_do_not_see_each_other(model: minilm.MiniLM) -> None:
    together = model.encode([*CAT, *SHARES])
    alone = np.vstack([model.encode([text]) for text in (*CAT, *SHARES)])
    np.testing.assert_allclose(together, alone, atol=ATOL)


def test_paraphrases_are_near_and_others_far(model: minilm.MiniLM) -> None:
    near = [
        ("How do I open a file?", "What is the way to open a file?"),
        ("It raises an error when the key is missing.", "A missing key causes an exception."),
        ("The river flooded the village.", "The village was under water when the river rose."),
    ]
    x = model.encode([text for pair in near for text in pair]).reshape(3, 2, -1)
    cosines = np.einsum("iad,jbd->ijab", x, x)
    of_pairs = [cosines[k, k, 0, 1] for k in range(3)]
    of_others = [cosines[i, j].max() for i in range(3) for j in range(i)]
    assert min(of_pairs) > max(of_others) + 0.2


def test_rows_of_equal_length_go_together() -> None:
    lengths = [3, 5000, 3, 2048, 2048, 2048, 3]
    found = minilm.batches(lengths)
    assert sorted(row for rows in found for row in rows) == list(range(7))
    for rows in found:
        assert len({lengths[row] for row in rows}) == 1
        assert len(rows) == 1 or sum(lengths[row] for row in rows) <= minilm.AT_ONCE


def test_functions_between_layers() -> None:
    x = np.linspace(-6.0, 6.0, 101, dtype=np.float32)
    np.testing.assert_allclose(minilm.gelu(x), x * norm.cdf(x), atol=1e-6)
    large = np.array([[1e4, 1e4 + 1.0, -np.inf]], dtype=np.float32)
    np.testing.assert_allclose(
        minilm.softmax(large), [[1 / (1 + np.e), np.e / (1 + np.e), 0.0]], rtol=1e-5
    )


def test_what_is_missing_is_named_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        minilm, "find_spec", lambda name: None if name == "tokenizers" else object()
    )
    minilm.load.cache_clear()
    with pytest.raises(
        sr.MissingExtra, match=r"needs tokenizers; install with: pip install .*--no-deps"
    ):
        minilm.load()
