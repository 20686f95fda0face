"""Limits of one real-time call of an endpoint: its body, and the time until its answer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from triton_fleet.catalog.data_file import data_file


@dataclass(frozen=True, kw_only=True)
class BodyLimit:
    """The most bytes of a body by one source of AWS; `words` and `name` are for messages."""

    bytes: int
    words: str
    name: str


@cache
def model_body_limit() -> BodyLimit:
    """The limit in botocore's model, which botocore does not enforce: a warning begins above it."""
    return _body_limit("model")


@cache
def guide_body_limit() -> BodyLimit:
    """The limit in SageMaker's own guide: what is larger is refused."""
    return _body_limit("guide")


def seconds_to_answer(*, streams: bool) -> int:
    """Seconds after which SageMaker ends a call; `streams`: the answer is sent in parts."""
    return int(data_file("invocations.yaml")["seconds"]["stream" if streams else "answer"])


def _body_limit(source: str) -> BodyLimit:
    facts = data_file("invocations.yaml")["body"][source]
    return BodyLimit(**{key: facts[key] for key in ("bytes", "words", "name")})
