"""One instance of an ONNX model on the CPU, for the stand-ins of other backends.

Triton's Python stub alone can import it: it has `triton_python_backend_utils`, and finds this package because
it runs in the Python environment of the command that has started Triton.
"""

from __future__ import annotations

import os
from itertools import groupby
from typing import Any

import numpy as np
import onnxruntime
import triton_python_backend_utils as pb_utils

ort: Any = onnxruntime  # a C extension: its names are not in its types
Array = np.ndarray[Any, Any]
Arrays = dict[str, Array]


class OnnxInstance:
    """What Triton asks of a Python model, but `initialize`, which is to call `open`."""

    FAILED = "onnx runtime error"
    """How the error of a request begins."""

    def open(self, config: dict[str, Any], model: str | bytes) -> None:
        """Take a model, or the path of its file; a name that it does not have fails the load, as in C++."""
        self.config = config
        self.session = ort.InferenceSession(model, self._options(), providers=["CPUExecutionProvider"])
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
        feeds = [self.feed(request) for request in requests]
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
            return pb_utils.InferenceResponse(error=pb_utils.TritonError(f"{self.FAILED}: {result}"))
        wanted = request.requested_output_names()
        tensors = [pb_utils.Tensor(name, self.shaped(name, result[name])) for name in wanted]
        return pb_utils.InferenceResponse(tensors)

    def feed(self, request: Any) -> Arrays:
        """The request's tensors; Triton has strings as bytes, ONNX Runtime as str."""
        arrays = {tensor.name(): tensor.as_numpy() for tensor in request.inputs()}
        return {
            name: _decoded(array) if array.dtype == np.object_ else array for name, array in arrays.items()
        }

    def shaped(self, name: str, array: Array) -> Array:
        """The array in the shape that the configuration promises; its `reshape` names the model's own."""
        output = self.outputs[name]
        dims = [int(dim) for dim in output["dims"]]
        if "reshape" in output and dims.count(-1) <= 1:
            array = array.reshape([*array.shape[: int(self.batching)], *dims])
        return np.ascontiguousarray(array)


def _decoded(array: Array) -> Array:
    texts = [item.decode("utf-8") for item in array.ravel()]
    return np.array(texts, dtype=np.object_).reshape(array.shape)
