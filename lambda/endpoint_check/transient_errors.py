"""What befalls a call of AWS and passes by itself: the same for every service."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from botocore.config import Config
from botocore.exceptions import ClientError, ConnectionError, HTTPClientError, IncompleteReadError
from urllib3.exceptions import HTTPError

from .errors import NotYet

CONFIG = Config(connect_timeout=5, read_timeout=70, retries={"total_max_attempts": 1})
"""SageMaker gives a model 60 s, so its own answer is seen; what passes by itself is tried again by us."""
CODES = {
    "AccessDeniedException",
    "InternalDependencyException",
    "InternalFailure",
    "ModelNotReadyException",
    "ServiceUnavailable",
    "ServiceUnavailableException",
    "ThrottlingException",
}
"""Source: botocore's service model of sagemaker-runtime; the name differs between code and shape of one. IAM
sees policies and tags a while after they are made."""
BROKEN = (ConnectionError, HTTPClientError, HTTPError, IncompleteReadError)
"""While the body of a refusal is read, botocore lets urllib3's own errors through."""
_TOO_MANY, _FAULT = 429, 500


@contextmanager
def tried(what: str) -> Iterator[None]:
    """Let a call be made; `what` is how errors begin.

    Raises:
        NotYet: in place of what passes by itself; other errors go on as they are.
    """
    try:
        yield
    except BROKEN as error:
        raise NotYet(f"{what}: {type(error).__name__}: {error}") from error
    except ClientError as error:
        said: Any = error.response
        code, status = (
            said["Error"].get("Code", ""),
            said.get("ResponseMetadata", {}).get("HTTPStatusCode", 0),
        )
        # What stands between may answer in words of its own, without a code of the service's.
        if code in CODES or status == _TOO_MANY or status >= _FAULT:
            raise NotYet(f"{what}: {code or status}: {said['Error'].get('Message', '')}") from error
        raise
