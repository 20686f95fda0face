"""Transient errors of AWS, the same for every service."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from botocore.config import Config
from botocore.exceptions import ClientError, ConnectionError, HTTPClientError, IncompleteReadError
from urllib3.exceptions import HTTPError

from .errors import PendingError

CONFIG = Config(connect_timeout=5, read_timeout=70, retries={"total_max_attempts": 1})
"""SageMaker gives a model 60 s, so its own answer arrives; the check repeats its calls itself."""
TRANSIENT_CODES = {
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
CONNECTION_ERRORS = (ConnectionError, HTTPClientError, HTTPError, IncompleteReadError)
"""While the body of a refusal is read, botocore raises urllib3's own errors."""
_MAX_REQUESTS_STATUS, _MIN_FAULT_STATUS = 429, 500


@contextmanager
def aws_call(purpose: str) -> Iterator[None]:
    """Make a call in the context; errors begin with its `purpose`.

    Raises:
        PendingError: in place of a transient error; other errors stay as they are.
    """
    try:
        yield
    except CONNECTION_ERRORS as error:
        raise PendingError(f"{purpose}: {type(error).__name__}: {error}") from error
    except ClientError as error:
        response: Any = error.response
        code, status = (
            response["Error"].get("Code", ""),
            response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0),
        )
        # A proxy on the way may answer in its own format, without a code of the service.
        if code in TRANSIENT_CODES or status == _MAX_REQUESTS_STATUS or status >= _MIN_FAULT_STATUS:
            raise PendingError(
                f"{purpose}: {code or status}: {response['Error'].get('Message', '')}"
            ) from error
        raise
