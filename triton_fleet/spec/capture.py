"""Data capture: which requests and responses are kept."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import AfterValidator, WithJsonSchema, model_validator

from triton_fleet.spec.values import Document, Share


def _whole(share: float) -> float:
    if not share.is_integer():
        raise ValueError("SageMaker captures whole percents: write `1%` or more, without a fraction")
    return share


WholeShare = Annotated[
    Share,
    AfterValidator(_whole),
    WithJsonSchema({"type": "string", "pattern": "^[0-9]{1,3}%$", "examples": ["10%", "100%"]}),
]
"""A share in whole percent."""


class Capture(Document):
    """SageMaker's data capture, into the endpoint's own prefix of the artifact bucket."""

    sample: WholeShare
    """Share of calls to capture, `1%` to `100%` in whole percent."""
    requests: bool = True
    """Capture requests."""
    responses: bool = True
    """Capture responses."""

    @model_validator(mode="after")
    def _require_capture(self) -> Self:
        if not self.requests and not self.responses:
            raise ValueError("this captures nothing: leave `capture` out, or keep `requests` or `responses`")
        return self
