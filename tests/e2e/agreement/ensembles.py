"""Changes of an ensemble that its own configuration tells."""

from __future__ import annotations

from collections.abc import Iterator

from tests.e2e.agreement.tables import cases, put, swap
from tests.support.broken_repositories import ENSEMBLE, Case

CONFIG = "pipeline/config.pbtxt"
IN = 'name: "raw" data_type: TYPE_FP32 dims: [ 2 ]'
OUT = 'name: "final" data_type: TYPE_FP32 dims: [ 2 ]'
BATCH = "max_batch_size: 8"
PLATFORM = 'platform: "ensemble"'
WARM_UP = """\
model_warmup [ {
  name: "w" batch_size: 1 inputs { key: "raw" value: { data_type: TYPE_FP32 dims: [ 2 ] zero_data: true } }
} ]
"""


def step(model: str, x: str, y: str) -> str:
    maps = f'input_map {{ key: "x" value: "{x}" }} output_map {{ key: "y" value: "{y}" }}'
    return f'{{ model_name: "{model}" model_version: -1 {maps} }}'


FIRST, SECOND, ONLY_STEP = (
    step("double", "raw", "half"),
    step("scale", "half", "final"),
    step("double", "raw", "final"),
)

GRAPH = (
    swap("ensemble-healthy", "nothing"),
    swap(
        "ensemble-order", "the steps in another order", (f"{FIRST},\n    {SECOND}", f"{SECOND},\n    {FIRST}")
    ),
    swap("ensemble-no-steps", "no steps", (f"{FIRST},", ""), (SECOND, "")),
    swap("ensemble-backend", "a backend", (PLATFORM, f'{PLATFORM}\nbackend: "python"')),
    # The comment keeps the container sure of which model is the main one.
    swap("ensemble-no-platform", "no platform, but steps", (PLATFORM, f"# {PLATFORM}")),
    swap(
        "ensemble-other-platform",
        "ONNX as the platform",
        (PLATFORM, f'# {PLATFORM}\nplatform: "onnxruntime_onnx"'),
    ),
    put("ensemble-instances", "an instance group", "instance_group [ { kind: KIND_CPU } ]\n"),
    put("ensemble-optimization", "an optimization", "optimization { eager_batching: true }\n"),
    put("ensemble-warmup", "a warm-up", WARM_UP),
    put("ensemble-dynamic-batching", "dynamic batching", "dynamic_batching { }\n"),
    swap("ensemble-no-model-name", "a step without a model", ('model_name: "scale"', "")),
    swap("step-no-input-map", "a step without input_map", ('input_map { key: "x" value: "raw" }', "")),
    swap("step-no-output-map", "a step without output_map", ('output_map { key: "y" value: "final" }', "")),
    swap(
        "step-extra-output",
        "an output too many",
        (
            'output_map { key: "y" value: "half" }',
            'output_map [ { key: "y" value: "half" }, { key: "z" value: "o" } ]',
        ),
    ),
    swap(
        "step-input-twice",
        "an input given twice",
        (
            'input_map { key: "x" value: "half" }',
            'input_map [ { key: "x" value: "half" }, { key: "x" value: "raw" } ]',
        ),
    ),
    swap("step-empty-value", "an input from no tensor", ('key: "x" value: "raw"', 'key: "x" value: ""')),
    swap("step-unconnected", "an input that nobody makes", (SECOND, step("scale", "quarter", "final"))),
    swap(
        "two-producers",
        "a tensor that two steps make",
        (SECOND, f"{SECOND}, {step('double', 'raw', 'final')}"),
    ),
    swap(
        "unused-tensor", "a tensor that nobody takes", (SECOND, f"{SECOND}, {step('double', 'raw', 'spare')}")
    ),
    swap(
        "input-made-by-step",
        "an input that a step makes, too",
        (SECOND, f"{SECOND}, {step('double', 'half', 'raw')}"),
    ),
    swap("cycle", "a cycle", (FIRST, step("double", "final", "half"))),
    swap(
        "cycle-apart",
        "a cycle beside the others",
        (SECOND, f"{SECOND}, {step('double', 'a', 'b')}, {step('double', 'b', 'a')}"),
    ),
    swap(
        "unused-input",
        "an input that no step takes",
        (f"{{ {IN} }}", f'{{ {IN} }}, {{ name: "spare" data_type: TYPE_FP32 dims: [ 2 ] }}'),
    ),
    swap(
        "unmade-output",
        "an output that no step makes",
        (f"{{ {OUT} }}", f'{{ {OUT} }}, {{ name: "spare" data_type: TYPE_FP32 dims: [ 2 ] }}'),
    ),
    swap(
        "middle-output",
        "a tensor between steps as an output, too",
        (f"{{ {OUT} }}", f'{{ {OUT} }}, {{ name: "half" data_type: TYPE_FP32 dims: [ 2 ] }}'),
    ),
    swap("ensemble-no-input", "no input", (f"input [ {{ {IN} }} ]", "")),
    swap("ensemble-no-output", "no output", (f"output [ {{ {OUT} }} ]", "")),
)


def ensemble_cases() -> Iterator[Case]:
    """All of them."""
    return cases(ENSEMBLE, CONFIG, GRAPH)
