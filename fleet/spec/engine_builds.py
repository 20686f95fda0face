"""Where and how an environment's TensorRT engines are built."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints, WithJsonSchema, field_validator

from fleet.catalog.instances import Processor, families_of
from fleet.spec.mistake import Mistake
from fleet.spec.values import Count, Document, Seconds

_FLEET = re.compile(r"arn:aws[a-z-]*:codebuild:[a-z0-9-]+:[0-9]{12}:fleet/[A-Za-z0-9_-]+:[A-Za-z0-9-]+")
_COMMAND = "aws codebuild batch-get-fleets --names NAME --query 'fleets[].arn' --output text"


def _fleet(value: str) -> str:
    if not _FLEET.fullmatch(value):
        raise Mistake("it is not the ARN of a CodeBuild fleet", f"`{_COMMAND}` prints it")
    return value


FleetArn = Annotated[
    str, AfterValidator(_fleet), WithJsonSchema({"type": "string", "pattern": f"^{_FLEET.pattern}$"})
]
"""A fleet of reserved capacity of CodeBuild."""
Family = Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]+$")]


class EngineBuilds(Document):
    """How TensorRT engines are built: reserved capacity, time-out and concurrency."""

    fleets: dict[Family, FleetArn] = Field(default_factory=dict)
    """By GPU family, `g4dn: ARN`: a CodeBuild fleet of that family in this account and region, which replaces
    on-demand capacity."""
    timeout: Annotated[Seconds, Field(ge=300, le=127_800)] = 3600
    """Time-out of one build, 5m to 35h 30m; CodeBuild allows 36h with the steps before and after it."""
    at_once: Annotated[Count, Field(le=100)] = 4
    """Builds that a publish runs at the same time; CodeBuild queues those beyond the account's quota."""

    @field_validator("fleets")
    @classmethod
    def _are_of_gpu_families(cls, fleets: dict[str, str]) -> dict[str, str]:
        known = families_of(Processor.GPU)
        for family in fleets:
            if family not in known:
                raise Mistake(f"{family!r} is not a GPU family", f"known: {', '.join(known)}", (family,))
        return fleets
