"""A stand-in for Triton's PyTorch backend: the TorchScript model in torch, on the CPU.

Triton loads it as a Python-based backend for every model with `platform: "pytorch_libtorch"` or
`backend: "pytorch"`. It needs torch in the Python environment of the command that has started Triton. Names,
parameters and refusals are the backend's; numbers and optimisations are those of the torch that is installed.

Source: triton-inference-server/pytorch_backend, src/pt/model_state.cc and src/pt/model_instance_state.cc.
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import triton_python_backend_utils as pb_utils

from fleet_emulator.stand_ins.triton.stand_in_instance import Array, Arrays, StandInInstance
from fleet_emulator.stand_ins.triton.torchscript.tensors import (
    Argument,
    Settings,
    answers,
    check_types,
    input_places,
    output_places,
    read_settings,
)
from fleet_emulator.triton_backends import missing_package
from triton_fleet.repository.file_formats import torchscript_problem

FILE = "model.pt"
UNSUPPORTED_FIELDS = ("sequence_batching", "batch_input", "batch_output")
TYPES = {
    "torch.bool": "TYPE_BOOL",
    "torch.uint8": "TYPE_UINT8",
    **{f"torch.int{bits}": f"TYPE_INT{bits}" for bits in (8, 16, 32, 64)},
    **{f"torch.float{bits}": f"TYPE_FP{bits}" for bits in (16, 32, 64)},
}


class TritonPythonModel(StandInInstance):
    """One instance of one TorchScript model."""

    ERROR_PREFIX = "stand-in for PyTorch's backend"

    def initialize(self, args: dict[str, str]) -> None:
        """Load the model, and log that this is a stand-in."""
        self.take(json.loads(args["model_config"]))
        name = self.config["name"]
        try:
            self._require_supported_fields(name)
            self.settings = read_settings(name, self.parameters)
            file = self._file(name, Path(args["model_repository"]) / args["model_version"])
            self.torch: Any = self._torch(self.settings)
            self.model = self._load_module(name, file)
            inputs = [tensor["name"] for tensor in self.config["input"]]
            self.places = input_places(name, inputs, self._forward(name))
            self.answers = output_places(list(self.outputs))
            for kind in ("input", "output"):
                check_types(name, kind, self.config[kind])
        except ValueError as error:
            raise pb_utils.TritonModelException(str(error)) from None
        torch = f"torch {self.torch.__version__}"
        message = f"{self.ERROR_PREFIX}: {torch} computes model '{name}' on the CPU"
        if self.settings.without_effect:
            message += f"; without effect here: {', '.join(self.settings.without_effect)}"
        pb_utils.Logger.log_info(message)

    def _require_supported_fields(self, name: str) -> None:
        ragged_inputs = [
            tensor["name"] for tensor in self.config["input"] if tensor.get("allow_ragged_batch")
        ]
        fields = [field for field in UNSUPPORTED_FIELDS if self.config.get(field)]
        if fields or ragged_inputs:
            field_name = fields[0] if fields else "allow_ragged_batch"
            raise ValueError(
                f"model '{name}': the stand-in for PyTorch's backend does not know `{field_name}`"
            )

    def _torch(self, settings: Settings) -> Any:
        """The module, set as the parameters want it: there is no other model in this process."""
        package = missing_package("pytorch")
        if package is not None:
            raise ValueError(f"model '{self.config['name']}': {package.problem}: `{package.install}`")
        torch = import_module("torch")
        torch.set_num_threads(self.share if settings.intra_op is None else settings.intra_op)
        if settings.inter_op is not None:
            torch.set_num_interop_threads(settings.inter_op)
        switches = {
            "_jit_set_profiling_executor": settings.executor,
            "_jit_set_profiling_mode": settings.has_profiling,
            "_jit_set_texpr_fuser_enabled": settings.fuser,
        }
        for switch, on in switches.items():
            if on is not None:
                getattr(torch._C, switch)(on)  # torch has no public names for them
        return torch

    def _file(self, name: str, folder: Path) -> Path:
        """The model's file; what cannot be TorchScript is refused before torch is asked for."""
        file = folder / (self.config.get("default_model_filename") or FILE)
        if not file.is_file():
            raise ValueError(f"unable to find '{file}' for model instance '{name}'")
        if problem := torchscript_problem(file):
            raise ValueError(f"failed to load model '{name}': {problem}")
        return file

    def _load_module(self, name: str, file: Path) -> Any:
        try:
            with self._as_set():
                return self.torch.jit.load(str(file), map_location="cpu")
        except RuntimeError as error:
            raise ValueError(f"failed to load model '{name}': {error}") from None

    def _forward(self, name: str) -> list[Argument]:
        if not hasattr(self.model, "forward"):
            raise ValueError(f"model '{name}': its TorchScript has no method 'forward'")
        arguments = self.model.forward.schema.arguments
        return [Argument(argument.name, argument.type.kind(), str(argument.type)) for argument in arguments]

    def _as_set(self) -> ExitStack:
        """The modes in which the backend loads and runs a model."""
        modes = ExitStack()
        modes.enter_context(self.torch.jit.optimized_execution(self.settings.is_optimized))
        modes.enter_context(self.torch.inference_mode(self.settings.inference_mode))
        modes.enter_context(self.torch.no_grad())
        return modes

    def compute(self, feed: Arrays) -> Arrays:
        """Compute with torch."""
        try:
            with self._as_set():
                tensors = {name: self._as_tensor(array) for name, array in feed.items()}
                answer = answers(self.model(*self._arguments(tensors)), self.torch.Tensor)
        except Exception as error:  # an error of TorchScript and one of torch have no class in common
            raise RuntimeError(f"PyTorch execute failure: {error}") from None
        return {name: self._array(name, place, answer) for name, place in self.answers.items()}

    def _as_tensor(self, array: Array) -> Any:
        """A tensor; of texts a list."""
        return array.ravel().tolist() if array.dtype == np.object_ else self.torch.from_numpy(array)

    def _arguments(self, tensors: dict[str, Any]) -> list[Any]:
        if self.places is None:
            return [tensors]
        return [tensors[name] for name in sorted(tensors, key=self.places.__getitem__)]

    def _array(self, name: str, place: int, outputs: tuple[Any, ...]) -> Array:
        if place >= len(outputs):
            raise ValueError(
                f"The output {name} in the model configuration refers to an output index which doesn't exist."
                f" This model has {len(outputs)} outputs"
            )
        answer, data_type = outputs[place], self.outputs[name]["data_type"]
        if isinstance(answer, list):
            return np.array(answer, dtype=np.object_)
        has = TYPES.get(str(answer.dtype), "TYPE_<invalid>")
        if has != data_type:
            raise ValueError(
                f"configuration expects datatype {data_type} for output '{name}', model provides {has}"
            )
        if answer.dim() == 0:
            raise ValueError(f"output '{name}' is a scalar which is not supported.")
        array: Array = answer.detach().contiguous().numpy()
        return array
