"""Errors of a call, by whose fault they are."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from botocore.exceptions import ClientError


class FleetClientError(Exception):
    """Any error of this package."""


class PayloadError(FleetClientError):
    """The arguments cannot be sent; nothing was."""


class AnswerError(FleetClientError):
    """The answer is not one of Triton's: cut off, or of another format."""


class InferenceError(FleetClientError):
    """The endpoint refused; its `__cause__` is botocore's ClientError.

    `status` is Triton's own HTTP status (SageMaker's OriginalStatusCode), or SageMaker's where it did not ask
    Triton; `message` is in the words of the service that refused; `code` is SageMaker's error code,
    `ModelError` where Triton refused; `log` is the ARN of the log where SageMaker names it.
    """

    def __init__(self, message: str, status: int, code: str, log: str | None = None) -> None:
        super().__init__(message, status, code, log)  # all of them, so that it can be pickled
        self.message, self.status, self.code, self.log = message, status, code, log

    def __str__(self) -> str:
        return f"{self.code} ({self.status}): {self.message}"


_NOT_READY = {"ModelNotReadyException", "ThrottlingException"}
_TOO_MANY_REQUESTS = 429


def inference_error(error: ClientError) -> InferenceError:
    """The refusal; source of the fields: botocore's service model of sagemaker-runtime."""
    answer: Mapping[str, Any] = error.response
    return InferenceError(
        _words(answer["OriginalMessage"])
        if "OriginalMessage" in answer
        else answer["Error"].get("Message", ""),
        answer["OriginalStatusCode"] if "OriginalStatusCode" in answer else _http_status(answer),
        answer["Error"].get("Code", ""),
        answer.get("LogStreamArn"),
    )


def is_worth_waiting(error: ClientError) -> bool:
    """Whether nothing was inferred yet: a model is still being loaded, or there are too many calls."""
    answer: Mapping[str, Any] = error.response
    return answer["Error"].get("Code") in _NOT_READY or _http_status(answer) == _TOO_MANY_REQUESTS


def _http_status(answer: Mapping[str, Any]) -> int:
    status: int = answer["ResponseMetadata"]["HTTPStatusCode"]
    return status


def _words(message: str) -> str:
    """Triton answers `{"error": "..."}`; other servers and SageMaker itself answer plain text."""
    try:
        answer = json.loads(message)
    except (ValueError, RecursionError):  # json's parser goes as deep as Python's stack
        return message
    match answer:
        case {"error": str(words)}:
            return words
    return message
