"""One instance of an ONNX model on the CPU, for the stand-ins of other backends."""

from __future__ import annotations

from typing import Any

import onnxruntime
import triton_python_backend_utils as pb_utils

from fleet_emulator.stand_ins.triton.stand_in_instance import Arrays, StandInInstance

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
