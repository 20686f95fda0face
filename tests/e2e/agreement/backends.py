"""Changes of what tells the backend of a model, of its own settings, and of the files that it reads."""

from __future__ import annotations

from collections.abc import Iterator

from tests.e2e.agreement.tables import cases, put, swap
from tests.support.broken_repositories import (
    CODE,
    CONFIG,
    DOUBLE,
    PLAN,
    SCALE,
    Case,
    Files,
    change_file,
    without,
)

IN = 'name: "x" data_type: TYPE_FP32 dims: [ 2 ]'
OUT = 'name: "y" data_type: TYPE_FP32 dims: [ 2 ]'
INPUT, OUTPUT = f"input [ {{ {IN} }} ]", f"output [ {{ {OUT} }} ]"
CPU = "kind: KIND_CPU count: 1"

BACKEND = 'backend: "python"'
PAIRS = (
    swap("python-as-platform", "platform python", (BACKEND, 'platform: "python"')),
    swap("no-backend", "the backend is left out, model.py is there", (BACKEND, "")),
    swap(
        "python-with-platform",
        "backend python and a platform",
        (BACKEND, f'{BACKEND}\nplatform: "tensorrt_plan"'),
    ),
    swap("unknown-platform", "an unknown platform", (BACKEND, 'platform: "nowhere_model"')),
    swap("ensemble-platform-alone", "platform ensemble without steps", (BACKEND, 'platform: "ensemble"')),
    swap(
        "ensemble-platform-with-backend",
        "platform ensemble and a backend",
        (BACKEND, f'{BACKEND}\nplatform: "ensemble"'),
    ),
)
ONNX_PLATFORM = 'platform: "onnxruntime_onnx"'
ONNX = (
    swap("onnx-healthy", "nothing"),
    swap("onnx-backend", "backend instead of platform", (ONNX_PLATFORM, 'backend: "onnxruntime"')),
    swap("onnx-neither", "neither backend nor platform", (ONNX_PLATFORM, "")),
    swap(
        "onnx-wrong-backend",
        "platform of ONNX and backend tensorrt",
        (ONNX_PLATFORM, f'{ONNX_PLATFORM}\nbackend: "tensorrt"'),
    ),
    swap(
        "onnx-wrong-pair",
        "backend onnxruntime, platform of TensorRT",
        (ONNX_PLATFORM, 'backend: "onnxruntime"\nplatform: "tensorrt_plan"'),
    ),
    swap("onnx-unknown-input", "an input that the graph does not have", (IN, IN.replace('"x"', '"z"'))),
    swap("onnx-unknown-output", "an output that the graph does not have", (OUT, OUT.replace('"y"', '"z"'))),
    put("onnx-profile", "a profile of an ONNX model", f'instance_group [ {{ {CPU} profile: "0" }} ]\n'),
    swap("onnx-no-tensors", "inputs and outputs are left out", (INPUT, ""), (OUTPUT, "")),
)
PLATFORM = 'platform: "tensorrt_plan"'
GPU = (
    swap("plan-healthy", "nothing"),
    swap("plan-neither", "neither backend nor platform, model.plan is there", (PLATFORM, "")),
    swap(
        "plan-wrong-pair",
        "backend tensorrt, platform of ONNX",
        (PLATFORM, 'backend: "tensorrt"\nplatform: "onnxruntime_onnx"'),
    ),
    swap(
        "plan-pytorch-pair",
        "backend pytorch, platform of TensorRT",
        (PLATFORM, f'{PLATFORM}\nbackend: "pytorch"'),
    ),
    swap("plan-shape-tensor", "a shape tensor of a TensorRT model", (IN, f"{IN} is_shape_tensor: true")),
    swap("plan-zero-dim", "a dim of 0", (IN, IN.replace("[ 2 ]", "[ 0 ]"))),
    swap(
        "plan-non-linear", "is_non_linear_format_io with one dim", (IN, f"{IN} is_non_linear_format_io: true")
    ),
    swap(
        "plan-non-linear-three",
        "is_non_linear_format_io with three dims",
        (IN, f"{IN.replace('[ 2 ]', '[ 3, 2, 2 ]')} is_non_linear_format_io: true"),
    ),
    put("plan-profile", "profile 0", 'instance_group [ { profile: "0" } ]\n'),
    put("plan-profile-negative", "profile -1", 'instance_group [ { profile: "-1" } ]\n'),
    put("plan-profile-word", "profile as a word", 'instance_group [ { profile: "first" } ]\n'),
    put(
        "plan-preferred-too-large",
        "a preferred size above max_batch_size",
        "dynamic_batching { preferred_batch_size: 16 }\n",
    ),
)


def backend_cases() -> Iterator[Case]:
    """All of them."""
    yield from cases(DOUBLE, CONFIG, PAIRS)
    yield from cases(SCALE, "scale/config.pbtxt", ONNX)
    yield from cases(PLAN, "plan/config.pbtxt", GPU)
    yield from _files()


def _files() -> Iterator[Case]:
    code = {"double/1/code.py": CODE, **without(DOUBLE, ["double/1/model.py"])}
    named_files: Files = change_file(code, "double/config.pbtxt", add='default_model_filename: "code.py"\n')
    yield Case(
        id="other-file-named", files=named_files, change="model.py is called code.py, and the config says so"
    )
    no_config = without(DOUBLE, ["double/config.pbtxt"])
    yield Case(id="python-no-config", files=no_config, change="a Python model without config.pbtxt")
    yield Case(
        id="onnx-no-config",
        files=without(SCALE, ["scale/config.pbtxt"]),
        change="an ONNX model without config.pbtxt",
    )
    empty: Files = {**DOUBLE, "double/config.pbtxt": b""}
    yield Case(id="python-empty-config", files=empty, change="a Python model with an empty config.pbtxt")
    labelled_files = change_file(DOUBLE, "double/config.pbtxt", (OUT, f'{OUT} label_filename: "labels.txt"'))
    yield Case(
        id="labels", files={**labelled_files, "double/labels.txt": b"cat\ndog\n"}, change="a label file"
    )
    garbage: Files = {**SCALE, "scale/1/model.onnx": b"garbage"}
    yield Case(id="onnx-garbage", files=garbage, change="an ONNX file that is none")
    yield Case(
        id="onnx-missing",
        files={**without(SCALE, ["scale/1/model.onnx"]), "scale/1/": b""},
        change="the ONNX file is missing",
    )
    for name, text in (("no-class", b"class Model:\n    pass\n"), ("no-code", b"")):
        files: Files = {**DOUBLE, "double/1/model.py": text}
        yield Case(id=f"python-{name}", files=files, change="code without TritonPythonModel")
    content = (
        b"class Model:\n    def execute(self, requests):\n        return []\n\n\nTritonPythonModel = Model\n"
    )
    files = {**DOUBLE, "double/1/model.py": content}
    yield Case(
        id="python-class-aliased", files=files, change="TritonPythonModel is another class's second name"
    )
    no_execute = b"class TritonPythonModel:\n    pass\n"
    yield Case(
        id="python-no-execute",
        files={**DOUBLE, "double/1/model.py": no_execute},
        change="code without execute",
    )
    warm: Files = change_file(
        DOUBLE,
        "double/config.pbtxt",
        add='model_warmup [ { name: "w" batch_size: 1 inputs { key: "x" value: { data_type: TYPE_FP32 dims: [ 2 ] input_data_file: "raw" } } } ]\n',
    )
    yield Case(
        id="warmup-file", files={**warm, "double/warmup/raw": bytes(8)}, change="a warm-up from a file"
    )
    yield Case(
        id="warmup-short-file",
        files={**warm, "double/warmup/raw": bytes(4)},
        change="a warm-up from a file that is too short",
    )
