"""`fleet doctor`: explains, with the rules, why an endpoint failed or answers with errors."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from triton_fleet.aws.doctor.diagnosis import check_spec, diagnosis, is_well, reason_of_failures
from triton_fleet.aws.doctor.evidence import CONTAINER, evidence
from triton_fleet.aws.doctor.lines import bare
from triton_fleet.aws.doctor.observation import Observation, SeenLog
from triton_fleet.aws.running_configuration import is_same_configuration
from triton_fleet.awsapi.errors import aws_errors_as_findings
from triton_fleet.cli.arguments import Env, Profile, require_one_name
from triton_fleet.cli.aws_access import connect, local_fleet
from triton_fleet.cli.current_fleet import current_project
from triton_fleet.cli.output import say
from triton_fleet.exits import INPUT_IS_WRONG
from triton_fleet.findings import CannotRunError
from triton_fleet.local.metrics.ask import ask_to_publish
from triton_fleet.local.state import LocalState, Supervisor, log_name
from triton_fleet.printers.human import show_findings

ERRORS, LINES = 8, 12
"""How many error lines and how many last lines of a log are shown."""
WIDTH = 240
"""Characters of a line that are shown; a model may print lines of any length."""
TAIL = 1 << 20
"""Bytes that are read from the end of a local log; CloudWatch has a similar limit."""


def doctor(
    endpoint: Annotated[
        str,
        typer.Argument(help="A deployed endpoint, with or without a spec.", callback=require_one_name),
    ],
    env: Env,
    profile: Profile = None,
) -> None:
    """Find out why an endpoint fails.

    Compares the endpoint, its stack, its logs and its failed calls with known causes, and shows the rule for
    each. Changes nothing. Exit code 0: the endpoint is healthy; 1: something is wrong.
    """
    project = current_project(env)
    root, deployment = project.root, project.deployment
    access = connect(project, profile)
    supervisor = local_fleet(root, access.client("sagemaker"))
    if supervisor is not None:
        _publish_metrics(supervisor)
    with aws_errors_as_findings():
        observation = evidence(access, endpoint)
    if supervisor is not None:
        observation = _with_local_log(observation, tuple(_local_log(root, log_name(env, endpoint))))
    say(f"{endpoint} in {env}: account {deployment.account}, {deployment.region}", "bold")
    for line in _observation_lines(observation):
        say(f"  {line}")
    if not is_well(observation):
        show_findings(diagnosis(observation, check_spec(project, endpoint)))
        sys.exit(INPUT_IS_WRONG)
    if observation.denials:
        actions = ", ".join(observation.denials)
        problem = f"found no problem, but not everything could be read: no permission for {actions}"
        raise CannotRunError(problem, "use credentials with these permissions")
    say(f"{endpoint} is healthy")


def _publish_metrics(supervisor: Supervisor) -> None:
    """Let the embedded CloudWatch have the newest calls; without that, it has them a few seconds later."""
    with suppress(CannotRunError):
        ask_to_publish(supervisor)


def _with_local_log(observation: Observation, logs: tuple[SeenLog, ...]) -> Observation:
    """The log of a failed endpoint, and the reason of failed calls, from the file that its Triton writes."""
    if observation.has_failed:
        observation = replace(observation, logs=logs, since=None)
    if observation.calls is None or not observation.calls.failure_count:
        return observation
    lines = (line for log in logs for _, line in log.lines)
    return replace(observation, calls=replace(observation.calls, reason=reason_of_failures(lines)))


def _observation_lines(state: Observation) -> Iterator[str]:
    """One line for each thing that was read."""
    if state.stack is not None:
        under_way = (
            ": an operation is in progress; run this again when it has ended" if state.stack.under_way else ""
        )
        yield _cut(f"stack:    {state.stack.name} is {state.stack.status}{under_way}")
        for failure in state.stack.failures:
            yield _cut(f"  failed: {failure.kind}: {failure.own_reason}")
    elif not state.is_stack_hidden:
        yield "stack:    does not exist"
    if state.endpoint is not None:
        is_declared = state.declares and is_same_configuration(state.endpoint.config, state.declares)
        declaration = ", which its stack declares" if is_declared else ""
        yield _cut(f"endpoint: {state.endpoint.status}, configuration {state.endpoint.config}{declaration}")
        if state.declares and not is_declared:
            yield f"  the stack declares {state.declares}"
        if state.endpoint.reason:
            yield _cut(f"  FailureReason: {state.endpoint.reason}")
    elif not state.is_endpoint_hidden:
        yield "endpoint: does not exist"
    if state.calls is not None:
        yield _cut(f"calls:    {state.calls}")
    for log in state.logs:
        yield from _of_log(log, state)
    for action in state.denials:
        yield f"not read: {action} is denied"


def _of_log(log: SeenLog, observation: Observation) -> Iterator[str]:
    since = f" since {observation.since:%Y-%m-%d %H:%M} UTC" if observation.since is not None else ""
    errors, lines = log.errors, log.lines
    if not lines:
        yield f"log:      {log.group}{since}: no lines"
        return
    yield f"log:      {log.group}{since}: {len(lines)} lines, {len(errors)} of them errors"
    last = lines[-LINES:] if observation.has_failed else []
    earlier = [error for error in errors if error not in last]
    for title, entries in (("last errors", earlier[-ERRORS:]), ("last lines", last)):
        if entries:
            yield f"  {title}:"
        for stream, line in entries:
            yield _cut(f"    {stream}: {line}")


def _local_log(root: Path, name: str) -> Iterator[SeenLog]:
    """The log file of an endpoint's Triton in the local fleet."""
    file = LocalState(root).logs().get(name)
    if file is not None:
        lines = file.read_bytes()[-TAIL:].decode(errors="replace").splitlines()
        yield SeenLog(group=str(file.relative_to(root)), of=CONTAINER, streams={file.name: tuple(lines)})


def _cut(line: str) -> str:
    text = bare(line)
    return text if len(text) <= WIDTH else f"{text[:WIDTH]}…"
