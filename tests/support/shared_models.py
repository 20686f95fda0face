"""The example `shared_models`: its repository as made from git's files, its Python models without Triton, a picture."""

from __future__ import annotations

import base64
import importlib
import io
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageDraw

from fleet_emulator.stand_ins.engines.trtexec import Trtexec
from tests.support.fleet_folder import ROOT
from tests.support.python_backend import NAME, InferenceResponse, Tensor, TritonError, python_backend

EXAMPLE = ROOT / "examples" / "shared_models"
MODELS = ("bert_base", "bert_base_text", "resnet", "resnet_image", "yolov5_image", "yolov5s")
ENGINES = ("resnet", "yolov5s")
TENSORRT = "10.9.0.34"
Arrays = dict[str, np.ndarray[Any, Any]]
Answer = Callable[[str, int, Arrays], Arrays]
"""What a model that a Python model calls makes of its inputs, by its name and version; it may raise TritonError."""


def make_example(folder: Path) -> Path:
    """The example's files of git, and what its scripts make; the repository is `models` below it."""
    kept_value = shutil.ignore_patterns("*.onnx", "model.bin", "vocab.txt", "labels.txt", "__pycache__", ".*")
    shutil.copytree(EXAMPLE / "models", folder / "models", ignore=kept_value)
    for script, into in (("make_image_models.py", folder), ("make_text_models.py", folder / "models")):
        command: list[str | Path] = [sys.executable, EXAMPLE / script, "--into", into]
        subprocess.run(command, check=True, capture_output=True)
    return folder


def build_plans(example: Path, repository: Path) -> None:
    """Put the engines of a stand-in for trtexec where a build puts those of the real one."""
    for model in ENGINES:
        version = repository / model / "1"
        version.mkdir()
        command = [f"--onnx={example}/{model}.onnx", f"--saveEngine={version}/model.plan"]
        assert Trtexec(TENSORRT, {}).answer(command) == 0


@contextmanager
def python_model(model: str, name: str = "model", answer: Answer | None = None) -> Iterator[Any]:
    """A module of a Python model, with a stand-in for Triton's, that finds its neighbours as Triton's stub does."""
    folder = EXAMPLE / "models" / model
    backend = python_backend()
    backend.__dict__.update(_functions(answer))
    before = set(sys.modules)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, NAME, backend)
        patch.setattr(sys, "path", [str(EXAMPLE), str(folder / "1"), str(folder), *sys.path])
        patch.setattr(sys, "dont_write_bytecode", True)
        try:
            yield importlib.import_module(name)
        finally:
            for module in set(sys.modules) - before:
                if _is_of_example(sys.modules[module]):
                    del sys.modules[module]


def _is_of_example(module: ModuleType) -> bool:
    return EXAMPLE in Path(getattr(module, "__file__", None) or "/").parents


def _functions(answer: Answer | None) -> dict[str, Any]:
    class Request:
        def __init__(
            self, *, model_name: str, inputs: list[Tensor], model_version: int = -1, **more: Any
        ) -> None:
            assert more["requested_output_names"] == ["output"]
            assert more["preferred_memory"] == "CPU", "numpy reads no memory of a GPU"
            self._call = model_name, model_version, {item.name(): item.as_numpy() for item in inputs}

        def exec(self) -> Response:
            assert answer is not None
            try:
                return Response([Tensor(name, array) for name, array in answer(*self._call).items()])
            except TritonError as error:
                return Response(problem=error)

    class Response:
        def __init__(self, tensors: list[Tensor] | None = None, problem: TritonError | None = None) -> None:
            self.tensors, self._problem = tensors or [], problem

        def has_error(self) -> bool:
            return self._problem is not None

        def error(self) -> TritonError | None:
            return self._problem

    def named_tensor(place: Any, name: str) -> Tensor:
        tensors = place.inputs() if hasattr(place, "inputs") else place.tensors
        (tensor,) = (tensor for tensor in tensors if tensor.name() == name)
        assert isinstance(tensor, Tensor)
        return tensor

    return {
        "InferenceRequest": Request,
        "PreferredMemory": lambda kind: kind,
        "TRITONSERVER_MEMORY_CPU": "CPU",
        "get_input_tensor_by_name": named_tensor,
        "get_output_tensor_by_name": named_tensor,
    }


def words_of(response: InferenceResponse) -> str:
    """The only element of `result`, or the message of the error."""
    if response.error is not None:
        return str(response.error)
    (tensor,) = response.tensors
    assert (tensor.name(), tensor.array.shape) == ("result", (1,))
    text: str = tensor.array[0].decode()
    return text


def in_base64(image: Image.Image, form: str = "PNG", **manner: Any) -> bytes:
    file = io.BytesIO()
    image.save(file, form, **manner)
    return base64.b64encode(file.getvalue())


def two_squares() -> Image.Image:
    """A red and a blue square on grey; the letterbox halves them to 144 and 80 pixels."""
    picture = Image.new("RGB", (1280, 960), (128, 128, 128))
    draw = ImageDraw.Draw(picture)
    draw.rectangle((320, 320, 607, 607), fill=(255, 0, 0))
    draw.rectangle((800, 480, 959, 639), fill=(0, 0, 255))
    return picture
