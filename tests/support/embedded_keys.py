"""The keys of every embedded AWS that a test starts itself, and requests that are signed by hand."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import botocore.auth
import pytest
from botocore.auth import S3SigV4Auth, SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from triton_fleet.awsapi.emulator import Keys

KEYS = Keys("FLEET000000000000000", "of-the-tests")
VARIABLES = {"AWS_ACCESS_KEY_ID": KEYS.access_key_id, "AWS_SECRET_ACCESS_KEY": KEYS.secret_access_key}
SESSION: dict[str, Any] = {
    "aws_access_key_id": KEYS.access_key_id,
    "aws_secret_access_key": KEYS.secret_access_key,
}
PROFILE_KEYS = "".join(f"{name} = {value}\n" for name, value in SESSION.items())


def sign_request(
    method: str,
    url: str,
    headers: Mapping[str, str],
    *,
    service: str,
    body: str = "",
    keys: Keys = KEYS,
    at: datetime | None = None,
) -> dict[str, str]:
    """The headers of a request, with those of its signature; S3 signs the digest that a header names."""
    request = AWSRequest(method=method, url=url, headers=headers, data=body)
    sign = S3SigV4Auth if service == "s3" else SigV4Auth
    auth = sign(Credentials(keys.access_key_id, keys.secret_access_key), service, "us-east-1")
    with pytest.MonkeyPatch.context() as patch:
        if digest := {name.lower(): value for name, value in headers.items()}.get("x-amz-content-sha256"):
            patch.setattr(auth, "payload", lambda _: digest)
        if at is not None:
            patch.setattr(botocore.auth, "get_current_datetime", lambda: at)
        auth.add_auth(request)
    return dict(request.headers)
