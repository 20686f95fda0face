"""How long an endpoint's logs are kept."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, WithJsonSchema

from triton_fleet.catalog.data_file import data_file
from triton_fleet.spec.values import Document

_DAYS: tuple[int, ...] = tuple(data_file("log_retention.yaml")["days"])


def _taken_by_cloudwatch(days: int) -> int:
    if days not in _DAYS:
        raise ValueError(f"CloudWatch accepts only {', '.join(map(str, _DAYS))} days as retention")
    return days


class Logs(Document):
    """The endpoint's log groups: that of its containers and that of Triton's metrics."""

    retention_days: Annotated[
        int, AfterValidator(_taken_by_cloudwatch), WithJsonSchema({"type": "integer", "enum": list(_DAYS)})
    ] = 30
    """Days after which log events are deleted: 1, 3, 5, 7, 14, 30, 60, 90 and so on, at most 3653."""
