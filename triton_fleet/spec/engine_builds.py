"""How an environment's TensorRT engines are built."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from triton_fleet.spec.values import Count, Document, Seconds


class EngineBuilds(Document):
    """How TensorRT engines are built: time-out, concurrency, and in which images."""

    timeout: Annotated[Seconds, Field(ge=300, le=127_800)] = 3600
    """Time-out of one build, 5m to 35h 30m; CodeBuild allows 36h with the steps before and after it."""
    at_once: Annotated[Count, Field(le=100)] = 4
    """Builds that a publish runs at the same time; CodeBuild queues those beyond the account's quota."""
    own_images: bool = False
    """Whether an endpoint's own image builds its engines, if its TensorRT is another one than the release's.
    Without it, only the release's image builds."""
