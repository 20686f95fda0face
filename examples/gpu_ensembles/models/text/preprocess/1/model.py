"""Sentences to token ids and attention mask, 128 tokens each; Triton's Python backend loads this file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import tokenizers
import triton_python_backend_utils as pb_utils

TOKENS = 128


class TritonPythonModel:
    """INPUT0 STRING [n, 1] to OUTPUT0 (token ids) and OUTPUT1 (mask), INT32 [n, 128]."""

    def initialize(self, args: dict[str, str]) -> None:
        pb_utils.Logger.log_info(f"tokenizers {tokenizers.__version__} of {tokenizers.__file__}")
        self.tokenizer = tokenizers.Tokenizer.from_file(str(Path(__file__).with_name("tokenizer.json")))
        self.tokenizer.enable_truncation(max_length=TOKENS)
        self.tokenizer.enable_padding(length=TOKENS)

    def execute(self, requests: list[Any]) -> list[Any]:
        return [self._answer(request) for request in requests]

    def _answer(self, request: Any) -> Any:
        sentences = pb_utils.get_input_tensor_by_name(request, "INPUT0").as_numpy().ravel()
        try:
            encodings = self.tokenizer.encode_batch([sentence.decode("utf-8") for sentence in sentences])
        except UnicodeDecodeError as error:
            problem = pb_utils.TritonError(f"INPUT0 is not UTF-8: {error}", pb_utils.TritonError.INVALID_ARG)
            return pb_utils.InferenceResponse(error=problem)
        ids = np.array([each.ids for each in encodings], np.int32)
        mask = np.array([each.attention_mask for each in encodings], np.int32)
        return pb_utils.InferenceResponse([pb_utils.Tensor("OUTPUT0", ids), pb_utils.Tensor("OUTPUT1", mask)])
