"""The AWS services that builds of engines call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from triton_fleet.findings import CannotRunError

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client
    from mypy_boto3_ssm.client import SSMClient


@dataclass(frozen=True, kw_only=True)
class BuildClients:
    """Clients of one account and region; threads may share them."""

    s3: S3Client
    ssm: SSMClient
    codebuild: Any
    logs: Any


Builders: TypeAlias = "Callable[[], BuildClients]"
"""Creates the clients; called only if an engine has to be built."""


def no_builders() -> BuildClients:
    """The stand-in for `Builders` where no engine may be built.

    Raises:
        CannotRunError: always.
    """
    raise CannotRunError(
        "an engine has to be built, which this command does not do", "publish the endpoint first"
    )
