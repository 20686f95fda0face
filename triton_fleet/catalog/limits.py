"""AWS's limits on what a spec can ask for and on one call, and the quotas that instances count against."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from triton_fleet.catalog.data_file import data_file


def limit(name: str) -> int:
    """A limit, in the unit that its name ends with.

    Raises:
        KeyError: the catalog does not have it.
    """
    return int(_limits()[name]["value"])


def limits() -> list[str]:
    """The name of every limit."""
    return list(_limits())


def quota_service() -> str:
    """The service to which Service Quotas counts them."""
    return str(data_file("quotas.yaml")["service"])


def instance_quota(instance_type: str) -> str:
    """The name of the quota on the instances of one type in an account and region."""
    return str(data_file("quotas.yaml")["of_type"]).format(type=instance_type)


def all_instances_quota() -> str:
    """The name of the quota on the instances of all types together."""
    return str(data_file("quotas.yaml")["of_all"])


@cache
def _limits() -> dict[str, dict[str, Any]]:
    return {**data_file("limits.yaml")["limits"], **data_file("documented_limits.yaml")["limits"]}


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
