"""A picture to its three best classes, by `resnet`; Triton's Python backend loads this file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import triton_python_backend_utils as pb_utils
from pictures import PictureError, read_picture
from PIL import Image

SIDE, BEST = 224, 3


class TritonPythonModel:
    """`img` BYTES [1], a picture in base64, to `result` BYTES [1]: a JSON list of "score:index:label"."""

    def initialize(self, args: dict[str, str]) -> None:
        file = Path(args["model_repository"]).with_name("resnet") / "labels.txt"
        try:
            self.labels = file.read_text("utf-8").splitlines()
        except OSError as error:
            raise pb_utils.TritonModelException(f"the labels of resnet cannot be read: {error}") from error

    def execute(self, requests: list[Any]) -> list[Any]:
        return [self._answer(request) for request in requests]

    def _answer(self, request: Any) -> Any:
        (encoded,) = pb_utils.get_input_tensor_by_name(request, "img").as_numpy()
        try:
            pixels = pixels_of(read_picture(encoded))
        except PictureError as error:
            problem = pb_utils.TritonError(str(error), pb_utils.TritonError.INVALID_ARG)
            return pb_utils.InferenceResponse(error=problem)
        response = pb_utils.InferenceRequest(
            model_name="resnet",
            requested_output_names=["output"],
            inputs=[pb_utils.Tensor("input", pixels)],
            # The engine would leave them in the GPU's, which numpy cannot read.
            preferred_memory=pb_utils.PreferredMemory(pb_utils.TRITONSERVER_MEMORY_CPU),
        ).exec()
        if response.has_error():
            return pb_utils.InferenceResponse(error=response.error())
        (scores,) = pb_utils.get_output_tensor_by_name(response, "output").as_numpy()
        result = np.array([json.dumps(best_classes(scores, self.labels)).encode()], np.object_)
        return pb_utils.InferenceResponse([pb_utils.Tensor("result", result)])


def pixels_of(picture: Image.Image) -> np.ndarray[Any, np.dtype[np.float32]]:
    """The whole picture, stretched to a square: FP32 [1, 3, 224, 224], 0 to 1."""
    square = np.asarray(picture.resize((SIDE, SIDE)), np.float32) / np.float32(255)
    return np.ascontiguousarray(square.transpose(2, 0, 1)[None])


def best_classes(scores: np.ndarray[Any, np.dtype[np.float32]], labels: list[str]) -> list[str]:
    """The best classes in the form of Triton's classification extension; of equals the lower is first."""
    best = np.argsort(-scores, kind="stable")[:BEST]
    return [f"{scores[index]:f}:{index}:{labels[index]}" for index in best]
