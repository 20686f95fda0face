"""One instance of a model on the CPU, for the stand-ins of Triton's backends, whatever computes it.

Triton's Python stub alone can import it: it has `triton_python_backend_utils`, and finds this package because
the file that it loads adds the product's folders to its path.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import groupby
from typing import Any

import numpy as np
import onnxruntime
import triton_python_backend_utils as pb_utils

Array = np.ndarray[Any, Any]
Arrays = dict[str, Array]
Result = Arrays | Exception


class StandInInstance(ABC):
    """What Triton asks of a Python model, but `initialize`, which is to call `take`."""

    FAILED: str
    """How the error of a request begins."""

    def take(self, config: dict[str, Any]) -> None:
        """Take the configuration, as Triton gives it."""
        self.config = config
        self.batching = config["max_batch_size"] > 0
        self.outputs = {tensor["name"]: tensor for tensor in config["output"]}
        self.parameters = {key: value["string_value"] for key, value in config.get("parameters", {}).items()}

    @abstractmethod
    def compute(self, feed: Arrays) -> Arrays:
        """The outputs by name; what it raises is the answer to each of the requests that make up the feed."""

    @property
    def share(self) -> int:
        """The threads of each instance, where all share the cores."""
        instances = sum(int(group["count"]) for group in self.config["instance_group"])
        return max(1, (os.cpu_count() or 1) // max(1, instances))

    def execute(self, requests: list[Any]) -> list[Any]:
        """One response per request; neighbours whose shapes agree run as one batch."""
        feeds = [self._take_result(request) for request in requests]
        responses: list[Any] = []
        for _, indexes in groupby(
            range(len(requests)), key=lambda index: self._batch_key(feeds[index], index)
        ):
            together = list(indexes)
            results = self._run([feeds[index] for index in together])
            for index, result in zip(together, results, strict=True):
                responses.append(self._response(requests[index], result))
        return responses

    def _take_result(self, request: Any) -> Result:
        try:
            return self.feed(request)
        except Exception as error:  # whatever it is, it is the fault of this request alone
            return error

    def _batch_key(self, feed: Result, index: int) -> object:
        if isinstance(feed, Exception) or not self.batching:
            return index
        return [(name, array.shape[1:]) for name, array in sorted(feed.items())]

    def _run(self, feeds: Sequence[Result]) -> Sequence[Result]:
        """The outputs for each feed, or for each the exception that explains why there are none."""
        good = [feed for feed in feeds if not isinstance(feed, Exception)]
        if len(good) < len(feeds):
            return feeds  # one error: its key is like no other's
        try:
            return self._compute(good)
        except Exception as error:  # the errors of what computes have no class in common
            return [error for _ in feeds]

    def _compute(self, feeds: list[Arrays]) -> list[Arrays]:
        if not self.batching:
            return [self.compute(feed) for feed in feeds]
        joined = feeds[0]
        if len(feeds) > 1:
            joined = {name: np.concatenate([feed[name] for feed in feeds]) for name in joined}
        ends = np.cumsum([len(next(iter(feed.values()))) for feed in feeds])
        computed = self.compute(joined)
        for name, array in computed.items():
            if array.shape[:1] != (ends[-1],):
                message = f"output '{name}' has the shape {array.shape} for a batch of {ends[-1]}"
                raise ValueError(message)
        parts = zip(*(np.split(array, ends[:-1]) for array in computed.values()), strict=True)
        return [dict(zip(computed, part, strict=True)) for part in parts]

    def _response(self, request: Any, result: Result) -> Any:
        try:
            if isinstance(result, Exception):
                raise result
            wanted = request.requested_output_names()
            tensors = [pb_utils.Tensor(name, self.shaped(name, result[name])) for name in wanted]
        except Exception as error:
            return pb_utils.InferenceResponse(error=pb_utils.TritonError(f"{self.FAILED}: {error}"))
        return pb_utils.InferenceResponse(tensors)

    def feed(self, request: Any) -> Arrays:
        """The request's tensors; Triton has strings as bytes, what computes as str.

        Raises:
            ValueError: a string is not UTF-8.
        """
        arrays = {tensor.name(): tensor.as_numpy() for tensor in request.inputs()}
        return {
            name: _decode(name, array) if array.dtype == np.object_ else array
            for name, array in arrays.items()
        }

    def shaped(self, name: str, array: Array) -> Array:
        """The array in the shape that the configuration promises; its `reshape` names the model's own."""
        output = self.outputs[name]
        dims = [int(dim) for dim in output["dims"]]
        if "reshape" in output and dims.count(-1) <= 1:
            array = array.reshape([*array.shape[: int(self.batching)], *dims])
        return np.ascontiguousarray(array)


def _decode(name: str, array: Array) -> Array:
    try:
        texts = [item.decode("utf-8") for item in array.ravel()]
    except UnicodeDecodeError:
        raise ValueError(f"input '{name}' holds text that is not UTF-8") from None
    return np.array(texts, dtype=np.object_).reshape(array.shape)


ort: Any = onnxruntime  # a C extension: its names are not in its types


class OnnxInstance(StandInInstance):
    """An instance whose `initialize` is to call `open`."""

    FAILED = "onnx runtime error"

    def open(self, config: dict[str, Any], model: str | bytes) -> None:
        """Take a model, or the path of its file; a name that it does not have fails the load, as in C++."""
        self.take(config)
        self.session = ort.InferenceSession(model, self._options(), providers=["CPUExecutionProvider"])
        wanted = [tensor["name"] for tensor in self.config["input"]]
        self._check("input", wanted, [value.name for value in self.session.get_inputs()])
        self._check("output", list(self.outputs), [value.name for value in self.session.get_outputs()])

    def _options(self) -> Any:
        """The thread counts of the C++ backend's parameters; by default the instances share the cores."""
        options = ort.SessionOptions()
        options.intra_op_num_threads = int(self.parameters.get("intra_op_thread_count", self.share))
        options.inter_op_num_threads = int(self.parameters.get("inter_op_thread_count", 1))
        # An idle model must not keep the few cores of a laptop busy.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        return options

    def _check(self, kind: str, wanted: list[str], known: list[str]) -> None:
        for name in wanted:
            if name not in known:
                problem = f"unexpected inference {kind} '{name}', allowed {kind}s are: {', '.join(known)}"
                raise pb_utils.TritonModelException(f"model '{self.config['name']}', {problem}")

    def compute(self, feed: Arrays) -> Arrays:
        """What ONNX Runtime computes."""
        names = list(self.outputs)
        return dict(zip(names, self.session.run(names, feed), strict=True))


def with_tensors(config: Any, left_to: str) -> Any:
    """The ModelConfig as it is.

    Args:
        config: As Triton gives it to `auto_complete_config`.
        left_to: Where inputs and outputs would be read from, and why that is impossible here.

    Raises:
        TritonModelException: inputs or outputs are left out.
    """
    given = config.as_dict()
    if given["input"] and given["output"]:
        return config
    raise pb_utils.TritonModelException(
        f"model '{given['name']}' leaves inputs or outputs to {left_to}: write `input`, `output` and"
        " `max_batch_size` into config.pbtxt"
    )
