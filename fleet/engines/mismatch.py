"""What does not fit between an engine and its model."""

from __future__ import annotations

from dataclasses import dataclass

from fleet.spec.source import KeyPath


@dataclass(frozen=True)
class Misfit:
    """One thing: the key below the engine's own, the message, and what to write instead.

    Of what is not `certain` the engine is built, and may serve.
    """

    below: KeyPath
    message: str
    hint: str
    certain: bool = True
