"""The decisions about network, encryption, captured data, logs and tags."""

from __future__ import annotations

from collections.abc import Iterator

from triton_fleet.context.context import EndpointContext, endpoint_tags, machines_with_volume, volume_key
from triton_fleet.context.metrics import log_groups
from triton_fleet.endpoint.bucket_keys import capture_prefix_of
from triton_fleet.explain.decision import Decision, dated_facts
from triton_fleet.spec.deployment import Deployment


def security_decisions(endpoint: EndpointContext, deployment: Deployment) -> Iterator[Decision]:
    """The network of containers, which key encrypts what, and what is kept of calls and logs."""
    yield from _network(endpoint)
    yield from _encryption(endpoint)
    yield _capture(endpoint, deployment)
    yield from _logs(endpoint)
    yield from _tags(endpoint, deployment)


def _network(endpoint: EndpointContext) -> Iterator[Decision]:
    network, metrics = endpoint.spec.network, endpoint.spec.metrics.triton
    value, reason = "SageMaker's own network", "`network.subnets` names none"
    if network.subnets:
        value = f"{', '.join(network.subnets)} with {', '.join(network.security_groups)}"
        reason = "from `network`; two addresses for each instance, during a rollout for those of both fleets"
    yield Decision(group="network", what="network", value=value, reason=reason)
    if network.subnets:
        services = ["s3", *(["logs", "monitoring"] if metrics and not network.isolated else [])]
        value = ", ".join(f"com.amazonaws.{endpoint.region}.{service}" for service in services)
        reason = "for the model data" + (
            "; logs and monitoring for Triton's metrics" if len(services) > 1 else ""
        )
        reason += (
            ": without them, or a way to the internet, the endpoint does not work (`fleet docs security`)"
        )
        yield Decision(group="network", what="VPC endpoints", value=value, reason=reason)
    isolation = "`network.isolated`: no call in or out except SageMaker's own, and no credentials"
    open_ = "`network.isolated` is off: the container may call whatever its network reaches"
    yield Decision(
        group="network",
        what="isolation",
        value="on" if network.isolated else "off",
        reason=isolation if network.isolated else open_,
    )


def _encryption(endpoint: EndpointContext) -> Iterator[Decision]:
    key, machine = endpoint.environment.kms_key, endpoint.machine
    if key is None:
        reason = "the environment has no `kms_key`"
        yield Decision(group="encryption", what="key", value="AWS's own", reason=reason)
    else:
        reason = "`kms_key` of the environment: for the artifact bucket, captured data and log groups"
        yield Decision(group="encryption", what="key", value=key, reason=reason)
    if machine is None:
        reason = f"the catalog does not have {endpoint.spec.instance.type}"
        yield Decision(group="encryption", what="volume", value=None, reason=reason)
        return
    facts = (dated_facts("instances.yaml"),)
    on_volume = [machine_with_volume.type for machine_with_volume in machines_with_volume(endpoint)]
    if not on_volume:
        value, reason = (
            "its hardware's own",
            f"{machine.type} keeps models on local storage, which no key encrypts",
        )
    elif key is None:
        value, reason = "AWS's own", "the environment has no `kms_key`"
    else:
        value, reason = (
            str(volume_key(endpoint)),
            f"{' and '.join(on_volume)} {'keeps' if len(on_volume) == 1 else 'keep'} models on a volume",
        )
    yield Decision(group="encryption", what="volume", value=value, reason=reason, facts=facts)


def _capture(endpoint: EndpointContext, deployment: Deployment) -> Decision:
    capture = endpoint.spec.capture
    if capture is None:
        reason = "`capture` is left out: no call is kept"
        return Decision(group="capture", what="captured", value="nothing", reason=reason)
    sides = [name for name in ("requests", "responses") if getattr(capture, name)]
    return Decision(
        group="capture",
        what="captured",
        value=f"{capture.sample:g}% of calls",
        reason=f"from `capture`: {' and '.join(sides)}, into"
        f" s3://{deployment.bucket}/{capture_prefix_of(endpoint.spec.endpoint)}; nothing deletes them",
    )


def _logs(endpoint: EndpointContext) -> Iterator[Decision]:
    days = endpoint.spec.logs.retention_days
    for group in log_groups(endpoint.spec):
        reason = (
            "the endpoint's own: created, or adopted if it exists, and kept after the endpoint is deleted"
        )
        yield Decision(group="logs", what="logged in", value=group, reason=reason)
    reason = "from `logs.retention_days`: what is older is deleted"
    yield Decision(group="logs", what="retention", value=f"{days} days", reason=reason)


def _tags(endpoint: EndpointContext, deployment: Deployment) -> Iterator[Decision]:
    for key, value in endpoint_tags(endpoint.environment, endpoint.spec).items():
        reason = "from `tags`" if key in endpoint.spec.tags else "from `tags` of the environment"
        reason = "ours" if key.startswith("triton-fleet:") else reason
        yield Decision(group="tags", what=key, value=value, reason=reason)
    boundary = deployment.permissions_boundary
    reason = (
        "`permissions_boundary` of the environment"
        if boundary
        else "the environment has no `permissions_boundary`"
    )
    yield Decision(group="roles", what="permissions boundary", value=boundary or "none", reason=reason)
