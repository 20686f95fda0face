"""Changes of an ensemble that its models tell, and of these models."""

from __future__ import annotations

from collections.abc import Iterator

from tests.e2e.agreement.ensembles import BATCH, CONFIG, IN, ONLY_STEP, OUT, PLATFORM, step
from tests.e2e.agreement.tables import cases, put, swap
from tests.support.broken_repositories import (
    ENSEMBLE,
    TENSORS,
    WRAPPER,
    Case,
    Files,
    change_file,
    move_files,
    python_model,
    without,
)

WRAP = (
    put("ensemble-cache", "a response cache", "response_cache { enable: true }\n"),
    swap(
        "ensemble-missing-model",
        "a model that is not there",
        ('model_name: "double"', 'model_name: "nowhere"'),
    ),
    swap(
        "ensemble-itself", "a step that is the ensemble", ('model_name: "double"', 'model_name: "pipeline"')
    ),
    swap("step-unknown-input", "an input that the model does not have", ('key: "x"', 'key: "z"')),
    swap("step-unknown-output", "an output that the model does not have", ('key: "y"', 'key: "z"')),
    swap(
        "step-extra-input",
        "an input too many",
        (
            'input_map { key: "x" value: "raw" }',
            'input_map [ { key: "x" value: "raw" }, { key: "z" value: "raw" } ]',
        ),
    ),
    swap("ensemble-type", "an input of another type", (IN, IN.replace("FP32", "INT32"))),
    swap("ensemble-output-type", "an output of another type", (OUT, OUT.replace("FP32", "FP64"))),
    swap("ensemble-shape", "an input of another shape", (IN, IN.replace("[ 2 ]", "[ 3 ]"))),
    swap("ensemble-output-shape", "an output of another shape", (OUT, OUT.replace("[ 2 ]", "[ 2, 2 ]"))),
    swap("ensemble-variable-shape", "an input of a variable shape", (IN, IN.replace("[ 2 ]", "[ -1 ]"))),
    swap("ensemble-zero-dim", "an input with a dim of 0", (IN, IN.replace("[ 2 ]", "[ 0 ]"))),
    swap("ensemble-no-dims", "an input without dims", (IN, 'name: "raw" data_type: TYPE_FP32')),
    swap("ensemble-no-type", "an input without a type", (IN, 'name: "raw" dims: [ 2 ]')),
    swap(
        "ensemble-reshape",
        "an input with a reshape to the model's shape",
        (IN, f"{IN.replace('[ 2 ]', '[ 1, 2 ]')} reshape {{ shape: [ 2 ] }}"),
    ),
    swap("ensemble-unbatched", "max_batch_size 0 over a batching model", (BATCH, "max_batch_size: 0")),
    swap(
        "ensemble-unbatched-full",
        "max_batch_size 0 and the full shapes",
        (BATCH, ""),
        (IN, IN.replace("[ 2 ]", "[ -1, 2 ]")),
        (OUT, OUT.replace("[ 2 ]", "[ -1, 2 ]")),
    ),
    swap("ensemble-smaller-batch", "a smaller max_batch_size", (BATCH, "max_batch_size: 4")),
    swap("ensemble-larger-batch", "a larger max_batch_size", (BATCH, "max_batch_size: 16")),
    swap("step-version", "version 1 of a model", ("model_version: -1", "model_version: 1")),
    swap(
        "step-missing-version",
        "version 2 of a model, which is missing",
        ("model_version: -1", "model_version: 2"),
    ),
    swap("step-version-zero", "version 0 of a model", ("model_version: -1", "model_version: 0")),
    swap("step-no-version", "a step without model_version", ("model_version: -1", "")),
    swap("step-version-below", "version -2 of a model", ("model_version: -1", "model_version: -2")),
    swap(
        "step-namespace",
        "a model_namespace",
        ("model_version: -1", 'model_version: -1 model_namespace: "nowhere"'),
    ),
    swap("optional-ensemble-input", "an optional input of the ensemble", (IN, f"{IN} optional: true")),
    swap("ensemble-name", "a name that is not the directory's", ('name: "pipeline"', 'name: "other"')),
    swap(
        "ensemble-latest-none",
        "version_policy latest 0",
        (BATCH, f"{BATCH}\nversion_policy {{ latest {{ }} }}"),
    ),
)
DOUBLE_CONFIG = "double/config.pbtxt"
X = 'name: "x" data_type: TYPE_FP32 dims: [ 2 ]'
Y = 'name: "y" data_type: TYPE_FP32 dims: [ 2 ]'
O = 'name: "o" data_type: TYPE_FP32 dims: [ 2 ]'  # noqa: E741
PARTS = (
    swap(
        "part-optional-input",
        "an optional input, not mapped",
        (f"{{ {X} }}", f"{{ {X} }}, {{ {O} optional: true }}"),
    ),
    swap("part-second-input", "another input, not mapped", (f"{{ {X} }}", f"{{ {X} }}, {{ {O} }}")),
    swap("part-second-output", "another output, not mapped", (f"{{ {Y} }}", f"{{ {Y} }}, {{ {O} }}")),
    swap("part-type", "its output is of another type", (Y, Y.replace("FP32", "INT8"))),
    swap("part-shape", "its output is of another shape", (Y, Y.replace("[ 2 ]", "[ 4 ]"))),
    swap("part-variable-shape", "its output is of a variable shape", (Y, Y.replace("[ 2 ]", "[ -1 ]"))),
    swap("part-smaller-batch", "a smaller max_batch_size", (BATCH, "max_batch_size: 4")),
    swap("part-unbatched", "no batching", (BATCH, "")),
    swap(
        "part-unbatched-full",
        "no batching, and the full shapes",
        (BATCH, ""),
        (X, X.replace("[ 2 ]", "[ -1, 2 ]")),
        (Y, Y.replace("[ 2 ]", "[ -1, 2 ]")),
    ),
    swap(
        "part-unbatched-fixed",
        "no batching, and full shapes of batch 8",
        (BATCH, ""),
        (X, X.replace("[ 2 ]", "[ 8, 2 ]")),
        (Y, Y.replace("[ 2 ]", "[ 8, 2 ]")),
    ),
    swap("part-reshape", "a reshape", (X, f"{X} reshape {{ shape: [ 2, 1 ] }}")),
    swap("part-no-tensors", "no tensors", (f"input [ {{ {X} }} ]", ""), (f"output [ {{ {Y} }} ]", "")),
    swap("part-broken", "a dim of 0", (X, X.replace("[ 2 ]", "[ 0 ]"))),
    put("part-decoupled", "decoupled", "model_transaction_policy { decoupled: true }\n"),
    put("part-latest-none", "version_policy latest 0", "version_policy { latest { num_versions: 0 } }\n"),
)
BRANCHES = f"""\
{PLATFORM}
max_batch_size: 8
input [ {{ {IN} }} ]
output [ {{ {OUT} }} ]
ensemble_scheduling {{
  step [
    {step("left", "raw", "a")},
    {step("right", "raw", "b")},
    {{
      model_name: "join" model_version: -1
      input_map [ {{ key: "p" value: "a" }}, {{ key: "q" value: "b" }} ] output_map {{ key: "y" value: "final" }}
    }}
  ]
}}
"""
JOIN = """\
backend: "python"
max_batch_size: 8
input [ { name: "p" data_type: TYPE_FP32 dims: [ 2 ] }, { name: "q" data_type: TYPE_FP32 dims: [ 2 ] } ]
output [ { name: "y" data_type: TYPE_FP32 dims: [ 2 ] } ]
"""


def composed_cases() -> Iterator[Case]:
    """All of them."""
    yield from cases(WRAPPER, CONFIG, WRAP)
    yield from cases(WRAPPER, DOUBLE_CONFIG, PARTS)
    yield from _files()
    yield from _branches()
    yield from nested_cases()


def files_without(name: str) -> Files:
    """The wrapper of a model of its own name: what is missing in an archive Triton looks for in all others."""
    files = change_file(WRAPPER, CONFIG, ('"double"', f'"{name}"'))
    files = change_file(files, DOUBLE_CONFIG, ('"double"', f'"{name}"'))
    return move_files(files, "double/", f"{name}/")


def _files() -> Iterator[Case]:
    yield Case(
        id="ensemble-no-version",
        files=without(WRAPPER, ["pipeline/1/"]),
        change="the ensemble has no version",
    )
    files = files_without("lost")
    missing_contents = {path: content for path, content in files.items() if not path.startswith("lost/")}
    yield Case(id="part-missing", files=missing_contents, change="a composing model's directory is missing")
    named_files = change_file(files_without("misnamed"), "misnamed/config.pbtxt", ('"misnamed"', '"other"'))
    yield Case(id="part-name", files=named_files, change="a composing model's name is not its directory's")
    unread = change_file(files_without("unread"), "unread/config.pbtxt", add="no_such_field: 1\n")
    yield Case(id="part-unknown-field", files=unread, change="a composing model with an unknown field")
    yield Case(
        id="part-no-version",
        files=without(WRAPPER, ["double/1/model.py"]),
        change="a composing model without a version",
    )
    yield Case(
        id="part-no-config",
        files=without(ENSEMBLE, ["scale/config.pbtxt"]),
        change="a composing ONNX model without config.pbtxt",
    )
    spare = {**WRAPPER, **python_model("spare", "no_such_field: 1")}
    yield Case(
        id="ensemble-spare-broken", files=spare, change="a broken model that the ensemble does not use"
    )
    hidden_values = {**WRAPPER, ".ipynb_checkpoints/x": b""}
    yield Case(
        id="ensemble-hidden-beside", files=hidden_values, change="a hidden directory beside the models"
    )
    quoted_files = change_file(missing_contents, CONFIG, (PLATFORM, "platform: 'ensemble'"))
    quoted_values = change_file(quoted_files, CONFIG, ('"lost"', '"away"'))
    yield Case(
        id="regex-miss-alone", files=quoted_values, change="an ensemble in single quotes, without its models"
    )
    spaced_files = change_file(WRAPPER, CONFIG, (PLATFORM, 'platform:   \t"ensemble"'))
    yield Case(id="regex-spaces", files=spaced_files, change="white space after the colon of the platform")


def _branches() -> Iterator[Case]:
    model, text = f'backend: "python"\n{TENSORS}', "model_transaction_policy { decoupled: true }\n"
    for name, what, survivors, right in (
        ("branches", "two branches", "", ""),
        ("branches-decoupled", "two decoupled branches that meet", text, text),
        ("branch-decoupled", "a decoupled branch that meets another", text, ""),
    ):
        files = {
            "forked/config.pbtxt": BRANCHES.encode(),
            "forked/1/": b"",
            **python_model("left", model + survivors),
            **python_model("right", model + right),
            **python_model("join", JOIN),
        }
        yield Case(id=name, files=files, change=what)


def nested_cases() -> Iterator[Case]:
    inner = '{ model_name: "pipeline" model_version: -1 input_map { key: "raw" value: "raw" } output_map { key: "final" value: "final" } }'
    outer = change_file(
        WRAPPER,
        CONFIG,
        ('name: "pipeline"', 'name: "outer"'),
        (PLATFORM, "platform: 'ensemble'"),
        (ONLY_STEP, inner),
    )
    files = {**WRAPPER, "outer/config.pbtxt": outer[CONFIG], "outer/1/": b""}
    what = "an ensemble of an ensemble, in single quotes, so that the inner one is taken"
    yield Case(id="ensemble-inner-is-main", files=files, change=what)
