"""The stand-in for the PyTorch backend takes TorchScript models by that backend's rules; torch computes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fleet_emulator.triton_backends import PACKAGES
from tests.support.triton_models import RefusedError
from tests.support.zoo_triton import ZooTriton

torch: Any = pytest.importorskip(
    "torch", reason=f"torch is not installed: `{PACKAGES['pytorch'].install}` runs these tests"
)
pytestmark = [pytest.mark.triton, pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")]

X = np.array([[1.5, -2.0]], np.float32)
Y = np.array([[4.0, 8.0]], np.float32)
TEXTS = np.array(["a", "b"], np.object_)


def repository(folder: Path, forward: str, config: str, *, batch: int = 8) -> Path:
    """A TorchScript model of one method, with the inputs and outputs of its configuration as NAME: TYPE."""
    version = folder / "repository/net/1"
    version.mkdir(parents=True)
    model = type("Net", (torch.jit.ScriptModule,), {})()  # a class has its methods once and for all
    model.define(f"{forward}\n")
    model.save(str(version / "model.pt"))
    text = f'platform: "pytorch_libtorch"\nmax_batch_size: {batch}\n{config}'
    (version.parent / "config.pbtxt").write_text(text)
    return folder / "repository"


def tensors(dims: str = "2", **types: str) -> str:
    """Inputs, and outputs, whose names begin with `out`."""
    kinds = {name: "output" if name.startswith("out") else "input" for name in types}
    return "".join(
        f'{kinds[name]} {{ name: "{name}" data_type: TYPE_{kind} dims: [ {dims} ] }}\n'
        for name, kind in types.items()
    )


MODEL_ANSWERS: dict[str, tuple[str, str, int, dict[str, Any], dict[str, Any]]] = {
    "inputs by the names of the arguments": (
        "def forward(self, a, b):\n  return a - b",
        tensors(b="FP32", a="FP32", out__0="FP32"),
        8,
        {"a": X, "b": Y},
        {"out__0": X - Y},
    ),
    "inputs and outputs by their numbers": (
        "def forward(self, a, b):\n  return (a - b).to(torch.int64), a > b",
        tensors(in__1="FP32", in__0="FP32", out__1="BOOL", out__0="INT64"),
        8,
        {"in__0": X, "in__1": Y},
        {"out__0": (X - Y).astype(np.int64), "out__1": X > Y},
    ),
    "a dict of all inputs": (
        'def forward(self, x: Dict[str, Tensor]):\n  return x["left"] * x["right"]',
        tensors(left="FP32", right="FP32", out="FP32"),
        8,
        {"left": X, "right": Y},
        {"out": X * Y},
    ),
    "texts": (
        'def forward(self, x: List[str]) -> List[str]:\n  return [each + "!" for each in x]',
        tensors("-1", x="STRING", out="STRING"),
        0,
        {"x": TEXTS},
        {"out": TEXTS + "!"},
    ),
}


@pytest.mark.parametrize("what", MODEL_ANSWERS)
def test_names_lead_to_arguments_and_answers_as_in_the_backend(
    triton: ZooTriton, tmp_path: Path, what: str
) -> None:
    forward, config, batch, inputs, expected_values = MODEL_ANSWERS[what]
    target = what.replace(" ", "-")
    triton.load(target, repository(tmp_path, forward, config, batch=batch))
    answer = triton.infer(target, inputs, list(expected_values))
    for name, array in expected_values.items():
        if array.dtype == np.object_:
            assert [text.decode() for text in answer[name]] == list(array)
        else:
            assert (answer[name].tolist(), answer[name].dtype) == (array.tolist(), array.dtype)


@pytest.mark.parametrize(("value", "inside"), [("true", 1.0), ("false", 0.0)])
def test_inference_mode_is_what_the_parameter_says(
    triton: ZooTriton, tmp_path: Path, value: str, inside: float
) -> None:
    config = tensors(x="FP32", out="FP32")
    config += f'parameters {{ key: "INFERENCE_MODE" value {{ string_value: "{value}" }} }}\n'
    forward = "def forward(self, x):\n  return torch.full_like(x, float(x.is_inference()))"
    triton.load(f"mode-{value}", repository(tmp_path, forward, config))
    assert triton.infer(f"mode-{value}", {"x": X}, ["out"])["out"].tolist() == [[inside, inside]]


def test_every_part_of_an_answer_has_to_be_a_tensor_or_texts(triton: ZooTriton, tmp_path: Path) -> None:
    forward = "def forward(self, x) -> Tuple[Tensor, Optional[Tensor]]:\n  return x, None"
    triton.load("part", repository(tmp_path, forward, tensors(x="FP32", out="FP32")))
    with pytest.raises(
        RefusedError, match="PyTorch execute failure: output at index 1: Expected Tensor but got"
    ):
        triton.infer("part", {"x": X}, ["out"])


def test_what_the_model_and_its_configuration_do_not_agree_on_is_told_to_who_calls(
    triton: ZooTriton, tmp_path: Path
) -> None:
    forward = (
        "def forward(self, x):\n  if bool((x < 0).any()):\n    raise Exception('below')\n  return x, x.sum()"
    )
    outputs = {"out__0": "INT32", "out__1": "FP32", "out__2": "FP32"}
    text = {
        "out__0": "configuration expects datatype TYPE_INT32 for output 'out__0', model provides TYPE_FP32",
        "out__1": "output 'out__1' is a scalar which is not supported.",
        "out__2": "refers to an output index which doesn't exist. This model has 2 outputs",
    }
    for name, kind in outputs.items():
        config = tensors(**{"x": "FP32", name: kind})
        triton.load(name, repository(tmp_path / name, forward, config))
        with pytest.raises(RefusedError, match=f"stand-in for PyTorch's backend: .*{text[name]}"):
            triton.infer(name, {"x": Y}, [name])
    with pytest.raises(RefusedError, match=r"(?s)PyTorch execute failure: .*below"):
        triton.infer("out__0", {"x": X}, ["out__0"])


REFUSED_MODELS = {
    "count": (tensors(a="FP32", b="FP32", out="FP32"), "configuration expects 2 inputs, model provides 1"),
    "value": (
        tensors(x="FP32", out="FP32") + 'parameters { key: "INFERENCE_MODE" value { string_value: "yes" } }',
        "parameter INFERENCE_MODE: failed to convert 'yes' to boolean",
    ),
    "file": (
        tensors(x="FP32", out="FP32") + 'default_model_filename: "net.pt"',
        "unable to find '.*net.pt' for model instance",
    ),
    "threads": (
        tensors(x="FP32", out="FP32")
        + 'parameters { key: "INTRA_OP_THREAD_COUNT" value { string_value: "100000" } }',
        "parameter INTRA_OP_THREAD_COUNT: the stand-in takes 256 threads at most, not 100000",
    ),
    "type": (tensors(x="FP32", out="BF16"), "unsupported datatype TYPE_BF16 for output 'out'"),
    "sequences": (
        tensors(x="FP32", out="FP32") + "sequence_batching { }",
        "does not know `sequence_batching`",
    ),
}


@pytest.mark.parametrize("name", REFUSED_MODELS)
def test_what_cannot_be_served_is_refused_when_it_is_loaded(
    triton: ZooTriton, tmp_path: Path, name: str
) -> None:
    config, text = REFUSED_MODELS[name]
    with pytest.raises(RefusedError, match=text):
        triton.load(name, repository(tmp_path, "def forward(self, x):\n  return x", config))


def test_a_model_without_forward_is_refused(triton: ZooTriton, tmp_path: Path) -> None:
    files = repository(tmp_path, "def other(self, x):\n  return x", tensors(x="FP32", out="FP32"))
    with pytest.raises(RefusedError, match="model 'no-forward': its TorchScript has no method 'forward'"):
        triton.load("no-forward", files)


def test_a_file_that_is_no_torchscript_is_refused(triton: ZooTriton, tmp_path: Path) -> None:
    files = repository(tmp_path, "def forward(self, x):\n  return x", tensors(x="FP32", out="FP32"))
    (files / "net/1/model.pt").write_bytes(b"no archive")
    with pytest.raises(RefusedError, match="failed to load model 'no-archive': PytorchStreamReader"):
        triton.load("no-archive", files)
