"""A body with its content type, the same for requests and answers."""

from __future__ import annotations

from dataclasses import dataclass

JSON = "application/json"
BINARY = "application/vnd.sagemaker-triton.binary+json;json-header-size="
"""The content type of a JSON header with raw tensors behind it, up to the header's size in bytes.

Without SageMaker the header Inference-Header-Content-Length has that size; source: Triton's
src/sagemaker_server.cc.
"""


@dataclass(frozen=True)
class Payload:
    """The body that an invocation sends, or gets back."""

    body: bytes
    content_type: str
