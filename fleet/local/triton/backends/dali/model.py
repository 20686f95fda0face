"""A stand-in for Triton's DALI backend: the serialised pipeline of a model, on the CPU.

Triton loads it as a Python-based backend for every model with `backend: "dali"`. It runs those that decode
images, resize, crop and normalise them, and refuses every other by the name of what it does not know. Those
written as Python (`dali.py`) need DALI itself.

Source: triton-inference-server/dali_backend r25.04, src/dali_model.h and src/dali_model_instance.cc, for what
is refused and for the samples: the first dimension of an input counts them, with and without batches.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import triton_python_backend_utils as pb_utils

from fleet.local.dali.images import Array, ImageError
from fleet.local.dali.model import NotServedError, load


class TritonPythonModel:
    """One instance of one pipeline."""

    @staticmethod
    def auto_complete_config(config: Any) -> Any:
        """Nothing: a real pipeline would be asked for what is left out.

        Raises:
            TritonModelException: inputs or outputs are left out.
        """
        given = config.as_dict()
        if given["input"] and given["output"]:
            return config
        raise pb_utils.TritonModelException(
            f"model '{given['name']}' leaves inputs or outputs to its pipeline, which on this machine a"
            " stand-in for DALI serves: write `input`, `output` and `max_batch_size` into config.pbtxt"
        )

    def initialize(self, args: dict[str, str]) -> None:
        """Load the pipeline, and say in the server's log that this is a stand-in."""
        config = json.loads(args["model_config"])
        try:
            self.graph = load(Path(args["model_repository"]) / args["model_version"], config)
        except NotServedError as error:
            raise pb_utils.TritonModelException(str(error)) from None
        self.outputs = [tensor["name"] for tensor in config["output"]]
        pb_utils.Logger.log_info(
            f"stand-in for DALI: numpy and Pillow run the pipeline of model '{config['name']}' on the CPU"
        )

    def execute(self, requests: list[Any]) -> list[Any]:
        """One response per request."""
        return [self._response(request) for request in requests]

    def _response(self, request: Any) -> Any:
        inputs = {tensor.name(): tensor.as_numpy() for tensor in request.inputs()}
        try:
            tensors = dict(zip(self.outputs, self._batch(inputs), strict=True))
        except ImageError as error:
            return pb_utils.InferenceResponse(error=pb_utils.TritonError(f"stand-in for DALI: {error}"))
        wanted = request.requested_output_names()
        return pb_utils.InferenceResponse([pb_utils.Tensor(name, tensors[name]) for name in wanted])

    def _batch(self, inputs: dict[str, Array]) -> list[Array]:
        """Each output of all samples in one array."""
        if len({len(array) for array in inputs.values()}) > 1:
            raise ImageError("Each input in a request must have the same batch size.")
        samples = [
            self.graph.run(dict(zip(inputs, sample, strict=True)))
            for sample in zip(*inputs.values(), strict=True)
        ]
        outputs = []
        for name, arrays in zip(self.outputs, zip(*samples, strict=True), strict=True):
            shapes = {array.shape for array in arrays}
            if len(shapes) > 1:
                raise ImageError(f"the samples of output '{name}' differ in shape: {sorted(shapes)}")
            outputs.append(np.stack(arrays))
        return outputs
