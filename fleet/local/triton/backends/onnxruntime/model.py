"""A stand-in for Triton's C++ ONNX Runtime backend: the same configurations and files, on the CPU.

Triton loads it as a Python-based backend for every model with `platform: "onnxruntime_onnx"` or
`backend: "onnxruntime"`. It answers with the numbers of ONNX Runtime, not with the speed of the C++ backend,
and knows neither execution accelerators nor sequence states.
"""

from __future__ import annotations

import json
import os
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import triton_python_backend_utils as pb_utils

ort: Any = onnxruntime  # a C extension: its names are not in its types
Array = np.ndarray[Any, Any]
Arrays = dict[str, Array]

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


class TritonPythonModel:
    """One instance of one ONNX model."""

    @staticmethod
    def auto_complete_config(config: Any) -> Any:
        """Inputs and outputs from the model where the configuration has none, as the C++ backend takes them.

        A model whose tensors all begin with a free dimension gets `max_batch_size: 4` and dynamic batching.
        """
        given = config.as_dict()
        if given["input"] and given["output"]:
            return config
        # Triton tells this method no path; it is the first argument of the process.
        file = Path("/proc/self/cmdline").read_bytes().split(b"\0")[1].decode()
        session = ort.InferenceSession(file, providers=["CPUExecutionProvider"])
        tensors = [*session.get_inputs(), *session.get_outputs()]
        if given["max_batch_size"] == 0 and all(
            each.shape and isinstance(each.shape[0], str) for each in tensors
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
        """Load the model; a name that it does not have fails the load, as in the C++ backend."""
        self.config = json.loads(args["model_config"])
        folder = Path(args["model_repository"]) / args["model_version"]
        file = folder / (self.config.get("default_model_filename") or "model.onnx")
        if file.is_dir():
            file = file / "model.onnx"
        self.session = ort.InferenceSession(str(file), self._options(), providers=["CPUExecutionProvider"])
        self.batching = self.config["max_batch_size"] > 0
        self.outputs = {tensor["name"]: tensor for tensor in self.config["output"]}
        wanted = [tensor["name"] for tensor in self.config["input"]]
        self._check("input", wanted, [value.name for value in self.session.get_inputs()])
        self._check("output", list(self.outputs), [value.name for value in self.session.get_outputs()])

    def _options(self) -> Any:
        """The thread counts of the C++ backend's parameters; by default the instances share the cores."""
        parameters = {key: value["string_value"] for key, value in self.config.get("parameters", {}).items()}
        instances = sum(int(group["count"]) for group in self.config["instance_group"])
        share = max(1, (os.cpu_count() or 1) // max(1, instances))
        options = ort.SessionOptions()
        options.intra_op_num_threads = int(parameters.get("intra_op_thread_count", share))
        options.inter_op_num_threads = int(parameters.get("inter_op_thread_count", 1))
        # An idle model must not keep the few cores of a laptop busy.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        return options

    def _check(self, kind: str, wanted: list[str], known: list[str]) -> None:
        for name in wanted:
            if name not in known:
                problem = f"unexpected inference {kind} '{name}', allowed {kind}s are: {', '.join(known)}"
                raise pb_utils.TritonModelException(f"model '{self.config['name']}', {problem}")

    def execute(self, requests: list[Any]) -> list[Any]:
        """One response per request; neighbours whose shapes agree run as one batch."""
        feeds = [_feed(request) for request in requests]
        responses: list[Any] = []
        for _, indexes in groupby(
            range(len(requests)), key=lambda index: self._batch_key(feeds[index], index)
        ):
            together = list(indexes)
            results = self._run([feeds[index] for index in together])
            for index, result in zip(together, results, strict=True):
                responses.append(self._response(requests[index], result))
        return responses

    def _batch_key(self, feed: Arrays, index: int) -> object:
        return [(name, array.shape[1:]) for name, array in sorted(feed.items())] if self.batching else index

    def _run(self, feeds: list[Arrays]) -> list[Any]:
        """The outputs for each feed, or for each the exception that tells why there are none."""
        joined = feeds[0]
        if len(feeds) > 1:
            joined = {name: np.concatenate([feed[name] for feed in feeds]) for name in joined}
        names = list(self.outputs)
        try:
            arrays = self.session.run(names, joined)
        except Exception as error:  # the errors of ONNX Runtime have no class in common
            return [error for _ in feeds]
        if len(feeds) == 1:
            return [dict(zip(names, arrays, strict=True))]
        ends = np.cumsum([len(next(iter(feed.values()))) for feed in feeds])[:-1]
        parts = zip(*(np.split(array, ends) for array in arrays), strict=True)
        return [dict(zip(names, part, strict=True)) for part in parts]

    def _response(self, request: Any, result: Any) -> Any:
        if isinstance(result, Exception):
            return pb_utils.InferenceResponse(error=pb_utils.TritonError(f"onnx runtime error: {result}"))
        wanted = request.requested_output_names()
        tensors = [pb_utils.Tensor(name, self._shaped(name, result[name])) for name in wanted]
        return pb_utils.InferenceResponse(tensors)

    def _shaped(self, name: str, array: Array) -> Array:
        """The array in the shape that the configuration promises; its `reshape` names the model's own."""
        output = self.outputs[name]
        dims = [int(dim) for dim in output["dims"]]
        if "reshape" in output and dims.count(-1) <= 1:
            array = array.reshape([*array.shape[: int(self.batching)], *dims])
        return np.ascontiguousarray(array)


def _feed(request: Any) -> Arrays:
    """The request's tensors; Triton has strings as bytes, ONNX Runtime as str."""
    arrays = {tensor.name(): tensor.as_numpy() for tensor in request.inputs()}
    return {name: _decoded(array) if array.dtype == np.object_ else array for name, array in arrays.items()}


def _decoded(array: Array) -> Array:
    texts = [item.decode("utf-8") for item in array.ravel()]
    return np.array(texts, dtype=np.object_).reshape(array.shape)
