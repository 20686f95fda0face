"""Which backend serves a model, as Triton completes its config.

Source: triton-inference-server/core, r26.06, src/model_config_utils.cc, AutoCompleteBackendFields, and
src/constants.h.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

PLATFORMS = {
    "ensemble": "ensemble",
    "tensorrt_plan": "tensorrt",
    "onnxruntime_onnx": "onnxruntime",
    "pytorch_libtorch": "pytorch",
    "libtorch": "pytorch",
}
"""Platforms that are other words for their backends."""
FORMATS = {
    "tensorflow_graphdef": "tensorflow",
    "tensorflow_savedmodel": "tensorflow",
    "torch_aoti": "pytorch",
}
"""Platforms that name the format of the model as well."""
FILES = {
    "model.graphdef": "tensorflow",
    "model.savedmodel": "tensorflow",
    "model.plan": "tensorrt",
    "model.onnx": "onnxruntime",
    "model.xml": "openvino",
    "model.pt": "pytorch",
    "model.pt2": "pytorch",
    "model.py": "python",
}
"""What Triton looks for in a version directory, in its order; files or folders."""

ORDER = ("ensemble", "tensorrt", "onnxruntime", "openvino", "pytorch", "python")
"""In which Triton asks whether platform or file name are a backend's."""


def backend_of(config: Any, model: str, names: Collection[str]) -> str:
    """The backend that the config names, else the one that its platform or a file belongs to; "" if unknown.

    `names` are those of FILES in the first of the model's directories. Without any, what follows the
    first dot of the model's own name is its backend: `embed.dali`.
    """
    backend_name = named_backend(config)
    if backend_name or config.platform or config.default_model_filename:
        return backend_name
    backends = (backend for name, backend in FILES.items() if name in names)
    return next(backends, model.partition(".")[2])


def named_backend(config: Any) -> str:
    """The backend that the config alone leads to; "" if it names none, or none that Triton knows.

    A file name counts beside a platform as well; TensorRT's comes first, as Triton asks.
    """
    if config.backend:
        return str(config.backend)
    if config.platform in FORMATS:
        return FORMATS[config.platform]
    by_platform = PLATFORMS.get(config.platform, "")
    by_file = FILES.get(config.default_model_filename, "")
    if by_file == "tensorflow":
        return by_platform if config.platform else by_file
    return min((name for name in (by_platform, by_file) if name), key=ORDER.index, default="")


def platform_of(config: Any) -> str:
    """The config's platform if its backend does not follow from it, or more than that does."""
    return "" if config.platform in PLATFORMS else str(config.platform)
