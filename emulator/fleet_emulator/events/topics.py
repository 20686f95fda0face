"""Messages that EventBridge's rules publish to topics, as far as the topics' policies allow.

Source: EventBridge user guide, eb-use-resource-based.html and eb-transform-target-input.html.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping, Sequence
from typing import Any

from moto.events.models import Rule
from moto.sns.models import sns_backends
from moto.utilities.arns import parse_arn

from fleet_emulator.failures import reason_of

log = logging.getLogger("fleet_emulator")

SERVICE = "events.amazonaws.com"
_send_elsewhere = Rule.send_to_targets
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+)\]")
_NAME = re.compile(r"<([A-Za-z0-9_.-]+)>")
_TEXT_OR_NAME = re.compile(rf'"(?:[^"\\]|\\.)*"|{_NAME.pattern}')


class UndeliveredError(Exception):
    """EventBridge counts an invocation that failed; the reason in one sentence."""


def send_to_targets(self: Rule, original_event: Mapping[str, Any], transform_input: bool = True) -> None:
    """Publish an event that the rule matches to its topics; other targets are moto's."""
    topics = [target for target in self.targets if parse_arn(target["Arn"]).service == "sns"]
    if not topics:
        _send_elsewhere(self, original_event, transform_input)  # type: ignore[arg-type]
        return
    if self.state != "ENABLED" or not self.event_pattern.matches_event(original_event):  # type: ignore[arg-type]
        return
    for target in topics:
        try:
            _publish(target, original_event)
        except UndeliveredError as error:
            log.warning("the rule %s publishes nothing to %s: %s", self.name, target["Arn"], error)


def _publish(target: Mapping[str, Any], event: Mapping[str, Any]) -> None:
    arn = parse_arn(target["Arn"])
    topic = sns_backends[arn.account][arn.region].topics.get(target["Arn"])
    if topic is None:
        raise UndeliveredError("there is no such topic")
    if not _lets_publish(_statements(topic.policy)):
        reason = f"its policy does not allow it to {SERVICE}, or only under a Condition"
        raise UndeliveredError(f"{reason}, and EventBridge supports none in topic policies")
    message = _message(target.get("InputTransformer"), event)
    try:
        topic.publish(message)
    except Exception as error:
        raise UndeliveredError(f"a subscriber does not take it: {reason_of(error)}") from error


def _lets_publish(statements: Sequence[Mapping[str, Any]]) -> bool:
    """EventBridge asks without any context, in which no condition is met."""
    effects = {
        statement["Effect"]
        for statement in statements
        if "Condition" not in statement and _is_about(statement)
    }
    return effects == {"Allow"}


def _statements(policy: str) -> list[Mapping[str, Any]]:
    statements = json.loads(policy)["Statement"]
    return [statements] if isinstance(statements, dict) else list(statements)


def _is_about(statement: Mapping[str, Any]) -> bool:
    principal = statement.get("Principal", statement.get("NotPrincipal", {}))
    kinds = [principal] if isinstance(principal, str) else principal.values()
    principals = {name for kind in kinds for name in _as_list(kind)}
    actions = _as_list(statement.get("Action", statement.get("NotAction", [])))
    is_named = not principals.isdisjoint({"*", SERVICE})
    is_publish = any(action.lower() in {"*", "sns:*", "sns:publish"} for action in actions)
    return is_named is not ("NotPrincipal" in statement) and is_publish is not ("NotAction" in statement)


def _as_list(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def _message(transformer: Mapping[str, Any] | None, event: Mapping[str, Any]) -> str:
    if transformer is None:
        return json.dumps({key: value for key, value in event.items() if key != "ingestion-time"})
    values = {name: _at(path, event) for name, path in transformer.get("InputPathsMap", {}).items()}
    message = _TEXT_OR_NAME.sub(lambda match: _fill(match, values), transformer["InputTemplate"])
    try:
        json.loads(message)
    except ValueError as error:
        raise UndeliveredError(f"with its values the template is not JSON ({error})") from error
    return message


def _fill(match: re.Match[str], values: Mapping[str, Any]) -> str:
    """A text with its values as they are, unescaped; a value outside of texts as JSON."""
    if not match[0].startswith('"'):
        return json.dumps(values.get(match[1], ""))
    return _NAME.sub(lambda name: _plain(values.get(name[1], "")), match[0])


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _at(path: str, event: Mapping[str, Any]) -> Any:
    """The value at `$.name.name[0]`; "" where there is none."""
    value: Any = event
    for name, index in _STEP.findall(path):
        try:
            value = value[int(index)] if index else value[name]
        except (LookupError, TypeError):
            return ""
    return value
