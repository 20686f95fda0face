"""The fleets of benchmarks/synth.py, as specs with locks."""

from __future__ import annotations

from pathlib import Path

from locked_fleet import ENVIRONMENT, ONNX, locked_fleet

SINGLE = """\
endpoint: NAME
triton: "25.04"
instance: {type: ml.g5.xlarge, count: 2}
models:
  - {archive: NAME, repository: ../repositories/NAME}
scaling: {min: 2, max: 8, invocations_per_instance: 600, gpu_utilization: 60, scale_in: 600s, scale_out: 200s}
rollout: {strategy: canary, canary: 50%, bake: 10m, rollback_on: [errors, latency]}
alarms: {latency_p99: 200ms, errors: 1%}
metrics: {triton: true}
container: {thread_count: 16, log_verbose: false}
samples:
  - name: ones
    inputs: {x: {datatype: FP32, shape: [1, 8], data: 1}}
    outputs: {y: {datatype: FP32, shape: [1, 8]}}
"""
MULTI_MODEL = """\
endpoint: NAME
mode: multi-model
triton: "25.04"
instance: {type: ml.g5.xlarge, count: 1}
models:
  - {archive: first, repository: ../repositories/NAME}
  - {archive: more, repository: ../repositories/NAME, copies: 4}
scaling: {min: 1, max: 4, invocations_per_instance: 300, gpu_utilization: 60}
"""
SPECS = (SINGLE, MULTI_MODEL)
"""In turns; they are of the kinds that the project ships."""


def make_fleet(root: Path, count: int) -> Path:
    """A locked fleet of so many endpoints."""
    files = {"environments/dev.yaml": ENVIRONMENT}
    for number in range(count):
        name = f"endpoint-{number:04}"
        files[f"model_specs/{name}.yaml"] = SPECS[number % len(SPECS)].replace("NAME", name)
        files[f"repositories/{name}/encoder/config.pbtxt"] = ONNX
        files[f"repositories/{name}/encoder/1/model.onnx"] = f"of {name}\n"
    return locked_fleet(root, files)
