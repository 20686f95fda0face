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

import triton_python_backend_utils as pb_utils

from fleet_emulator.stand_ins.triton.dali.model import NotServedError, load
from fleet_emulator.stand_ins.triton.stand_in_instance import Arrays, StandInInstance, with_tensors


class TritonPythonModel(StandInInstance):
    """One instance of one pipeline."""

    FAILED = "stand-in for DALI"

    @staticmethod
    def auto_complete_config(config: Any) -> Any:
        """Nothing: a real pipeline would be asked for what is left out.

        Raises:
            TritonModelException: inputs or outputs are left out.
        """
        return with_tensors(config, "its pipeline, which on this machine a stand-in for DALI serves")

    def initialize(self, args: dict[str, str]) -> None:
        """Load the pipeline, and log that this is a stand-in."""
        self.take(json.loads(args["model_config"]))
        try:
            self.graph = load(Path(args["model_repository"]) / args["model_version"], self.config)
        except NotServedError as error:
            raise pb_utils.TritonModelException(str(error)) from None
        pb_utils.Logger.log_info(
            f"{self.FAILED}: numpy and Pillow run the pipeline of model '{self.config['name']}' on the CPU"
        )

    def _batch_key(self, feed: object, index: int) -> object:
        """Each request alone: a batch saves nothing here, and one invalid image would fail all of it."""
        return index

    def compute(self, feed: Arrays) -> Arrays:
        """What the pipeline makes of the samples of one request."""
        return dict(zip(self.outputs, self.graph.batch(feed), strict=True))
