"""Version 1 asks version 1 of `bert_base`; Triton's Python backend loads this file."""

from __future__ import annotations

from typing import Any

import triton_python_backend_utils as pb_utils
from masked_text import MaskedTextModel


class TritonPythonModel(MaskedTextModel):
    """As `MaskedTextModel` has it."""

    def ask(self, inputs: list[Any]) -> Any:
        return pb_utils.InferenceRequest(
            model_name="bert_base",
            model_version=1,
            requested_output_names=["output"],
            inputs=inputs,
            # ONNX Runtime may leave them in the GPU's, which numpy cannot read.
            preferred_memory=pb_utils.PreferredMemory(pb_utils.TRITONSERVER_MEMORY_CPU),
        ).exec()
