"""What botocore raises when an endpoint refuses, in Triton's own words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from botocore.exceptions import ClientError

from fleet_client.errors import InferenceError

_NOT_READY = {"ModelNotReadyException", "ThrottlingException"}
_TOO_MANY_REQUESTS = 429


def inference_error(error: ClientError) -> InferenceError:
    """The refusal; source of the fields: botocore's service model of sagemaker-runtime."""
    said: Mapping[str, Any] = error.response
    return InferenceError(
        _words(said["OriginalMessage"]) if "OriginalMessage" in said else said["Error"].get("Message", ""),
        said["OriginalStatusCode"] if "OriginalStatusCode" in said else _http_status(said),
        said["Error"].get("Code", ""),
        said.get("LogStreamArn"),
    )


def is_worth_waiting(error: ClientError) -> bool:
    """Whether nothing was inferred yet: a model is still being loaded, or there are too many calls."""
    said: Mapping[str, Any] = error.response
    return said["Error"].get("Code") in _NOT_READY or _http_status(said) == _TOO_MANY_REQUESTS


def _http_status(said: Mapping[str, Any]) -> int:
    status: int = said["ResponseMetadata"]["HTTPStatusCode"]
    return status


def _words(message: str) -> str:
    """Triton answers `{"error": "..."}`; other servers and SageMaker itself answer plain text."""
    try:
        said = json.loads(message)
    except (ValueError, RecursionError):  # json's parser goes as deep as Python's stack
        return message
    match said:
        case {"error": str(words)}:
            return words
    return message
