"""Token embeddings to sentence embeddings of length 1; Triton's Python backend loads this file."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    """TOKEN_EMBEDS_POST FP32 [n, 128, 384] and ATTENTION_POST INT32 [n, 128] to SENT_EMBED FP32 [n, 384]."""

    def initialize(self, args: dict[str, str]) -> None:
        pb_utils.Logger.log_info(f"numpy {np.__version__}, in the environment {sys.prefix}")

    def execute(self, requests: list[Any]) -> list[Any]:
        return [self._answer(request) for request in requests]

    def _answer(self, request: Any) -> Any:
        tokens = pb_utils.get_input_tensor_by_name(request, "TOKEN_EMBEDS_POST").as_numpy()
        mask = pb_utils.get_input_tensor_by_name(request, "ATTENTION_POST").as_numpy()
        weights = mask[:, :, None].astype(np.float32)
        # A row of padding only has no mean; it becomes zeros, not NaN.
        mean = (tokens * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1e-9)
        unit = mean / np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), 1e-12)
        return pb_utils.InferenceResponse([pb_utils.Tensor("SENT_EMBED", unit.astype(np.float32))])
