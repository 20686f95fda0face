"""How the stand-in of trtexec fails where it is told to: with lines that the real one was seen to write."""

from __future__ import annotations

import json

from fleet.artifacts.engine_script import SOURCES

FAULT = "FLEET_STAND_IN_FAULT"
"""The environment variable: a problem's name as reasons.json has it, NOT_LOADABLE, `hang` or `killed`."""
NOT_LOADABLE = "the plan does not load back"


def real_lines(problem: str) -> tuple[str, ...]:
    """The example of the first reason of a problem; its name alone where it has none."""
    table = json.loads((SOURCES / "compile_engine" / "reasons.json").read_text(encoding="utf-8"))
    for reason in table["reasons"]:
        if reason["problem"] == problem:
            return tuple(reason["example"])
    return (f"told to fail: {problem}",)
