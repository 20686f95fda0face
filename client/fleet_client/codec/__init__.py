"""KServe v2 payloads as SageMaker's Triton takes and gives them, by JSON and by binary+json."""

from __future__ import annotations

from fleet_client.codec.answer import decode
from fleet_client.codec.request import Payload, encode

__all__ = ["Payload", "decode", "encode"]
