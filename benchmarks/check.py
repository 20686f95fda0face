"""`fleet check` of a thousand specs, as a command: how long it takes, and whether that grows as they do.

`make bench NAME=check`. Each spec has a lock and a small repository of its own: single models, ensembles,
multi-model endpoints with copies, overrides in the environment, a tenth with findings. They are in the
folders of ten teams, over two profiles, and a file of policies holds for them all. Medians of rounds in which
all numbers of specs take turns, the start of the command included; one spec stands for it alone.
The 1,000 are also checked for prod, once as an environment that follows main and once as the last of two that
are promoted to, for which a tenth of them waits.
Exits with 1 where 1,000 specs take 5 s or more or 150 MB of memory, where 2,000 take more than 2.2 times as
long as 1,000 beyond that start, where `fleet show` of one of 1,000 takes 1 s or more, or where they take more
than 1.5 times as long in the environment that is promoted to.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from locked_fleet import ENVIRONMENT, ONNX, locked_fleet
from short import is_short

from triton_fleet.findings import FindingsError
from triton_fleet.project.reader import MAX_BYTES, read_source
from triton_fleet.spec.endpoint import EndpointSpec
from triton_fleet.spec.problems import validate

COUNTS, ROUNDS = ((1, 20, 40), 1) if is_short() else ((1, 250, 1000, 2000), 3)
SECONDS, TIMES, SECONDS_OF_A_FILE = 5.0, 2.2, 1.0
MEGABYTES, SECONDS_TO_SHOW, TIMES_PROMOTED = 150, 1.0, 1.5
WORST = "".join(f"key-number-{number}: 1\n" for number in range(MAX_BYTES // 24))
FLEET = str(Path(sys.executable).with_name("fleet"))
KINDS = 10
CHANGED, FAULTY, OVERRIDDEN = 7, 8, 9
"""The kinds that wait for a promotion, have findings, and have a section in the environment's file."""
PROMOTED = {"staging": "dev", "prod": "staging"}
"""The environment that each one is promoted from."""
OVERRIDES = """\
overrides:
  endpoint-0000: {instance: {count: 3}}
"""
TEAMS = 10
POLICIES = """\
policy: platform
owner: {team: platform}
statements:
  - name: affordable
    max_instances: 100
    monthly_cost: {endpoint: 100000, owner: 10000000}
  - name: dev
    when: {environment: dev, owner: team-*}
    instances: [ml.g4dn.*, ml.g5.*]
    gpus: {max: 4}
    regions: [us-*, eu-*]
    triton: {releases: {"25.04": null}}
    require: {owner: true}
    tags: [stage]
"""
BASE = """\
triton: "25.04"
tags: {stage: dev}
allow: {missing-security-fix: measured alone}
"""
SHARED = {
    "policies/platform.yaml": POLICIES,
    "profiles/base.yaml": BASE,
    "profiles/gpu.yaml": "profile: base\ninstance: {type: ml.g5.xlarge, count: 2}\n",
    **{
        f"model_specs/team-{number}/_folder.yaml": f"owner: {{team: team-{number}, contact: a@example.com}}\n"
        for number in range(TEAMS)
    },
}
HEAD = "endpoint: NAME\nprofile: gpu\n"
SINGLE = f"""{HEAD}\
models:
  - {{archive: NAME, repository: ../../repositories/NAME/a}}
scaling: {{min: 1, max: 4, invocations_per_instance: 600, gpu_utilization: 60}}
container: {{thread_count: 16, log_verbose: false}}
"""
MULTI_MODEL = f"""{HEAD}\
mode: multi-model
models:
  - {{archive: a, repository: ../../repositories/NAME/a}}
  - {{archive: b, repository: ../../repositories/NAME/b, copies: 4}}
  - {{archive: c, repository: ../../repositories/NAME/c}}
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
        # In a process of its own: what this one holds counts as memory of those that it starts.
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            folders = {
                count: pool.submit(_fleet, Path(name) / str(count), count).result() for count in COUNTS
            }
        half, whole = COUNTS[-2:]
        chains = {
            each: _chain(folders[half], Path(name) / f"promoted-{each}", half, each) for each in (False, True)
        }
        turns, shown, promoted = list[dict[int, Run]](), list[Run](), list[dict[bool, Run]]()
        for _ in range(ROUNDS):
            turns.append({count: _checked(folders[count], count) for count in COUNTS})
            shown.append(_shown(folders[half], half))
            promoted.append({each: _checked(root, half, "prod", "--locked") for each, root in chains.items()})
    seconds = {count: statistics.median(each[count].seconds for each in turns) for count in COUNTS}
    megabytes = {count: max(each[count].megabytes for each in turns) for count in COUNTS}
    show = statistics.median(each.seconds for each in shown)
    follows, waits = (statistics.median(each[which].seconds for each in promoted) for which in (False, True))
    start = seconds[COUNTS[0]]
    times = (seconds[whole] - start) / (seconds[half] - start)
    print(f"fleet check: seconds, medians of {ROUNDS}")
    print(f"{'specs':>8}{'seconds':>12}{'beyond start':>16}{'ms a spec':>12}{'MB at most':>12}")
    for count in COUNTS:
        beyond = seconds[count] - start
        each = f"{1000 * beyond / (count - 1):.2f}" if count > 1 else ""
        print(f"{count:>8,}{seconds[count]:>12.2f}{beyond:>16.2f}{each:>12}{megabytes[count]:>12.0f}")
    print(f"fleet show of one of {half:,}: {show:.2f} s")
    print(f"{half:,} for prod: {follows:.2f} s where it follows main, {waits:.2f} s where it is promoted to")
    worst = statistics.median(_worst_file() for _ in range(ROUNDS))
    print(f"one file of {len(WORST) >> 10} KiB, a mistake on every line: {worst:.2f} s")
    told = {
        f"check_{half}_s": seconds[half],
        f"check_{half}_mb": megabytes[half],
        f"check_{whole}_times_{half}": times,
        f"show_of_{half}_s": show,
        "worst_file_s": worst,
        f"check_{half}_promoted_times_not": waits / follows,
        "check_promoted_times_bar": TIMES_PROMOTED,
    }
    print(json.dumps({name: round(value, 2) for name, value in told.items()}))
    too_slow = seconds[half] >= SECONDS or times > TIMES or worst >= SECONDS_OF_A_FILE
    too_slow |= show >= SECONDS_TO_SHOW or megabytes[half] >= MEGABYTES
    too_slow |= waits > TIMES_PROMOTED * follows
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


@dataclass(frozen=True)
class Run:
    """What one command took."""

    seconds: float
    megabytes: float


def _checked(root: Path, count: int, environment: str = "dev", *options: str) -> Run:
    """One check; it must have found what is wrong, and nothing else."""
    run, code, errors = _run(root, "check", *options, environment=environment)
    faulty = sum(number % KINDS == FAULTY for number in range(count))
    said = errors.splitlines() if faulty else [errors]
    if code != bool(faulty) or (f"{2 * faulty} errors, 0 warnings" if faulty else "") not in said:
        raise AssertionError(f"{count} specs, exit {code}: {errors[-1000:]}")
    return run


def _shown(root: Path, count: int) -> Run:
    """The effective spec of the endpoint in the middle."""
    run, code, errors = _run(root, "show", f"endpoint-{count // 2:04}")
    if code:
        raise AssertionError(errors[-1000:])
    return run


def _run(root: Path, *arguments: str, environment: str = "dev") -> tuple[Run, int, str]:
    """A command with its exit code and what it wrote on standard error."""
    command = [FLEET, *arguments, "--env", environment]
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        begin = time.perf_counter()
        process = subprocess.Popen(command, cwd=root, stdout=output, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        run = Run(time.perf_counter() - begin, usage.ru_maxrss / 1000)
        errors.seek(0)
        return run, process.returncode, errors.read().decode()


def _fleet(root: Path, count: int) -> Path:
    """A fleet of so many endpoints, locked."""
    files = {**SHARED, "environments/dev.yaml": ENVIRONMENT + OVERRIDES}
    for number in range(count):
        name, kind = f"endpoint-{number:04}", number % KINDS
        for path, text in _endpoint(kind):
            place = path.replace("NAME", name).replace("TEAM", f"team-{number % TEAMS}")
            files[place] = text.replace("NAME", name)
        if kind == OVERRIDDEN:
            files["environments/dev.yaml"] += OVERRIDE.replace("NAME", name)
    return locked_fleet(root, files)


def _chain(source: Path, root: Path, count: int, promotes: bool) -> Path:
    """The fleet with two more environments that run the same; where it `promotes`, a tenth waits for both."""
    shutil.copytree(source, root)
    text = (root / "environments/dev.yaml").read_text()
    for number, (name, origin) in enumerate(PROMOTED.items()):
        shutil.copytree(root / "locks/dev", root / "locks" / name)
        settings = text.replace("environment: dev", f"environment: {name}").replace("9012", f"901{number}")
        settings += f"promoted_from: {origin}\n" * promotes
        (root / f"environments/{name}.yaml").write_text(settings)
        if promotes:
            adopt = [FLEET, "promote", "--to", name, "--adopt"]
            subprocess.run(adopt, cwd=root, check=True, stdout=subprocess.DEVNULL)
    for file in (
        root / f"model_specs/team-{number % TEAMS}/endpoint-{number:04}.yaml" for number in range(count)
    ):
        if int(file.stem[-4:]) % KINDS == CHANGED:
            file.write_text(file.read_text().replace("max: 4", "max: 6"))
    return root


def _endpoint(kind: int) -> Iterator[tuple[str, str]]:
    """The files of an endpoint: its spec and its repositories."""
    match kind:
        case 0 | 1:
            yield "model_specs/TEAM/NAME.yaml", MULTI_MODEL
            for archive in "abc":
                yield from _model(archive, f"encoder-{archive}", ONNX, "model.onnx")
        case 2:
            yield "model_specs/TEAM/NAME.yaml", SINGLE.replace("models:", "default_model: all\nmodels:")
            yield from _model("a", "all", ENSEMBLE, "README.md")
            yield from _model("a", "encoder", ONNX, "model.onnx")
            yield from _model("a", "tokens", PYTHON, "model.py")
        case _:
            yield "model_specs/TEAM/NAME.yaml", SINGLE + (FINDINGS if kind == FAULTY else "")
            yield from _model("a", "encoder", ONNX, "model.onnx")


def _model(archive: str, model: str, config: str, file: str) -> Iterator[tuple[str, str]]:
    folder = f"repositories/NAME/{archive}/{model}"
    yield f"{folder}/config.pbtxt", config
    code = f"# {model} of NAME\n"
    yield f"{folder}/1/{file}", code + (CODE if file == "model.py" else "")


if __name__ == "__main__":
    sys.exit(main())
