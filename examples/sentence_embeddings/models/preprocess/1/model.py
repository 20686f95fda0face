"""Sentences to token ids and attention mask, 128 tokens each; Triton's Python backend loads this file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import triton_python_backend_utils as pb_utils
from tokenizers import Tokenizer

TOKENS = 128


class TritonPythonModel:
    """INPUT0 STRING [n, 1] to OUTPUT0 (token ids) and OUTPUT1 (mask), INT32 [n, 128]."""

    def initialize(self, args: dict[str, str]) -> None:
        self.tokenizer = Tokenizer.from_file(str(Path(__file__).with_name("tokenizer.json")))
        # Stated here although the file says the same: a longer text must never reach a model of 128 tokens.
        self.tokenizer.enable_truncation(max_length=TOKENS)
        self.tokenizer.enable_padding(length=TOKENS)

    def execute(self, requests: list[Any]) -> list[Any]:
        return [self._answer(request) for request in requests]

    def _answer(self, request: Any) -> Any:
        sentences = pb_utils.get_input_tensor_by_name(request, "INPUT0").as_numpy()
        try:
            texts = [sentence.decode("utf-8") for sentence in sentences.ravel()]
        except UnicodeDecodeError as error:
            problem = pb_utils.TritonError(f"INPUT0 is not UTF-8: {error}", pb_utils.TritonError.INVALID_ARG)
            return pb_utils.InferenceResponse(error=problem)
        encodings = self.tokenizer.encode_batch(texts)
        ids = np.array([encoding.ids for encoding in encodings], dtype=np.int32)
        mask = np.array([encoding.attention_mask for encoding in encodings], dtype=np.int32)
        return pb_utils.InferenceResponse([pb_utils.Tensor("OUTPUT0", ids), pb_utils.Tensor("OUTPUT1", mask)])
