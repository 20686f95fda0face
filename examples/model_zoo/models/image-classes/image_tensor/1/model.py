"""An RGB image to the tensor that an ImageNet classifier takes; Triton's Python backend loads this file."""

from __future__ import annotations

from typing import Any

import numpy as np
import triton_python_backend_utils as pb_utils

# Of ImageNet's images scaled to 0..1, by channel.
MEAN = np.array([0.485, 0.456, 0.406], dtype=np.float32)
DEVIATION = np.array([0.229, 0.224, 0.225], dtype=np.float32)


class TritonPythonModel:
    """Turns image UINT8 [224, 224, 3] into tensor FP32 [1, 3, 224, 224]."""

    def execute(self, requests: list[Any]) -> list[Any]:
        return [self._answer(request) for request in requests]

    def _answer(self, request: Any) -> Any:
        image = pb_utils.get_input_tensor_by_name(request, "image").as_numpy()
        normal = (image.astype(np.float32) / 255 - MEAN) / DEVIATION
        tensor = np.ascontiguousarray(normal.transpose(2, 0, 1)[None])
        return pb_utils.InferenceResponse([pb_utils.Tensor("tensor", tensor)])
