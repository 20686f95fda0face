"""What was changed by hand of deployed stacks."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from triton_fleet.aws.access import Access
from triton_fleet.aws.drift.comparison import Comparison
from triton_fleet.aws.drift.declaration import declared_stack
from triton_fleet.aws.drift.detection import detected
from triton_fleet.aws.drift.hosting import ENDPOINT, SUBJECT, definitions, endpoints, variants
from triton_fleet.aws.drift.monitoring import alarms, dashboards, log_groups
from triton_fleet.aws.drift.roles import roles
from triton_fleet.aws.drift.scaling import scaling
from triton_fleet.awsapi.describe import STATUSES_IN_PROGRESS, described_endpoint
from triton_fleet.awsapi.errors import aws_errors_as_findings
from triton_fleet.awsapi.stack import LiveStack, find_stack
from triton_fleet.catalog.cloudformation import StackState
from triton_fleet.core.parallel import all_in_parallel
from triton_fleet.findings import CannotRunError

PAUSES = (2, 5)
"""Seconds until a comparison is repeated: IAM and Application Auto Scaling may answer with the old state."""
COMPARED_AT_ONCE = 8
"""Stacks at one time; AWS throttles more, and botocore retries."""


@dataclass(frozen=True, kw_only=True)
class StackDrift:
    """What differs of one stack; `endpoint` is None for Foundation.

    `busy` is why nothing was compared, as an update runs; `problem` is what could not be read.
    """

    endpoint: str | None
    stack: LiveStack
    found: tuple[Comparison, ...] = ()
    busy: str = ""
    problem: CannotRunError | None = None

    @property
    def title(self) -> str:
        """What people call it."""
        return self.endpoint or "Foundation"

    @property
    def is_restorable(self) -> bool:
        """Whether all of it can be brought back, rather than by a new stack alone."""
        return all(each.restore is not None for each in self.found)

    @property
    def shown(self) -> set[tuple[str, str]]:
        """All that differs, in words: subjects with their differences; AWS lists them in no fixed order."""
        return {(each.subject, str(one)) for each in self.found for one in each.differences}


def stack_drifts(access: Access, stacks: Sequence[tuple[str | None, LiveStack]]) -> list[StackDrift]:
    """Compare stacks with what runs, side by side.

    Raises:
        CannotRunError: AWS does not answer.
    """
    return all_in_parallel(stacks, lambda each: _stack_drift(access, *each), COMPARED_AT_ONCE)


def restore_stack(access: Access, drift: StackDrift) -> StackDrift:
    """Restore everything that is declared, in the order in which one thing needs another.

    The stack is compared before, because a deploy may have run since a person was asked, and afterwards.

    Returns:
        What differs afterwards; `busy` while the endpoint's own rollout runs.

    Raises:
        CannotRunError: an update runs, something else differs by now, or AWS refuses.
    """
    with aws_errors_as_findings():
        stack = find_stack(access.client("cloudformation"), drift.stack.id)
        if stack is None:
            raise CannotRunError(f"{drift.title} is not reverted: its stack was deleted", "deploy it again")
        now = _stack_drift(access, drift.endpoint, stack)
        if now.busy or now.shown != drift.shown:
            because = now.busy or "what differs is not what was shown"
            changed = CannotRunError(f"{drift.title} is not reverted: {because}", "run the command again")
            raise now.problem or changed
        for restore in dict.fromkeys(each.restore for each in now.found):
            if restore is not None:
                restore()
    after = _stack_drift(access, drift.endpoint, stack)
    for seconds in PAUSES:
        if not after.found or not after.shown <= now.shown:
            break
        time.sleep(seconds)
        after = _stack_drift(access, drift.endpoint, stack)
    return after


def _stack_drift(access: Access, endpoint: str | None, stack: LiveStack) -> StackDrift:
    if stack.state in (StackState.UNDER_WAY, StackState.PLANNED, StackState.NOT_CREATED):
        return StackDrift(endpoint=endpoint, stack=stack, busy=str(stack))
    if stack.state is not StackState.READY:
        unclear = CannotRunError(f"{stack}: what it declares is not certain", stack.remedy)
        return StackDrift(endpoint=endpoint, stack=stack, problem=unclear)
    found: list[Comparison] = []
    problem: CannotRunError | None = None
    try:
        with aws_errors_as_findings():
            declared = declared_stack(access, stack)
            for each in declared.of_type(ENDPOINT):
                live = described_endpoint(access.client("sagemaker"), each.name)
                if live is not None and live["EndpointStatus"] in STATUSES_IN_PROGRESS:
                    busy = f"the endpoint is {live['EndpointStatus']}"
                    return StackDrift(endpoint=endpoint, stack=stack, busy=busy)
            for comparisons in (
                definitions(access, declared),
                endpoints(access, declared),
                scaling(access, declared, variants(declared)),
                alarms(access, declared),
                dashboards(access, declared),
                log_groups(access, declared),
                roles(access, declared),
                detected(access, stack, declared),
            ):
                found.extend(filter(_differs, comparisons))  # what was found before an error counts
                if any(each.subject == SUBJECT and each.is_deleted for each in found):
                    break  # scaling and log groups went with it, and can only follow it
    except CannotRunError as error:
        problem = error
    return StackDrift(endpoint=endpoint, stack=stack, found=tuple(found), problem=problem)


def _differs(comparison: Comparison) -> bool:
    return bool(comparison.differences)
