"""A text with one [MASK] to the best tokens for it; each version asks the same version of `bert_base`."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import numpy as np
import triton_python_backend_utils as pb_utils
from wordpiece import MASK, WordPiece

MAX_TOKENS = 512
"""The positions that BERT knows."""
MAX_CHARACTERS = 10_000
"""Above, a text is refused before it is split: 512 tokens of a language are less."""
BEST = 5
Array = np.ndarray[Any, Any]


class TextError(ValueError):
    """Why the bytes of `text` cannot be used, for the caller."""


class MaskedTextModel(ABC):
    """`text` BYTES [1] to `result` BYTES [1]: a JSON list of texts, as `token`, with their `score`."""

    def initialize(self, args: dict[str, str]) -> None:
        vocabulary = Path(args["model_repository"]) / "vocab.txt"
        try:
            self.tokenizer = WordPiece(vocabulary.read_text("utf-8").rstrip("\n").split("\n"))
        except OSError as error:
            raise pb_utils.TritonModelException(f"the vocabulary cannot be read: {error}") from error

    @abstractmethod
    def ask(self, inputs: list[Any]) -> Any:
        """The response of a version of `bert_base`."""

    def execute(self, requests: list[Any]) -> list[Any]:
        return [self._answer(request) for request in requests]

    def _answer(self, request: Any) -> Any:
        (encoded,) = pb_utils.get_input_tensor_by_name(request, "text").as_numpy()
        try:
            text, ids = read_text(encoded, self.tokenizer)
        except TextError as error:
            problem = pb_utils.TritonError(str(error), pb_utils.TritonError.INVALID_ARG)
            return pb_utils.InferenceResponse(error=problem)
        tensors = {
            "input_ids": np.array([ids], np.int64),
            "token_type_ids": np.zeros((1, len(ids)), np.int64),
            "attention_mask": np.ones((1, len(ids)), np.int64),
        }
        response = self.ask([pb_utils.Tensor(name, array) for name, array in tensors.items()])
        if response.has_error():
            return pb_utils.InferenceResponse(error=response.error())
        output = pb_utils.get_output_tensor_by_name(response, "output").as_numpy()
        place = ids.index(self.tokenizer.mask)
        texts = [
            {"token": text.replace(MASK, self.tokenizer.tokens[index]), "score": score}
            for index, score in best_tokens(output[0, place])
        ]
        result = np.array([json.dumps(texts, allow_nan=False).encode()], np.object_)
        return pb_utils.InferenceResponse([pb_utils.Tensor("result", result)])


def read_text(encoded: bytes, tokenizer: WordPiece) -> tuple[str, list[int]]:
    """The text and the ids of its tokens.

    Raises:
        TextError: it is not UTF-8, is too long, or has no [MASK] or several.
    """
    try:
        text = encoded.decode("utf-8")
    except UnicodeDecodeError as error:
        raise TextError(f"text is not UTF-8: {error}") from None
    if len(text) > MAX_CHARACTERS:
        raise TextError(f"text has {len(text)} characters, and {MAX_CHARACTERS} are allowed")
    if (masks := text.count(MASK)) != 1:
        raise TextError(f"text has {masks} times {MASK}: write it once, where a token is wanted")
    ids = tokenizer.encode(text)
    if len(ids) > MAX_TOKENS:
        raise TextError(f"text has {len(ids)} tokens, and the model takes {MAX_TOKENS}")
    return text, ids


def best_tokens(logits: Array) -> list[tuple[int, float]]:
    """The ids of the best tokens with their probabilities, best first; of equals the lower is first."""
    shares = np.exp(logits - logits.max())
    shares /= shares.sum()
    return [(int(index), float(shares[index])) for index in np.argsort(-shares, kind="stable")[:BEST]]
