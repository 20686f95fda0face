"""Facts read about an endpoint: its stack, SageMaker's description, its logs, and what was denied."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from triton_fleet.aws.calls import Calls
from triton_fleet.aws.deploy.failed_rollback import FailedRollback
from triton_fleet.aws.deploy.failures import Failure
from triton_fleet.aws.doctor.lines import is_error, symptom_texts
from triton_fleet.aws.running_configuration import runs_another
from triton_fleet.awsapi.describe import UNDER_WAY
from triton_fleet.catalog.cloudformation import StackState, stack_status
from triton_fleet.catalog.symptoms import EvidenceOrigin
from triton_fleet.findings import Finding

WAIT = "wait for an operation in progress; if it failed, remove the cause and deploy again"
STATUSES_WITH_SERVICE = ("Updating", "SystemUpdating")
"""Statuses of an endpoint whose instances change or are maintained, if no configuration is being deployed.

Source: SageMaker API reference, DescribeEndpoint, EndpointStatus and PendingDeploymentSummary.
"""


@dataclass(frozen=True, kw_only=True)
class Passage:
    """A text in which a symptom may begin, the text after it, and its source, for a sentence."""

    origin: EvidenceOrigin
    of: str
    text: str
    next_text: str = ""


@dataclass(frozen=True, kw_only=True)
class SeenStack:
    """The endpoint's stack, perhaps a deleted one, its last operation before that, and what it declares.

    `end` is None while an operation is in progress; `rollback` is where its rollback stopped, if it did;
    `stuck` is the finding if no deploy can repair it.
    """

    name: str
    status: str
    reason: str
    began: datetime | None
    failures: tuple[Failure, ...]
    declares: str | None
    end: datetime | None = None
    rollback: FailedRollback | None = None
    stuck: Finding | None = None

    @property
    def under_way(self) -> bool:
        """Whether an operation on it is in progress."""
        return stack_status(self.status).state is StackState.UNDER_WAY

    @property
    def has_failed(self) -> bool:
        """Whether its last operation failed; False while one is in progress."""
        return bool(self.failures) or "ROLLBACK" in self.status or self.status.endswith("_FAILED")


@dataclass(frozen=True, kw_only=True)
class SeenEndpoint:
    """The answer of DescribeEndpoint."""

    status: str
    reason: str
    config: str
    is_pending: bool
    variants: tuple[str, ...] = ()

    @property
    def in_service(self) -> bool:
        """Whether it answers calls with its latest configuration."""
        return self.status == "InService" or (self.status in STATUSES_WITH_SERVICE and not self.is_pending)


@dataclass(frozen=True, kw_only=True)
class SeenLog:
    """The lines of one log group since a time, by stream; empty if the group does not exist.

    `of` describes what writes the log.
    """

    group: str
    of: str
    streams: dict[str, tuple[str, ...]]

    @property
    def lines(self) -> list[tuple[str, str]]:
        """Each line with its stream."""
        return [(stream, line) for stream, lines in self.streams.items() for line in lines]

    @property
    def errors(self) -> list[tuple[str, str]]:
        """The lines that report an error."""
        return [(stream, line) for stream, line in self.lines if is_error(line)]


@dataclass(frozen=True, kw_only=True)
class Observation:
    """All evidence; `denials` are the IAM actions that were denied, `since` is the start of the logs.

    `calls` is None without an endpoint.
    """

    name: str
    environment: str
    stack: SeenStack | None
    endpoint: SeenEndpoint | None
    logs: tuple[SeenLog, ...] = ()
    calls: Calls | None = None
    since: datetime | None = None
    denials: tuple[str, ...] = ()

    @property
    def has_failed(self) -> bool:
        """Whether the last deploy failed, or the endpoint does not answer."""
        is_stack_bad = self.stack is not None and self.stack.has_failed
        is_down = self.endpoint is not None and not self.endpoint.in_service
        return is_stack_bad or is_down or (self.endpoint is None and not self.is_endpoint_hidden)

    @property
    def under_way(self) -> bool:
        """Whether the endpoint is being changed and nothing has failed so far."""
        is_stack_bad = self.stack is not None and self.stack.has_failed
        return self.endpoint is not None and self.endpoint.status in UNDER_WAY and not is_stack_bad

    @property
    def calls_fail(self) -> bool:
        """Whether so many recent calls failed that the endpoint is not healthy."""
        return self.calls is not None and self.calls.is_failing

    @property
    def declares(self) -> str | None:
        """The configuration that the stack declares; None while a stopped rollback leaves that open."""
        return self.stack.declares if self.stack is not None and self.stack.rollback is None else None

    @property
    def is_stack_hidden(self) -> bool:
        """Whether it is unknown if there is a stack, as access was denied."""
        return any(action.startswith("cloudformation:") for action in self.denials)

    @property
    def is_endpoint_hidden(self) -> bool:
        """Whether it is unknown if there is an endpoint, as access was denied."""
        return any(action.startswith("sagemaker:") for action in self.denials)

    @property
    def passages(self) -> Iterator[Passage]:
        """The texts that are searched for symptoms."""
        if self.stack is not None:
            for failure in self.stack.failures:
                yield Passage(
                    origin=EvidenceOrigin.EVENT, of=f"the event of {failure.kind}", text=failure.own_reason
                )
            yield Passage(
                origin=EvidenceOrigin.EVENT, of=f"the stack {self.stack.name}", text=self.stack.reason
            )
        if self.endpoint is not None:
            yield Passage(
                origin=EvidenceOrigin.REASON, of="the endpoint's FailureReason", text=self.endpoint.reason
            )
        for log in self.logs:
            for stream, lines in log.streams.items():
                for text, next_text in symptom_texts(lines):
                    of = f"{log.of} ({stream})"
                    yield Passage(origin=EvidenceOrigin.LOG, of=of, text=text, next_text=next_text)

    @property
    def absent(self) -> Finding | None:
        """The finding if the endpoint is not in service, whatever the cause."""
        message = ""
        if self.endpoint is not None and not self.endpoint.in_service:
            message = f"{self.name} is {self.endpoint.status}"
        elif self.endpoint is None and not self.is_endpoint_hidden:
            stack = f", and its stack is {self.stack.status}" if self.stack is not None else ""
            message = f"the endpoint {self.name} does not exist{stack}"
        return Finding(code="FL641", message=message, hint=WAIT) if message else None

    @property
    def another(self) -> Finding | None:
        """The finding if the endpoint does not run what its stack declares, or was deleted."""
        is_down = self.endpoint is not None and not self.endpoint.in_service
        if (declares := self.declares) is None or is_down or self.is_endpoint_hidden:
            return None
        return runs_another(self.name, self.endpoint.config if self.endpoint else None, declares)
