"""The names of target models: which are taken, and what they stand for on disk."""

from __future__ import annotations

import hashlib
import re

from fleet.local.containers import Refusal

_SHAPE = re.compile(r"[A-Za-z0-9._/@,:=+%-]{1,1024}")
"""Narrower than SageMaker's own (printable characters): Triton's Python backend puts the name unquoted into a
shell's command line, in which others split it, hang the load, or run what they say (tried with 24.10)."""


def check_target(target: str | None) -> str:
    """The name, if it is one.

    Raises:
        Refusal: there is none, or it is no path of an archive below the endpoint's prefix.
    """
    if target is None:
        said = "TargetModel is required: this is a multi-model endpoint"
        raise Refusal(400, "ValidationError", said)
    if not _SHAPE.fullmatch(target):
        said = (
            f"TargetModel {target!r} is refused: write 1 to 1024 letters, digits and . _ / @ , : = + % -, as"
            " Triton's Python backend runs a shell command with the name in it"
        )
        raise Refusal(400, "ValidationError", said)
    if {"", ".", ".."} & set(target.split("/")):
        said = (
            f"TargetModel {target!r} leaves the endpoint's prefix: it is a path without empty parts, . and .."
        )
        raise Refusal(400, "ValidationError", said)
    return target


def folder_name(url: str) -> str:
    """What a target's archive is called on disk and towards Triton, which takes letters and digits."""
    return hashlib.sha256(url.encode()).hexdigest()[:32]
