"""A stand-in for Triton's TensorRT backend: the ONNX model inside a stand-in's plan, on the CPU.

Triton loads it as a Python-based backend for every model with `platform: "tensorrt_plan"` or
`backend: "tensorrt"`. Names and types are those that a real plan of that TensorRT has. Numbers are ONNX
Runtime's in the model's own precision, whatever precision the engine was asked for. It knows neither
optimisation profiles nor the GPU that `cc_model_filenames` asks for: of the plans that the configuration
names it takes the first that a stand-in has built, and no real one.

Source: triton-inference-server/tensorrt_backend, src/instance_state.cc, ValidateIO,
InitializeExecuteInputBinding and InitIOBindingBuffers, for what is refused and in which words.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import triton_python_backend_utils as pb_utils

from fleet_emulator.stand_ins.engines.stand_in_plan import NoStandInError, StandInPlan, read_stand_in_plan
from fleet_emulator.stand_ins.triton.stand_in_instance import Array, Arrays, OnnxInstance, with_tensors
from triton_fleet.builds.engines.model_fit import plan_type
from triton_fleet.repository.contents import OnnxTensor

PLAN = "model.plan"


class TritonPythonModel(OnnxInstance):
    """One instance of one plan that a stand-in has built."""

    ERROR_PREFIX = "stand-in for TensorRT, onnx runtime error"

    @staticmethod
    def auto_complete_config(config: Any) -> Any:
        """Nothing: a real plan would know the batches of its profile as well, and this one has none.

        Raises:
            TritonModelException: inputs or outputs are left out.
        """
        return with_tensors(
            config, "its plan; on this machine the plan is a stand-in, which does not know its batches"
        )

    def initialize(self, args: dict[str, str]) -> None:
        """Load the ONNX model of the plan, and log that this is a stand-in."""
        config = json.loads(args["model_config"])
        name = config["name"]
        plan = _plan(config, Path(args["model_repository"]) / args["model_version"])
        self.open(config, plan.model)
        self.narrow_tensors = self._narrowed_tensors(plan)
        pb_utils.Logger.log_info(
            f"stand-in for TensorRT {plan.tensorrt}: ONNX Runtime computes model '{name}' on the CPU"
        )

    def _narrowed_tensors(self, plan: StandInPlan) -> frozenset[str]:
        """The tensors of 64 bits that have 32 in the plan."""
        tensors = (("input", plan.graph.inputs), ("output", plan.graph.outputs))
        return frozenset(
            name for kind, group in tensors for name in self._check_tensors(kind, group, plan.tensorrt)
        )

    def _check_tensors(self, kind: str, tensors: Sequence[OnnxTensor], tensorrt: str) -> list[str]:
        data_types = {tensor["name"]: tensor["data_type"] for tensor in self.config[kind]}
        name, narrow_tensors = self.config["name"], []
        for tensor in tensors:
            has = plan_type(tensor.data_type, tensorrt)
            if tensor.name not in data_types:
                raise pb_utils.TritonModelException(
                    f"expected configuration for {kind} '{tensor.name}' for {name}"
                )
            if data_types[tensor.name] != has:
                raise pb_utils.TritonModelException(
                    f"unexpected datatype {has} for inference {kind} '{tensor.name}', expecting"
                    f" {data_types[tensor.name]} for {name}"
                )
            if has != tensor.data_type:
                narrow_tensors.append(tensor.name)
        return narrow_tensors

    def feed(self, request: Any) -> Arrays:
        """The request's tensors in the types of the ONNX model."""
        arrays = super().feed(request)
        return {
            name: array.astype(np.int64) if name in self.narrow_tensors else array
            for name, array in arrays.items()
        }

    def as_shape(self, name: str, array: Array) -> Array:
        """The array in the shape and the type that the configuration promises."""
        return super().as_shape(name, array.astype(np.int32) if name in self.narrow_tensors else array)


def _plan(config: dict[str, Any], folder: Path) -> StandInPlan:
    files = [*config.get("cc_model_filenames", {}).values(), config.get("default_model_filename") or PLAN]
    reasons = []
    for file in dict.fromkeys(files):
        try:
            return read_stand_in_plan((folder / file).read_bytes())
        except (OSError, NoStandInError) as error:
            reasons.append(f"{file}: {error.strerror if isinstance(error, OSError) else error}")
    raise pb_utils.TritonModelException(f"model '{config['name']}', {'; '.join(reasons)}")
