"""Requests that SageMaker refuses for their size, or may refuse."""

from __future__ import annotations

from dataclasses import dataclass

from triton_fleet.catalog.limits import guide_body_limit, model_body_limit

CODE = "FL260"
"""The rule `oversized-request`, whose texts these are, of a spec and of a call alike."""
_MIB = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Oversize:
    """A mistake in the size of a request; `certain`: SageMaker refuses it by every source."""

    message: str
    hint: str
    certain: bool


def oversize(request: str, size: int, *, is_least: bool = False) -> Oversize | None:
    """The mistake in the size of a request of `size` bytes, or None where every source of AWS allows it.

    Args:
        request: How the message names it, such as `the request`.
        size: Bytes of its body.
        is_least: Its body may have more.
    """
    model, guide = model_body_limit(), guide_body_limit()
    has = f"{request} has {'at least ' if is_least else ''}{size / _MIB:.1f} MiB"
    if size > guide.bytes:
        hint = (
            "send less: encoded (JPEG, text) for a first model to decode, or the URI of an S3 object that the"
            " model reads; or use an asynchronous endpoint, which Triton Fleet does not create"
        )
        message = f"{has}; a real-time call accepts {guide.words} ({guide.name})"
        return Oversize(message=message, hint=hint, certain=True)
    if size > model.bytes:
        hint = "send one such request to an endpoint in your account before callers depend on it"
        message = f"{has}: {guide.name} allow {guide.words}, {model.name} allows {model.words}"
        return Oversize(message=message, hint=hint, certain=False)
    return None
