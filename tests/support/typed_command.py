"""A command as a user types it, and how it ends in this process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class Ended:
    code: object
    out: str
    err: str


Typed: TypeAlias = Callable[..., Ended]
