"""All that an application needs to call a Triton endpoint on Amazon SageMaker: numpy and boto3 alone."""

from __future__ import annotations

from fleet_client.client import CLIENT_CONFIG, STREAM_CONFIG, TritonEndpoint
from fleet_client.codec import Payload, decode, encode
from fleet_client.errors import AnswerError, FleetClientError, InferenceError, PayloadError

__all__ = [
    "CLIENT_CONFIG",
    "STREAM_CONFIG",
    "AnswerError",
    "FleetClientError",
    "InferenceError",
    "Payload",
    "PayloadError",
    "TritonEndpoint",
    "decode",
    "encode",
]
