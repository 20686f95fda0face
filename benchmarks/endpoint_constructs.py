"""Constructs: the cost of endpoints in an app of others, beside the CDK's own constructs of SageMaker.

`make bench NAME=endpoint_constructs`. The other side is aws-cdk.aws-sagemaker-alpha, in an environment of its
own with the same CDK (requirements-alpha.txt). `plain` is one endpoint: a role, a Model, a configuration and
an endpoint. `full` is fifty, ten to a stack, with the same numbers of alarms, targets of scaling and callers
on both sides. Ours also have what the alpha has not: the check of each deploy, a dashboard, saved queries,
owned logs, the scaling guard, and all rules. endpoint_constructs_side.py has what each side declares.

Compared is the processor's time outside of the kernel, of Python and Node.js together, from an app without
stacks to its templates; the pairs take turns, each side in a process of its own. Imports are shown apart,
with the start of Node.js and the collection of garbage that they leave due. The CDK's own validation, which
is the same on both sides and takes longer than all else, is switched off. Exits with 1 where ours costs more
than its bar times as much, by the median of the pairs.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, TypeAlias

from short import is_short

ROOT = Path(__file__).resolve().parents[1]
OURS, ALPHA = "ours", "alpha"
PYTHONS = {OURS: sys.executable, ALPHA: str(ROOT / ".venv-alpha" / "bin" / "python")}
BARS = {"plain": 1.3, "full": 1.6}
ENDPOINTS = {"plain": 1, "full": 2 if is_short() else 50}
PAIRS = {"plain": 1, "full": 1} if is_short() else {"plain": 9, "full": 5}
PARTS = {"start": "start of Node.js", "import": "imports", "declare": "declare", "synth": "synthesise"}
COMPARED_PARTS = ("declare", "synth")
COMPARED_TYPES = (
    "AWS::SageMaker::Endpoint",
    "AWS::CloudWatch::Alarm",
    "AWS::ApplicationAutoScaling::ScalingPolicy",
    "AWS::IAM::Role",
)
"""Resources of which both sides have the same number."""

Run: TypeAlias = dict[str, Any]
"""What a side prints."""
Pair: TypeAlias = dict[str, Run]


def main() -> int:
    """Measure, print, and compare with the bars."""
    if not Path(PYTHONS[ALPHA]).exists():
        print(f"{PYTHONS[ALPHA]} does not exist: run `make bench NAME=endpoint_constructs`", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        pairs = {form: [_pair(form, turn, folder) for turn in range(PAIRS[form])] for form in BARS}
    for form, runs in pairs.items():
        _require_same_numbers(form, runs[0])
        _show(form, runs)
    ratios = {form: _ratio(runs, *COMPARED_PARTS) for form, runs in pairs.items()}
    imports = _ratio([pair for runs in pairs.values() for pair in runs], "start", "import")
    print(json.dumps({name: round(ratio, 2) for name, ratio in {**ratios, "imports": imports}.items()}))
    return int(not is_short() and any(ratios[form] > bar for form, bar in BARS.items()))


def _pair(form: str, turn: int, folder: str) -> Pair:
    """One run of each side; the one that begins alternates."""
    sides = (ALPHA, OURS) if turn % 2 else (OURS, ALPHA)
    return {side: _run(side, form, f"{folder}/{side}") for side in sides}


def _run(side: str, form: str, folder: str) -> Run:
    """One process.

    Raises:
        subprocess.CalledProcessError: it failed; its output is on standard error.
    """
    script = str(ROOT / "benchmarks" / "endpoint_constructs_side.py")
    command = [PYTHONS[side], script, side, form, str(ENDPOINTS[form]), folder]
    variables = {**os.environ, "CDK_VALIDATION": "false", "PATH": _path()}
    variables["PYTHONPATH"] = os.pathsep.join([str(ROOT), str(ROOT / "constructs")])
    process = subprocess.run(command, env=variables, stdout=subprocess.PIPE, text=True, check=True)
    run: Run = json.loads(process.stdout.splitlines()[-1])
    return run


def _path() -> str:
    """The PATH with this environment's Node.js, which both sides use."""
    return f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


def _require_same_numbers(form: str, pair: Pair) -> None:
    """Compare the numbers of resources that both sides are to have.

    Raises:
        AssertionError: they differ, so that comparing their times would show nothing.
    """
    numbers = {
        side: {type: run["resources"].get(type, 0) for type in COMPARED_TYPES} for side, run in pair.items()
    }
    if numbers[OURS] != numbers[ALPHA] or numbers[OURS][COMPARED_TYPES[0]] != ENDPOINTS[form]:
        raise AssertionError(f"{form}: the sides differ: {numbers}")


def _show(form: str, pairs: list[Pair]) -> None:
    """A table of one form."""
    print(f"{form}: {ENDPOINTS[form]} endpoints, seconds of the processor outside of the kernel, medians")
    _row("", [OURS, ALPHA, "times"])
    for part, title in PARTS.items():
        seconds = [statistics.median(_user(pair[side], part) for pair in pairs) for side in PYTHONS]
        _row(title, [*(f"{value:.2f}" for value in seconds), f"{_ratio(pairs, part):.2f}"])
    sums = [statistics.median(_user(pair[side], *COMPARED_PARTS) for pair in pairs) for side in PYTHONS]
    title = f"declare and synthesise (bar {BARS[form]})"
    _row(title, [*(f"{value:.2f}" for value in sums), f"{_ratio(pairs, *COMPARED_PARTS):.2f}"])
    resources = [sum(pairs[0][side]["resources"].values()) for side in PYTHONS]
    _row("resources", [*map(str, resources), f"{resources[0] / resources[1]:.2f}"])
    print()


def _ratio(pairs: list[Pair], *parts: str) -> float:
    """How many times as much ours takes, by the median of the pairs."""
    return statistics.median(_user(pair[OURS], *parts) / _user(pair[ALPHA], *parts) for pair in pairs)


def _user(run: Run, *parts: str) -> float:
    return sum(float(run["parts"][part]["user"]) for part in parts)


def _row(title: str, cells: list[str]) -> None:
    print(f"{title:<38}" + "".join(f"{cell:>10}" for cell in cells))


if __name__ == "__main__":
    sys.exit(main())
