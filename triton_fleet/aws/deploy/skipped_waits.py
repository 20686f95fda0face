"""The waits of a rollout that the embedded AWS skips, as a deploy shows them."""

from __future__ import annotations

from triton_fleet.aws.access import Access
from triton_fleet.awsapi.describe import described_endpoint
from triton_fleet.context.rollout import steps
from triton_fleet.context.traffic import shown_seconds
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint


def configuration_to_replace(access: Access, endpoint: ResolvedEndpoint | None) -> str:
    """The configuration that an endpoint runs before its deploy.

    Empty where no wait of a rollout is skipped: on AWS, for Foundation (None), without a rollout, and if the
    endpoint does not exist.

    Raises:
        ClientError: access is denied.
    """
    if endpoint is None or endpoint.rollout is None or not access.is_local_fleet:
        return ""
    description = described_endpoint(access.client("sagemaker"), endpoint.name)
    return description["EndpointConfigName"] if description is not None else ""


def skipped_waits(access: Access, endpoint: ResolvedEndpoint | None, replaced: str) -> str:
    """How long the rollout that replaced a configuration would have waited on AWS; empty without a rollout.

    Raises:
        ClientError: access is denied.
    """
    if not replaced or configuration_to_replace(access, endpoint) in ("", replaced):
        return ""
    return "" if endpoint is None else rollout_waits(endpoint)


def rollout_waits(endpoint: ResolvedEndpoint) -> str:
    """The waits of an endpoint's rollout on AWS, as a clause; empty if it has none."""
    rollout, settings = endpoint.rollout, endpoint.spec.rollout
    if rollout is None or settings is None:
        return ""
    count, waits = steps(endpoint.spec, settings), list[str]()
    if rollout.bake:
        waits.append(f"bake {f'{count} × ' if count > 1 else ''}{shown_seconds(rollout.bake)}")
    if rollout.termination_wait:
        waits.append(f"keep the old fleet for {shown_seconds(rollout.termination_wait)}")
    return f"on AWS it would {' and '.join(waits)}" if waits else ""
