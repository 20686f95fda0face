"""TensorRT engines that are to be built for an archive."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated

from pydantic import BeforeValidator, Field, StringConstraints, WithJsonSchema, field_validator

from triton_fleet.spec.values import BYTES, Bytes, Count, Digest, Document, ModelName, Seconds, Text

_SHAPE = re.compile(r"[1-9][0-9]{0,9}(x[1-9][0-9]{0,9}){0,7}")


def _shape(value: object) -> object:
    if not (isinstance(value, str) and _SHAPE.fullmatch(value)):
        raise ValueError("write the dimensions with `x` between them, each 1 or more: `16x3x224x224`")
    return value


Shape = Annotated[
    str,
    BeforeValidator(_shape),
    WithJsonSchema({"type": "string", "pattern": f"^{_SHAPE.pattern}$", "examples": ["16x3x224x224"]}),
]
"""The dimensions of one tensor with its batch, as trtexec writes them: `16x3x224x224`; 8 at most."""
InputName = Annotated[str, StringConstraints(pattern=r"^[^\x00-\x20,'*]+$")]
"""A name that can be passed to trtexec, which interprets commas and quotes, and `*` as any name."""


class Precision(StrEnum):
    """The types that TensorRT may choose for a layer; fp32 is always among them."""

    FP32 = "fp32"
    FP16 = "fp16"
    BF16 = "bf16"
    INT8 = "int8"
    FP8 = "fp8"
    INT4 = "int4"


class Compatibility(StrEnum):
    """On which GPUs beside its own an engine runs."""

    NONE = "none"
    AMPERE_PLUS = "ampere+"
    SAME_COMPUTE_CAPABILITY = "same-compute-capability"


class Engine(Document):
    """One plan, compiled on the GPU family that will serve it, in the container image that will serve it."""

    model: ModelName
    """The model directory that the plan is for."""
    onnx: Annotated[Text, StringConstraints(pattern=r"^(s3://\S+|[^:]+)\.onnx$")]
    """The ONNX model: a file relative to this spec, or `s3://BUCKET/KEY.onnx`."""
    digest: Digest | None = None
    """For an ONNX model in S3: the digest of the file; other content is refused."""
    precision: Annotated[Precision, Field(strict=False)] = Precision.FP32
    """Precision that TensorRT may use for a layer in addition to `fp32`."""
    shapes: dict[InputName, Annotated[tuple[Shape, ...], Field(strict=False, min_length=3, max_length=3)]] = (
        Field(default_factory=dict)
    )
    """By input: the smallest, usual and largest shapes, `[1x128, 16x128, 32x128]`; default: the ONNX model's
    own, which have to be fixed."""
    compatibility: Annotated[Compatibility, Field(strict=False)] = Compatibility.NONE
    """Other GPUs that the engine also has to run on, which makes it slower."""
    workspace: Bytes | None = None
    """GPU memory that a layer may use in addition to its tensors, in whole MiB; default: all that the GPU
    has."""

    @field_validator("workspace")
    @classmethod
    def _is_in_whole_mebibytes(cls, workspace: int | None) -> int | None:
        if workspace is not None and (not workspace or workspace % BYTES["MiB"]):
            raise ValueError("write whole MiB, at least one: `512MiB` or `4GiB`")
        return workspace


class EngineBuilds(Document):
    """How TensorRT engines are built: time-out, concurrency, and in which images."""

    timeout: Annotated[Seconds, Field(ge=300, le=127_800)] = 3600
    """Time-out of one build, 5m to 35h 30m; CodeBuild allows 36h with the steps before and after it."""
    at_once: Annotated[Count, Field(le=100)] = 4
    """Builds that a publish runs at the same time; CodeBuild queues those beyond the account's quota."""
    own_images: bool = False
    """Whether an endpoint's own image builds its engines, if its TensorRT is another one than the release's.
    Without it, only the release's image builds."""
