"""Reasons for failures of trtexec by its output: reasons.json has patterns with examples and sources."""

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
    NOT_LOADABLE,
    OTHER_FAILURE,
    OUT_OF_MEMORY,
    UNSUPPORTED_OPERATOR,
    BuildError,
)
from engine_request.process import ProcessResult

MAX_LOG_LINES = 30
"""Lines of the log's end that a failure keeps."""
STAMPS = re.compile(r"^(?:\[[^\]]*\] )*")
"""trtexec's stamps: `[08/21/2026-10:00:00] [E] [TRT] `."""


def build_error(result: ProcessResult) -> BuildError:
    """The error of a build that gave no plan."""
    if result.exit_code == -signal.SIGKILL:
        return BuildError(
            OUT_OF_MEMORY,
            "trtexec was killed by the system, as happens where the host's memory is too small",
            remedy="build on an instance with more memory",
            log=result.lines[-MAX_LOG_LINES:],
        )
    for reason in _table()["reasons"]:
        matches = [line for line in result.lines if re.search(reason["pattern"], line)]
        if matches:
            problem = BY_NAME[reason["problem"]]
            operators = sorted(set(_operators(result.lines))) if problem is UNSUPPORTED_OPERATOR else []
            prefix = f"TensorRT has no {', '.join(operators)}: " if operators else ""
            return BuildError(
                problem, prefix + _message(result, matches[-1]), log=result.lines[-MAX_LOG_LINES:]
            )
    return BuildError(
        OTHER_FAILURE, _message(result, _first_error(result)), log=result.lines[-MAX_LOG_LINES:]
    )


def load_error(result: ProcessResult) -> BuildError:
    """The error of a plan that this GPU does not load or run."""
    return BuildError(NOT_LOADABLE, _message(result, _first_error(result)), log=result.lines[-MAX_LOG_LINES:])


def _message(result: ProcessResult, line: str) -> str:
    status = f"exit code {result.exit_code}" if result.exit_code >= 0 else f"signal {-result.exit_code}"
    return f"trtexec ended with {status}: {STAMPS.sub('', line).strip() or 'it writes nothing'}"


def _first_error(result: ProcessResult) -> str:
    """The first of its errors, from which the others follow; else the last line."""
    errors = [line for line in result.lines if "[E]" in line]
    return (errors or result.lines[-1:] or [""])[0]


def _operators(lines: Sequence[str]) -> Iterator[str]:
    patterns = _table()["operators"]
    for line in lines:
        for pattern in patterns:
            match = re.search(pattern, line)
            if match is not None:
                yield match[1]


@cache
def _table() -> Any:
    return json.loads(files("compile_engine").joinpath("reasons.json").read_text())
