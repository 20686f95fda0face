"""The names of target models: which are taken, and what they stand for on disk."""

from __future__ import annotations

import hashlib
import re

from triton_fleet.local.containers import Refusal

_SHAPE = re.compile(r"[A-Za-z0-9._/@,:=+%-]{1,1024}")
"""Narrower than SageMaker's own (printable characters): Triton's Python backend puts the name unquoted into a
shell's command line, in which others split it, hang the load, or run as commands (tried with 24.10)."""


def check_target(target: str | None) -> str:
    """The name, if it is one.

    Raises:
        Refusal: it is missing, or not a path of an archive below the endpoint's prefix.
    """
    if target is None:
        message = "TargetModel is required: this is a multi-model endpoint"
        raise Refusal(400, "ValidationError", message)
    if not _SHAPE.fullmatch(target):
        message = (
            f"TargetModel {target!r} is refused: write 1 to 1024 letters, digits and . _ / @ , : = + % -, as"
            " Triton's Python backend runs a shell command with the name in it"
        )
        raise Refusal(400, "ValidationError", message)
    if {"", ".", ".."} & set(target.split("/")):
        message = (
            f"TargetModel {target!r} leaves the endpoint's prefix: it is a path without empty parts, . and .."
        )
        raise Refusal(400, "ValidationError", message)
    return target


def folder_name(url: str) -> str:
    """What a target's archive is called on disk and towards Triton, which takes letters and digits."""
    return hashlib.sha256(url.encode()).hexdigest()[:32]
