"""What can go wrong with a call, by whose fault it is."""

from __future__ import annotations


class FleetClientError(Exception):
    """Any error of this package."""


class PayloadError(FleetClientError):
    """What was given cannot be sent; nothing was."""


class AnswerError(FleetClientError):
    """The answer is not one of Triton's: cut off, or of another format."""


class InferenceError(FleetClientError):
    """The endpoint refused; its `__cause__` is botocore's ClientError.

    `status` is Triton's own HTTP status (SageMaker's OriginalStatusCode), or SageMaker's where it did not ask
    Triton; `message` is in the words of whoever refused; `code` is SageMaker's error code, `ModelError` where
    Triton refused; `log` is the ARN of the log where SageMaker names it.
    """

    def __init__(self, message: str, status: int, code: str, log: str | None = None) -> None:
        super().__init__(message, status, code, log)  # all of them, so that it can be pickled
        self.message, self.status, self.code, self.log = message, status, code, log

    def __str__(self) -> str:
        return f"{self.code} ({self.status}): {self.message}"
