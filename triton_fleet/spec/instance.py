"""The machines behind the endpoint, and how long SageMaker waits for a new one."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from triton_fleet.spec.values import Count, Document, Seconds

InstanceType = Annotated[str, StringConstraints(pattern=r"^ml\.[a-z0-9-]+\.[a-z0-9]+$")]


class Instance(Document):
    """The instances that serve the endpoint."""

    type: InstanceType
    """SageMaker instance type, such as `ml.g5.xlarge`."""
    ami: Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]+$")] | None = None
    """Host image, SageMaker's InferenceAmiVersion; default: the one whose driver fits release and family."""
    count: Count = 1
    """Number of instances; with `scaling`, only at the first deploy."""


class Timeouts(Document):
    """How long SageMaker waits for a new instance."""

    model_download: Annotated[Seconds, Field(ge=60, le=3600)] = 600
    """Time for the model data to download, 60s to 1h."""
    startup: Annotated[Seconds, Field(ge=60, le=3600)] = 600
    """Time for the container to answer its first ping, 60s to 1h."""
