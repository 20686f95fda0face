"""A picture to the objects in it, by `yolov5s`; Triton's Python backend loads this file."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import triton_python_backend_utils as pb_utils
from detections import detections, letterbox
from pictures import PictureError, read_picture


class TritonPythonModel:
    """`img` BYTES [1], a picture in base64, to `result` BYTES [1]: JSON, a list for each object.

    It holds the class, the score, x1, x2, y1, y2 in the letterbox of 640 x 640, and the picture's width and
    height.
    """

    def execute(self, requests: list[Any]) -> list[Any]:
        return [self._answer(request) for request in requests]

    def _answer(self, request: Any) -> Any:
        (encoded,) = pb_utils.get_input_tensor_by_name(request, "img").as_numpy()
        try:
            picture = read_picture(encoded)
        except PictureError as error:
            problem = pb_utils.TritonError(str(error), pb_utils.TritonError.INVALID_ARG)
            return pb_utils.InferenceResponse(error=problem)
        response = pb_utils.InferenceRequest(
            model_name="yolov5s",
            requested_output_names=["output"],
            inputs=[pb_utils.Tensor("images", letterbox(picture))],
            # The engine would leave them in the GPU's, which numpy cannot read.
            preferred_memory=pb_utils.PreferredMemory(pb_utils.TRITONSERVER_MEMORY_CPU),
        ).exec()
        if response.has_error():
            return pb_utils.InferenceResponse(error=response.error())
        (rows,) = pb_utils.get_output_tensor_by_name(response, "output").as_numpy()
        objects = [
            [int(number), float(score), float(x1), float(x2), float(y1), float(y2), *picture.size]
            for (x1, y1, x2, y2), number, score in zip(*detections(rows), strict=True)
        ]
        result = np.array([json.dumps(objects).encode()], np.object_)
        return pb_utils.InferenceResponse([pb_utils.Tensor("result", result)])
