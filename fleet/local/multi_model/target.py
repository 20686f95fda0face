"""The names of target models: which are taken, and what they stand for on disk."""

from __future__ import annotations

import hashlib
import re

from fleet.local.containers import Refusal

_SHAPE = re.compile(r"\S[^\x00-\x1f\x7f]{0,1023}")
"""Of TargetModel; source: botocore, sagemaker-runtime, TargetModelHeader."""


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
            f"TargetModel {target!r} is no name: 1 to 1024 printable characters, no white space at the start"
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
