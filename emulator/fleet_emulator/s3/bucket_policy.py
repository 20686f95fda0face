"""Which accounts a bucket's policy lets in; moto lets every account in.

Source: S3 user guide, how Amazon S3 authorizes a request for a bucket operation; IAM user guide, Principal.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from moto.s3.models import FakeBucket

from fleet_emulator.permissions import statements, values_of

_ACCOUNT = re.compile(r"(?:arn:[^:]+:(?:iam|sts)::)?(\*|\d{12})(?::.+)?")


def is_open_to(bucket: FakeBucket, account: str) -> bool:
    """Whether an account owns a bucket, or an Allow of the bucket's policy names it or one of its roles.

    Actions, resources and conditions of the policy are not evaluated.
    """
    return account == bucket.account_id or not {account, "*"}.isdisjoint(_accounts(bucket))


def _accounts(bucket: FakeBucket) -> Iterator[str]:
    for statement in statements([bucket.policy.decode()] if bucket.policy else []):
        if statement["Effect"] == "Allow":
            principal = statement.get("Principal", {})
            named = principal.get("AWS", []) if isinstance(principal, dict) else principal
            yield from (match[1] for match in map(_ACCOUNT.fullmatch, values_of(named)) if match)
