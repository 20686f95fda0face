"""The record of an engine, written by the container that built it: its author may be hostile."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import Any

from engine_request.problems import REFUSAL, BuildError
from engine_request.request import EngineRequest

MAX_RECORD_BYTES = 1 << 20
"""A record has some hundred."""
MAX_TEXT_CHARACTERS = 200
"""The limit of each text in it."""
GPU_FIELDS = ("name", "compute_capability", "driver", "memory")
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
FIGURE = re.compile(r"[a-z0-9_]{1,40}")
MAX_FIGURES = 20


@dataclass(frozen=True)
class Record:
    """A record of the request's engine, of which every value has its type and a limit.

    Attributes:
        digest: The digest of the plan, `sha256:...`.
        size: The size of the plan in bytes.
        gpu: The GPU's name, compute capability, driver and memory.
        build_seconds: How long trtexec built.
        figures: Figures of a short run, by name.
        start: The time in UTC.
    """

    digest: str
    size: int
    tensorrt: str
    gpu: dict[str, str]
    build_seconds: float
    figures: dict[str, float]
    start: str

    @classmethod
    def of(cls, text: bytes, request: EngineRequest) -> Record:
        """Read a record.

        Raises:
            BuildError: it is malformed, or of another engine.
        """
        try:
            return cls._read(json.loads(text), request)
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
            raise BuildError(REFUSAL, f"the job left no valid record of its engine: {error}") from error

    @classmethod
    def _read(cls, document: Any, request: EngineRequest) -> Record:
        if document["key"] != request.key:
            raise ValueError("it has the key of another engine")
        digest, size, figures = document["plan"]["digest"], document["plan"]["size"], document["figures"]
        if not DIGEST.fullmatch(digest) or type(size) is not int:
            raise ValueError("the digest or the size of the plan is malformed")
        if len(figures) > MAX_FIGURES or not all(FIGURE.fullmatch(name) for name in figures):
            raise ValueError(f"it has more than {MAX_FIGURES} figures, or one with a malformed name")
        return cls(
            digest=digest,
            size=size,
            tensorrt=_text(document["tensorrt"]),
            gpu={name: _text(document["gpu"][name]) for name in GPU_FIELDS},
            build_seconds=_number(document["build_seconds"]),
            figures={name: _number(value) for name, value in figures.items()},
            start=_text(document["started"]),
        )


def _text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > MAX_TEXT_CHARACTERS or not value.isprintable():
        raise ValueError(f"a text is missing, not printable or longer than {MAX_TEXT_CHARACTERS} characters")
    return value


def _number(value: Any) -> float:
    number = float(value)
    if isinstance(value, str) or not math.isfinite(number):
        raise ValueError("a number is missing or not finite")
    return number
