"""Containers of an endpoint: their settings and their network."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from triton_fleet.catalog.limits import limit
from triton_fleet.spec.values import Count, Document, Text


def _not_the_invocations(port: int) -> int:
    if port == INVOCATIONS_PORT:
        raise ValueError("the container answers invocations at this port; choose another")
    return port


INVOCATIONS_PORT = 8080
LOAD_MODEL = "--load-model"
"""The flag of tritonserver that loads a model."""
Flag = Annotated[str, StringConstraints(pattern=r"^--[a-z][a-z0-9-]*(=[^\s\x00]+)?$")]
Port = Annotated[int, Field(ge=1024, le=65535), AfterValidator(_not_the_invocations)]
Variables = dict[Annotated[str, StringConstraints(pattern=r"^[a-zA-Z_][a-zA-Z0-9_]*$")], Text]


class Container(Document):
    """Settings that the container's start script reads."""

    thread_count: Count | None = None
    """Threads of the HTTP front end; default: the container's own, 8."""
    buffer_manager_thread_count: Annotated[int, Field(ge=0, le=2**31 - 1)] | None = None
    """Threads that copy tensors; default: the container's own, 0."""
    log_verbose: bool = False
    """Log verbosely. The container's own default is on, which adds to the costs of CloudWatch Logs."""
    log_info: bool | None = None
    """Log what the server does; default: the container's own, on."""
    log_warning: bool | None = None
    """Log warnings; default: the container's own, on."""
    log_error: bool | None = None
    """Log errors; default: the container's own, on."""
    shm_default_byte_size: Annotated[int, Field(ge=1 << 20, le=2**63 - 1)] | None = None
    """Shared memory of each Python model instance, in bytes; default: the container's own, 16 MiB."""
    shm_growth_byte_size: Count | None = None
    """Step by which that memory grows, in bytes; default: the container's own, 1 MiB."""
    model_load_gpu_limit: Annotated[float, Field(ge=0, le=1)] | None = None
    """Share of GPU memory in use above which no further model is loaded; default: no limit."""
    inference_type: Literal["infer", "generate", "generate_stream"] | None = None
    """Kind of Triton request that an invocation makes, from release 25.03 on; default: the container's own,
    `infer`."""
    metrics_port: Port | None = None
    """Port of Triton's own metrics, 23000 to 23999: SageMaker blocks all others; default: 23000."""
    additional_args: tuple[Flag, ...] = Field(default=(), strict=False)
    """Further flags of tritonserver, one per item, without white space."""

    @property
    def further_models(self) -> tuple[str, ...]:
        """The models that its flags load, beside the default one."""
        flags = (flag.partition("=") for flag in self.additional_args)
        return tuple(model for name, _, model in flags if name == LOAD_MODEL)

    @property
    def streams(self) -> bool:
        """Whether answers are sent in parts, which callers ask for by InvokeEndpointWithResponseStream."""
        return self.inference_type == "generate_stream"


Subnet = Annotated[str, StringConstraints(pattern=r"^subnet-([0-9a-f]{8}|[0-9a-f]{17})$")]
SecurityGroup = Annotated[str, StringConstraints(pattern=r"^sg-([0-9a-f]{8}|[0-9a-f]{17})$")]

NetworkId = Annotated[str, StringConstraints(pattern=r"^(subnet|sg)-([0-9a-f]{8}|[0-9a-f]{17})$")]
"""A subnet or a security group."""


class Network(Document):
    """Your own VPC, and network isolation."""

    subnets: Annotated[tuple[Subnet, ...], Field(strict=False, max_length=limit("subnets"))] = ()
    """Subnets of one VPC in at least two availability zones; default: SageMaker's own network."""
    security_groups: Annotated[
        tuple[SecurityGroup, ...], Field(strict=False, max_length=limit("security_groups"))
    ] = ()
    """Security groups of the containers in these subnets."""
    isolated: bool = False
    """Block all calls to and from the container except SageMaker's own; it also has no credentials."""

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if bool(self.subnets) is not bool(self.security_groups):
            key = "security_groups" if self.subnets else "subnets"
            raise ValueError(
                f"a VPC is named by both its `subnets` and its `security_groups`: give `{key}` too"
            )
        for noun, ids in (("subnet", self.subnets), ("security group", self.security_groups)):
            if len(set(ids)) < len(ids):
                raise ValueError(f"a {noun} is listed twice")
        return self
