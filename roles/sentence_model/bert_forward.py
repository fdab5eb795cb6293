"""Compute the vectors of sentences in numpy, as all-MiniLM-L6-v2 (an encoder as BERT's) does."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file
from tokenizers import Tokenizer

Floats: TypeAlias = NDArray[np.float32]

MAX_TOKENS = 256
"""What the model reads of a text; its authors trained it on no more."""
_EPSILON = np.float32(1e-12)
_MASKED = np.float32(-1e9)


@dataclass(frozen=True)
class _Layer:
    """The weights of one layer, transposed for `x @ w`."""

    query_key_value: tuple[Floats, Floats]
    attended: tuple[Floats, Floats]
    attended_norm: tuple[Floats, Floats]
    widened: tuple[Floats, Floats]
    narrowed: tuple[Floats, Floats]
    narrowed_norm: tuple[Floats, Floats]


@dataclass(frozen=True)
class SentenceModel:
    """A loaded model; `encode` may be called by several threads at once."""

    tokenizer: Tokenizer
    heads: int
    embeddings: dict[str, Floats]
    layers: tuple[_Layer, ...]

    @classmethod
    def load(cls, folder: Path) -> "SentenceModel":
        """Read config.json, tokenizer.json and model.safetensors (90 MB, about a second)."""
        config: dict[str, Any] = json.loads((folder / "config.json").read_text())
        weights = load_file(str(folder / "model.safetensors"))
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        tokenizer.no_padding()
        tokenizer.enable_truncation(MAX_TOKENS)
        layers = (_layer(weights, number) for number in range(config["num_hidden_layers"]))
        embeddings = {
            name.removeprefix("embeddings."): value
            for name, value in weights.items()
            if name.startswith("embeddings.") and value.dtype.kind == "f"
        }
        return cls(tokenizer, config["num_attention_heads"], embeddings, tuple(layers))

    def encode(self, texts: Sequence[str]) -> Floats:
        """Return one vector of length 1 per text, shape (texts, dimension).

        All texts are computed as one batch that is as wide as the longest: give texts of
        similar length.
        """
        tokens = [encoding.ids for encoding in self.tokenizer.encode_batch(list(texts))]
        width = max(map(len, tokens))
        ids = np.zeros((len(tokens), width), np.int64)
        held = np.zeros((len(tokens), width), np.float32)
        for row, each in enumerate(tokens):
            ids[row, : len(each)] = each
            held[row, : len(each)] = 1
        hidden = self._embedded(ids)
        bias = ((1 - held) * _MASKED)[:, None, None, :]
        for layer in self.layers:
            hidden = _passed_through(layer, hidden, bias, self.heads)
        means = (hidden * held[:, :, None]).sum(1) / held.sum(1, keepdims=True)
        vectors: Floats = means / np.linalg.norm(means, axis=1, keepdims=True)
        return vectors

    def _embedded(self, ids: NDArray[np.int64]) -> Floats:
        tables = self.embeddings
        summed = (
            tables["word_embeddings.weight"][ids]
            + tables["position_embeddings.weight"][: ids.shape[1]]
            + tables["token_type_embeddings.weight"][0]
        )
        return _normed(summed, (tables["LayerNorm.weight"], tables["LayerNorm.bias"]))


def _layer(weights: dict[str, Floats], number: int) -> _Layer:
    def pair(name: str) -> tuple[Floats, Floats]:
        at = f"encoder.layer.{number}.{name}"
        return weights[f"{at}.weight"], weights[f"{at}.bias"]

    def transposed(name: str) -> tuple[Floats, Floats]:
        weight, bias = pair(name)
        return np.ascontiguousarray(weight.T), bias

    parts = [pair(f"attention.self.{name}") for name in ("query", "key", "value")]
    together = (
        np.ascontiguousarray(np.concatenate([weight for weight, _ in parts]).T),
        np.concatenate([bias for _, bias in parts]),
    )
    return _Layer(
        together,
        transposed("attention.output.dense"),
        pair("attention.output.LayerNorm"),
        transposed("intermediate.dense"),
        transposed("output.dense"),
        pair("output.LayerNorm"),
    )


def _passed_through(layer: _Layer, hidden: Floats, bias: Floats, heads: int) -> Floats:
    count, width, size = hidden.shape
    each = size // heads
    flat: Floats = hidden.reshape(-1, size)
    parts = _linear(flat, layer.query_key_value).reshape(count, width, 3, heads, each)
    query, key, value = parts.transpose(2, 0, 3, 1, 4)
    scores = query @ key.transpose(0, 1, 3, 2)
    scores *= np.float32(each**-0.5)
    scores += bias
    scores -= scores.max(-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(-1, keepdims=True)
    seen = (scores @ value).transpose(0, 2, 1, 3).reshape(-1, size)
    flat = _normed(flat + _linear(seen, layer.attended), layer.attended_norm)
    wide = _gelu(_linear(flat, layer.widened))
    flat = _normed(flat + _linear(wide, layer.narrowed), layer.narrowed_norm)
    return flat.reshape(count, width, size)


def _linear(values: Floats, layer: tuple[Floats, Floats]) -> Floats:
    weight, bias = layer
    product: Floats = values @ weight
    product += bias
    return product


def _normed(values: Floats, layer: tuple[Floats, Floats]) -> Floats:
    weight, bias = layer
    away = values - values.mean(-1, keepdims=True)
    spread = np.sqrt((away * away).mean(-1, keepdims=True) + _EPSILON)
    normed: Floats = away / spread * weight + bias
    return normed


def _gelu(values: Floats) -> Floats:
    """Return GELU with the error function of Abramowitz and Stegun 7.1.26, exact to 1.5e-7."""
    scaled = np.abs(values) * np.float32(0.5**0.5)
    t: Floats = np.float32(1) / (1 + np.float32(0.3275911) * scaled)
    series: Floats = np.full_like(t, 1.061405429)
    for coefficient in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        series *= t
        series += np.float32(coefficient)
    series *= t
    error = np.copysign(1 - series * np.exp(-scaled * scaled), values)
    gelu: Floats = values * (np.float32(0.5) * (1 + error))
    return gelu
