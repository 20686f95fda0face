"""`fleet doctor`: explains, with the rules, why an endpoint failed or answers with errors."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from triton_fleet.aws.doctor.causes import reason_of_failures
from triton_fleet.aws.doctor.diagnosis import check_spec, diagnosis, is_well
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
        seen = evidence(access, endpoint)
    if supervisor is not None:
        seen = _with_local_log(seen, tuple(_local_log(root, log_name(env, endpoint))))
    say(f"{endpoint} in {env}: account {deployment.account}, {deployment.region}", "bold")
    for line in _observation_lines(seen):
        say(f"  {line}")
    if not is_well(seen):
        show_findings(diagnosis(seen, check_spec(project, endpoint)))
        sys.exit(INPUT_IS_WRONG)
    if seen.missing:
        problem = (
            f"found no problem, but not everything could be read: no permission for {', '.join(seen.missing)}"
        )
        raise CannotRunError(problem, "use credentials with these permissions")
    say(f"{endpoint} is healthy")


def _publish_metrics(supervisor: Supervisor) -> None:
    """Let the embedded CloudWatch have the newest calls; without that, it has them a few seconds later."""
    with suppress(CannotRunError):
        ask_to_publish(supervisor)


def _with_local_log(seen: Observation, logs: tuple[SeenLog, ...]) -> Observation:
    """The log of a failed endpoint, and the reason of failed calls, from the file that its Triton writes."""
    if seen.failed:
        seen = replace(seen, logs=logs, since=None)
    if seen.calls is None or not seen.calls.failed:
        return seen
    lines = (line for log in logs for _, line in log.lines)
    return replace(seen, calls=replace(seen.calls, reason=reason_of_failures(lines)))


def _observation_lines(seen: Observation) -> Iterator[str]:
    """One line for each thing that was read."""
    if seen.stack is not None:
        under_way = (
            ": an operation is in progress; run this again when it has ended" if seen.stack.under_way else ""
        )
        yield _cut(f"stack:    {seen.stack.name} is {seen.stack.status}{under_way}")
        for failure in seen.stack.failures:
            yield _cut(f"  failed: {failure.kind}: {failure.own_reason}")
    elif not seen.stack_hidden:
        yield "stack:    does not exist"
    if seen.endpoint is not None:
        is_declared = seen.declares and is_same_configuration(seen.endpoint.config, seen.declares)
        declared = ", which its stack declares" if is_declared else ""
        yield _cut(f"endpoint: {seen.endpoint.status}, configuration {seen.endpoint.config}{declared}")
        if seen.declares and not is_declared:
            yield f"  the stack declares {seen.declares}"
        if seen.endpoint.reason:
            yield _cut(f"  FailureReason: {seen.endpoint.reason}")
    elif not seen.endpoint_hidden:
        yield "endpoint: does not exist"
    if seen.calls is not None:
        yield _cut(f"calls:    {seen.calls}")
    for log in seen.logs:
        yield from _of_log(log, seen)
    for action in seen.missing:
        yield f"not read: {action} is denied"


def _of_log(log: SeenLog, seen: Observation) -> Iterator[str]:
    since = f" since {seen.since:%Y-%m-%d %H:%M} UTC" if seen.since is not None else ""
    errors, lines = log.errors, log.lines
    if not lines:
        yield f"log:      {log.group}{since}: no lines"
        return
    yield f"log:      {log.group}{since}: {len(lines)} lines, {len(errors)} of them errors"
    last = lines[-LINES:] if seen.failed else []
    earlier = [error for error in errors if error not in last]
    for heading, shown in (("last errors", earlier[-ERRORS:]), ("last lines", last)):
        if shown:
            yield f"  {heading}:"
        for stream, line in shown:
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
