"""ARNs in an environment's file: their forms, and whether they are of its account and region."""

from __future__ import annotations

import re
from shlex import quote
from typing import Annotated

from pydantic import AfterValidator, WithJsonSchema

from triton_fleet.catalog.images import partition_of
from triton_fleet.spec.mistake import Mistake

_KEY = re.compile(r"arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/[a-zA-Z0-9-]+")
_BOUNDARY = re.compile(r"arn:aws[a-z-]*:iam::([0-9]{12}|aws):policy/[\x21-\x7e]+")
ROLE = re.compile(r"arn:aws[a-z-]*:iam::[0-9]{12}:role/[a-zA-Z0-9_+=,.@/-]+")
_ALIAS = re.compile(r"(arn:[^/]*:)?alias/.*")


def _key(value: str) -> str:
    if not _KEY.fullmatch(value):
        asked = quote(value) if value else "alias/NAME"
        command = f"aws kms describe-key --key-id {asked} --query KeyMetadata.Arn --output text"
        problem = "an alias is not accepted" if _ALIAS.fullmatch(value) else "it is not the ARN of a KMS key"
        raise Mistake(problem, f"write the key's own ARN; `{command}` prints it")
    return value


def _boundary(value: str) -> str:
    if not _BOUNDARY.fullmatch(value):
        raise Mistake("it is not the ARN of an IAM policy", "write `arn:aws:iam::ACCOUNT:policy/NAME`")
    return value


def _role(value: str) -> str:
    if not ROLE.fullmatch(value):
        raise Mistake("it is not the ARN of an IAM role", "write `arn:aws:iam::ACCOUNT:role/NAME`")
    return value


def _form(pattern: re.Pattern[str]) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "pattern": f"^{pattern.pattern}$"})


KeyArn = Annotated[str, AfterValidator(_key), _form(_KEY)]
"""A KMS key, by its own ARN."""
BoundaryArn = Annotated[str, AfterValidator(_boundary), _form(_BOUNDARY)]
"""A managed policy of an account, or of AWS."""
RoleArn = Annotated[str, AfterValidator(_role), _form(ROLE)]
"""A role of an account."""


def elsewhere(arn: str, account: str, region: str) -> str | None:
    """Why an ARN is not of an environment's account and region; None where it is, or where it has none."""
    _, partition, _, its_region, its_account, _ = arn.split(":", 5)
    own = partition_of(region).name
    if partition != own:
        return f"it is in the partition {partition}, and {region} is of {own}"
    if its_account not in (account, "aws"):
        return f"it is in account {its_account}, and the environment of {account}"
    if its_region not in (region, ""):
        return f"it is in region {its_region}, and the environment of {region}"
    return None
