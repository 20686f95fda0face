"""Probabilities to the best classes, best first; Triton's Python backend loads this file."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    """Turns probabilities FP32 [n, c] into classes INT64 [n, k] and scores FP32 [n, k]; c is at least k."""

    def initialize(self, args: dict[str, str]) -> None:
        given = json.loads(args["model_config"])["parameters"]["k"]["string_value"]
        if not given.isdecimal() or int(given) < 1:
            raise pb_utils.TritonModelException(f"parameter k is {given!r}: write a whole number from 1")
        self.k = int(given)

    def execute(self, requests: list[Any]) -> list[Any]:
        return [self._answer(request) for request in requests]

    def _answer(self, request: Any) -> Any:
        probabilities = pb_utils.get_input_tensor_by_name(request, "probabilities").as_numpy()
        if probabilities.shape[1] < self.k:
            return _refuse(
                f"probabilities has {probabilities.shape[1]} classes, fewer than the {self.k} best"
            )
        if np.isnan(probabilities).any():
            return _refuse("probabilities holds NaN, which is neither better nor worse than a number")
        # Stable, so that of equals the lower class comes first, on every machine.
        classes = np.argsort(-probabilities, axis=1, kind="stable")[:, : self.k]
        scores = np.take_along_axis(probabilities, classes, axis=1)
        return pb_utils.InferenceResponse(
            [pb_utils.Tensor("classes", classes.astype(np.int64)), pb_utils.Tensor("scores", scores)]
        )


def _refuse(problem: str) -> Any:
    return pb_utils.InferenceResponse(error=pb_utils.TritonError(problem, pb_utils.TritonError.INVALID_ARG))
