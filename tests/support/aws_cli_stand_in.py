"""A stand-in for the AWS CLI's calls of API operations: names and types by botocore, as the CLI itself has them.

Of the commands that are the CLI's own it has `logs tail`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import boto3
import botocore.session
import jmespath  # type: ignore[import-untyped]
from botocore import xform_name
from botocore.exceptions import ClientError, UnknownServiceError

from tests.support.fleet_commands import WrongCommandError

OPTION_NAMES = {("sns", "subscribe"): {"--notification-endpoint": "Endpoint"}}
"""What the CLI names otherwise than botocore; source: awscli/customizations/argrename.py."""
TAIL = {"--since": "600s", "--filter-pattern": ""}
"""Options of `logs tail` and what holds without them; source: awscli/customizations/logs/tail.py."""
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
GLOBAL = ("--query", "--output", "--region", "--profile", "--max-items")


@dataclass(frozen=True)
class Call:
    """An operation as botocore names it, its parameters, and the CLI's own options."""

    service: str
    operation: str
    parameters: dict[str, Any]
    options: dict[str, str]


def parse(words: Sequence[str]) -> Call:
    """`SERVICE OPERATION --PARAMETER VALUE...`, whose values are text, numbers and lists of text.

    Raises:
        WrongCommandError: the service has no such operation, or that no such parameter.
    """
    service, operation, *rest = words
    if (service, operation) == ("logs", "tail"):
        return _tail(*rest)
    try:
        model = _session().get_service_model(service)
    except UnknownServiceError as error:
        raise WrongCommandError(f"aws has no service {service}") from error
    names = {xform_name(name, "-"): name for name in model.operation_names}
    if operation not in names:
        raise WrongCommandError(f"aws {service} has no operation {operation}")
    shapes = model.operation_model(names[operation]).input_shape.members
    known_names = {f"--{xform_name(name, '-')}": name for name in shapes}
    known_names |= {
        f"--no-{xform_name(name, '-')}": name
        for name, shape in shapes.items()
        if shape.type_name == "boolean"
    }
    known_names |= OPTION_NAMES.get((service, operation), {})
    given_lines: dict[str, list[str]] = {}
    for word in rest:
        if word.startswith("--"):
            given_lines[word] = []
        elif given_lines:
            list(given_lines.values())[-1].append(word)
        else:
            raise WrongCommandError(f"aws {service} {operation} takes no {word}")
    if unknown := sorted(given_lines.keys() - known_names.keys() - set(GLOBAL)):
        raise WrongCommandError(f"aws {service} {operation} has no {unknown[0]}")
    parameters = {
        known_names[option]: _value(option, values, shapes[known_names[option]].type_name)
        for option, values in given_lines.items()
        if option in known_names
    }
    options = {option: values[0] for option, values in given_lines.items() if option not in known_names}
    return Call(service, names[operation], parameters, options)


def _tail(group: str = "", *rest: str) -> Call:
    """The call that `logs tail GROUP` makes: events of a group since a time that is a number and a unit ago."""
    inputs = dict(zip(rest[::2], rest[1::2], strict=True))
    if unknown := sorted(inputs.keys() - TAIL.keys()):
        raise WrongCommandError(f"aws logs tail has no {unknown[0]}")
    tail = TAIL | inputs
    ago = re.fullmatch(r"([0-9]+)([smhdw])", tail["--since"])
    if ago is None:
        raise WrongCommandError(f"aws logs tail --since takes no {tail['--since']}")
    since = datetime.now(UTC) - timedelta(seconds=int(ago[1]) * SECONDS[ago[2]])
    parameters = {"logGroupName": group, "startTime": int(since.timestamp() * 1000)}
    parameters |= {"filterPattern": tail["--filter-pattern"]} if tail["--filter-pattern"] else {}
    return Call("logs", "FilterLogEvents", parameters, {"--query": "events[].message"})


def run(words: Sequence[str], *, url: str, region: str) -> None:
    """Make the call and print the answer, as `--query` and `--output text` want it; 254 where AWS refuses it."""
    call = parse(words)
    client: Any = boto3.Session().client(
        call.service,  # type: ignore[call-overload]
        endpoint_url=url,
        region_name=call.options.get("--region", region),
    )
    try:
        answer = getattr(client, xform_name(call.operation))(**call.parameters)
    except ClientError as error:
        print(error, file=sys.stderr)
        sys.exit(254)
    del answer["ResponseMetadata"]
    match = jmespath.search(call.options.get("--query", "@"), answer)
    if call.options.get("--output") == "text" and isinstance(match, str):
        print(match)
    else:
        print(json.dumps(match, default=str, indent=2))


def _value(option: str, values: list[str], kind: str) -> Any:
    if kind in ("list", "map", "structure"):
        return json.loads(values[0]) if values[0][:1] in "[{" else values
    if kind == "boolean":
        return not option.startswith("--no-")
    return int(values[0]) if kind in ("integer", "long") and values[0].isdigit() else values[0]


@cache
def _session() -> Any:
    return botocore.session.get_session()
