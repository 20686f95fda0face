"""`fleet check` of a thousand specs, as a command: how long it takes, and whether that grows as they do.

`make bench NAME=check`. Each spec has a lock and a small repository of its own: single models, ensembles,
multi-model endpoints with copies, overrides in the environment, a tenth with findings. Medians of rounds in
which all numbers of specs take turns, the start of the command included; one spec stands for it alone.
Exits with 1 where 1,000 specs take 5 s or more, or where 2,000 take more than 2.2 times as long as 1,000
beyond that start.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from locked_fleet import ENVIRONMENT, ONNX, locked_fleet
from short import is_short

from fleet.findings import FindingsError
from fleet.spec.endpoint import EndpointSpec
from fleet.spec.problems import validate
from fleet.spec.reader import MAX_BYTES, read_source

COUNTS, ROUNDS = ((1, 20, 40), 1) if is_short() else ((1, 250, 1000, 2000), 3)
SECONDS, TIMES, SECONDS_OF_A_FILE = 5.0, 2.2, 1.0
WORST = "".join(f"key-number-{number}: 1\n" for number in range(MAX_BYTES // 24))
KINDS = 10
FAULTY, OVERRIDDEN = 8, 9
"""The kinds with findings of their own, and with a section of their own in the environment's file."""
OVERRIDES = """\
overrides:
  endpoint-0000: {instance: {count: 3}}
"""
HEAD = 'endpoint: NAME\ntriton: "25.04"\ninstance: {type: ml.g5.xlarge, count: 2}\n'
SINGLE = f"""{HEAD}\
models:
  - {{archive: NAME, repository: ../repositories/NAME/a}}
scaling: {{min: 1, max: 4, invocations_per_instance: 600, gpu_utilization: 60}}
container: {{thread_count: 16, log_verbose: false}}
"""
MULTI_MODEL = f"""{HEAD}\
mode: multi-model
models:
  - {{archive: a, repository: ../repositories/NAME/a}}
  - {{archive: b, repository: ../repositories/NAME/b, copies: 4}}
  - {{archive: c, repository: ../repositories/NAME/c}}
"""
FINDINGS = """\
environment:
  SAGEMAKER_TRITON_THREAD_CUONT: "8"
  SAGEMAKER_TRITON_LOG_INFO: "certainly"
"""
OVERRIDE = "  NAME: {instance: {type: ml.g4dn.xlarge, count: 1}, scaling: {max: 2}}\n"
CODE = "class TritonPythonModel:\n    def execute(self, requests):\n        return []\n"
PYTHON = """\
backend: "python"
max_batch_size: 16
input [{ name: "text" data_type: TYPE_STRING dims: [ 1 ] }]
output [{ name: "tokens" data_type: TYPE_INT64 dims: [ 128 ] }]
"""
ENSEMBLE = """\
platform: "ensemble"
max_batch_size: 16
input [{ name: "text" data_type: TYPE_STRING dims: [ 1 ] }]
output [{ name: "embedding" data_type: TYPE_FP32 dims: [ 384 ] }]
ensemble_scheduling {
  step [
    { model_name: "tokens" model_version: -1 input_map { key: "text" value: "text" }
      output_map { key: "tokens" value: "tokens" } },
    { model_name: "encoder" model_version: -1 input_map { key: "tokens" value: "tokens" }
      output_map { key: "embedding" value: "embedding" } }
  ]
}
"""


def main() -> int:
    """Measure, print, and compare with the bar."""
    with tempfile.TemporaryDirectory() as name:
        folders = {count: _fleet(Path(name) / str(count), count) for count in COUNTS}
        turns = [{count: _seconds(folders[count], count) for count in COUNTS} for _ in range(ROUNDS)]
    seconds = {count: statistics.median(each[count] for each in turns) for count in COUNTS}
    start = seconds[COUNTS[0]]
    half, whole = COUNTS[-2:]
    times = (seconds[whole] - start) / (seconds[half] - start)
    print(f"fleet check: seconds, medians of {ROUNDS}")
    print(f"{'specs':>8}{'seconds':>12}{'beyond start':>16}{'ms a spec':>12}")
    for count in COUNTS:
        beyond = seconds[count] - start
        each = f"{1000 * beyond / (count - 1):.2f}" if count > 1 else ""
        print(f"{count:>8,}{seconds[count]:>12.2f}{beyond:>16.2f}{each:>12}")
    worst = statistics.median(_worst_file() for _ in range(ROUNDS))
    print(f"one file of {len(WORST) >> 10} KiB, a mistake on every line: {worst:.2f} s")
    told = {f"check_{half}_s": seconds[half], f"check_{whole}_times_{half}": times, "worst_file_s": worst}
    print(json.dumps({name: round(value, 2) for name, value in told.items()}))
    too_slow = seconds[half] >= SECONDS or times > TIMES or worst >= SECONDS_OF_A_FILE
    return int(too_slow and not is_short())


def _worst_file() -> float:
    """The time in which a file is read and refused that is as large as its number of keys may be."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "worst.yaml"
        file.write_text(WORST)
        begin = time.perf_counter()
        with suppress(FindingsError):
            validate(EndpointSpec, read_source(file))
        return time.perf_counter() - begin


def _seconds(root: Path, count: int) -> float:
    """The time of one command; it must have found what is wrong, and nothing else."""
    command = [str(Path(sys.executable).with_name("fleet")), "check", "--env", "dev"]
    begin = time.perf_counter()
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    seconds = time.perf_counter() - begin
    faulty = sum(number % KINDS == FAULTY for number in range(count))
    said = done.stderr.splitlines() if faulty else [done.stderr]
    if done.returncode != bool(faulty) or (f"{2 * faulty} errors, 0 warnings" if faulty else "") not in said:
        raise AssertionError(f"{count} specs, exit {done.returncode}: {done.stderr[-1000:]}")
    return seconds


def _fleet(root: Path, count: int) -> Path:
    """A fleet of so many endpoints, locked."""
    files = {"environments/dev.yaml": ENVIRONMENT + OVERRIDES}
    for number in range(count):
        name, kind = f"endpoint-{number:04}", number % KINDS
        for path, text in _endpoint(kind):
            files[path.replace("NAME", name)] = text.replace("NAME", name)
        if kind == OVERRIDDEN:
            files["environments/dev.yaml"] += OVERRIDE.replace("NAME", name)
    return locked_fleet(root, files)


def _endpoint(kind: int) -> Iterator[tuple[str, str]]:
    """The files of an endpoint: its spec and its repositories."""
    match kind:
        case 0 | 1:
            yield "model_specs/NAME.yaml", MULTI_MODEL
            for archive in "abc":
                yield from _model(archive, f"encoder-{archive}", ONNX, "model.onnx")
        case 2:
            yield "model_specs/NAME.yaml", SINGLE.replace("models:", "default_model: all\nmodels:")
            yield from _model("a", "all", ENSEMBLE, "README.md")
            yield from _model("a", "encoder", ONNX, "model.onnx")
            yield from _model("a", "tokens", PYTHON, "model.py")
        case _:
            yield "model_specs/NAME.yaml", SINGLE + (FINDINGS if kind == FAULTY else "")
            yield from _model("a", "encoder", ONNX, "model.onnx")


def _model(archive: str, model: str, config: str, file: str) -> Iterator[tuple[str, str]]:
    folder = f"repositories/NAME/{archive}/{model}"
    yield f"{folder}/config.pbtxt", config
    code = f"# {model} of NAME\n"
    yield f"{folder}/1/{file}", code + (CODE if file == "model.py" else "")


if __name__ == "__main__":
    sys.exit(main())
