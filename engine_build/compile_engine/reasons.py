"""Why trtexec failed, by what it wrote: reasons.json has patterns, each with an example and its source."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from engine_request.problems import (
    BY_NAME,
    FAILED,
    NOT_LOADABLE,
    OUT_OF_MEMORY,
    UNSUPPORTED_OPERATOR,
    BuildError,
)
from engine_request.process import Ended

TOLD = 30
"""Lines of the log's end that a failure keeps."""
WORDS = re.compile(r"^(?:\[[^\]]*\] )*")
"""trtexec's stamps: `[08/21/2026-10:00:00] [E] [TRT] `."""


def build_error(ended: Ended) -> BuildError:
    """The error of a build that gave no plan."""
    if ended.exit_code == -signal.SIGKILL:
        return BuildError(
            OUT_OF_MEMORY,
            "trtexec was killed by the system, as happens where the host's memory does not do",
            remedy="build on an instance with more memory",
            log=ended.lines[-TOLD:],
        )
    for reason in _table()["reasons"]:
        said = [line for line in ended.lines if re.search(reason["pattern"], line)]
        if said:
            problem = BY_NAME[reason["problem"]]
            operators = sorted(set(_operators(ended.lines))) if problem is UNSUPPORTED_OPERATOR else []
            what = f"TensorRT has no {', '.join(operators)}: " if operators else ""
            return BuildError(problem, what + _ended(ended, said[-1]), log=ended.lines[-TOLD:])
    return BuildError(FAILED, _ended(ended, _first_error(ended)), log=ended.lines[-TOLD:])


def load_error(ended: Ended) -> BuildError:
    """The error of a plan that this GPU does not load or run."""
    return BuildError(NOT_LOADABLE, _ended(ended, _first_error(ended)), log=ended.lines[-TOLD:])


def _ended(ended: Ended, line: str) -> str:
    how = f"exit code {ended.exit_code}" if ended.exit_code >= 0 else f"signal {-ended.exit_code}"
    return f"trtexec ended with {how}: {WORDS.sub('', line).strip() or 'it says nothing'}"


def _first_error(ended: Ended) -> str:
    """The first of its errors, from which the others follow; else the last line."""
    errors = [line for line in ended.lines if "[E]" in line]
    return (errors or ended.lines[-1:] or [""])[0]


def _operators(lines: Sequence[str]) -> Iterator[str]:
    patterns = _table()["operators"]
    for line in lines:
        for pattern in patterns:
            found = re.search(pattern, line)
            if found is not None:
                yield found[1]


@cache
def _table() -> Any:
    return json.loads(files("compile_engine").joinpath("reasons.json").read_text())
