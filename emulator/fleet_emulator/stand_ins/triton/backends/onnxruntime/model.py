"""A stand-in for Triton's C++ ONNX Runtime backend: the same configurations and files, on the CPU.

Triton loads it as a Python-based backend for every model with `platform: "onnxruntime_onnx"` or
`backend: "onnxruntime"`. It answers with the numbers of ONNX Runtime, not with the speed of the C++ backend,
and knows neither execution accelerators nor sequence states. It refuses models that are newer than the ONNX
Runtime of the image reads: this machine's is newer.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import triton_python_backend_utils as pb_utils

from fleet_emulator.stand_ins.triton.stand_in_instance import OnnxInstance, ort
from fleet_emulator.triton_backends import RELEASE_VARIABLE
from triton_fleet.repository.onnx.graph import read_header
from triton_fleet.repository.onnx.versions import version_problem
from triton_fleet.repository.stream import FileStream

DATA_TYPES = {
    "tensor(bool)": "TYPE_BOOL",
    "tensor(double)": "TYPE_FP64",
    "tensor(float)": "TYPE_FP32",
    "tensor(float16)": "TYPE_FP16",
    "tensor(string)": "TYPE_STRING",
    **{
        f"tensor({sign}int{bits})": f"TYPE_{sign.upper()}INT{bits}"
        for sign in ("", "u")
        for bits in (8, 16, 32, 64)
    },
}


def _check_versions(file: Path) -> None:
    """Refuse a model as the ONNX Runtime of the release does.

    Raises:
        TritonModelException: its format, or an operator set, is newer than that ONNX Runtime reads.
    """
    if not file.is_file():
        return
    with file.open("rb") as content:
        size = file.stat().st_size
        header = read_header(FileStream(content, size), size)
    if problem := version_problem(header, os.environ[RELEASE_VARIABLE]):
        raise pb_utils.TritonModelException(f"onnx runtime error 1: Load model from {file} failed:{problem}")


class TritonPythonModel(OnnxInstance):
    """One instance of one ONNX model."""

    @staticmethod
    def auto_complete_config(config: Any) -> Any:
        """Inputs and outputs from the model where the configuration has none, as the C++ backend takes them.

        A model whose tensors all begin with a free dimension gets `max_batch_size: 4` and dynamic batching.
        """
        given = config.as_dict()
        if given["input"] and given["output"]:
            return config
        # Triton passes no path to this method; it is the first argument of the process.
        file = Path("/proc/self/cmdline").read_bytes().split(b"\0")[1].decode()
        _check_versions(Path(file))
        session = ort.InferenceSession(file, providers=["CPUExecutionProvider"])
        tensors = [*session.get_inputs(), *session.get_outputs()]
        if given["max_batch_size"] == 0 and all(
            tensor.shape and isinstance(tensor.shape[0], str) for tensor in tensors
        ):
            config.set_max_batch_size(4)
            config.set_dynamic_batching()
        batching = config.as_dict()["max_batch_size"] > 0
        for kind, add in (("input", config.add_input), ("output", config.add_output)):
            for each in [] if given[kind] else getattr(session, f"get_{kind}s")():
                dims = [dim if isinstance(dim, int) else -1 for dim in each.shape[int(batching) :]]
                add({"name": each.name, "data_type": DATA_TYPES[each.type], "dims": dims or [1]})
        return config

    def initialize(self, args: dict[str, str]) -> None:
        """Load the model, and log that this is a stand-in."""
        config = json.loads(args["model_config"])
        folder = Path(args["model_repository"]) / args["model_version"]
        file = folder / (config.get("default_model_filename") or "model.onnx")
        file = file / "model.onnx" if file.is_dir() else file
        _check_versions(file)
        self.open(config, str(file))
        message = f"stand-in for the ONNX Runtime backend: onnxruntime {ort.__version__} computes model"
        pb_utils.Logger.log_info(f"{message} '{config['name']}' on the CPU")
