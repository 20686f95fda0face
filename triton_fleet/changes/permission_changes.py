"""Who gains and who loses which permission, from the policies of two templates."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from triton_fleet.changes.templates import PATH, Template

ROLE = "AWS::IAM::Role"
OF_ENDPOINT = "the endpoint's role"
"""What the one role of an endpoint's stack is called."""
DOCUMENTS = ("PolicyDocument", "KeyPolicy", "RepositoryPolicyText")
"""Properties that are a policy."""


class _Grant(NamedTuple):
    principal: str
    effect: str
    action: str
    resource: str
    condition: str


def permission_changes(before: Template, after: Template) -> tuple[str, ...]:
    """One sentence for each role or principal, resource and condition whose actions differ."""
    old, new = set(_grants(before)), set(_grants(after))
    new_sentences, old_sentences = _sentences(new - old, "now"), _sentences(old - new, "no longer")
    return (*new_sentences, *old_sentences)


def _sentences(grants: set[_Grant], since: str) -> Iterator[str]:
    actions = defaultdict[tuple[str, str, str, str], list[str]](list)
    for grant in sorted(grants):
        actions[grant.principal, grant.effect, grant.resource, grant.condition].append(grant.action)
    places = defaultdict[tuple[str, str, str, str], list[str]](list)
    for (subject, effect, resource, condition), names in actions.items():
        places[subject, effect, ", ".join(names), condition].append(resource)
    for (subject, effect, actions_text, condition), resources in places.items():
        may = f"is {since} {'allowed' if effect == 'Allow' else 'denied'}"
        on = f" on {', '.join(resources)}" if any(resources) else ""
        yield f"{subject} {may} {actions_text}{on}{f' if {condition}' if condition else ''}"


def _grants(template: Template) -> Iterator[_Grant]:
    resources: Mapping[str, Any] = template.get("Resources", {})
    names = {logical: _name(logical, resource) for logical, resource in resources.items()}
    names |= {
        logical: OF_ENDPOINT if names[logical] == "Role" else f"role {names[logical]}"
        for logical, resource in resources.items()
        if resource["Type"] == ROLE
    }
    for logical, resource in resources.items():
        properties = resource.get("Properties", {})
        if resource["Type"] == ROLE:
            yield from _statements(properties.get("AssumeRolePolicyDocument"), "", names, names[logical])
            for policy in properties.get("Policies", ()):
                yield from _statements(policy["PolicyDocument"], names[logical], names)
            for policy in properties.get("ManagedPolicyArns", ()):
                action = f"what the policy {_text(policy, names)} allows"
                yield _Grant(names[logical], "Allow", action, "", "")
        roles = [_text(role, names) for role in properties.get("Roles", ())]
        for document in (properties.get(key) for key in DOCUMENTS):
            for subject in roles or [""]:
                yield from _statements(document, subject, names)


def _statements(
    document: Any, role: str, names: Mapping[str, str], target: str | None = None
) -> Iterator[_Grant]:
    for statement in _list(document.get("Statement", ())) if isinstance(document, dict) else ():
        subjects = [role] if role else sorted(_principals(statement, names))
        condition = json.dumps(statement["Condition"], sort_keys=True) if "Condition" in statement else ""
        actions = [_text(action, names) for action in _list(statement.get("Action", ()))]
        actions += [f"all but {_text(action, names)}" for action in _list(statement.get("NotAction", ()))]
        resources = (
            [target] if target else [_text(value, names) for value in _list(statement.get("Resource", ()))]
        )
        resources += [f"all but {_text(value, names)}" for value in _list(statement.get("NotResource", ()))]
        for subject in subjects:
            for action in actions:
                for resource in resources or [""]:
                    yield _Grant(subject, statement.get("Effect", "Allow"), action, resource, condition)


def _principals(statement: Mapping[str, Any], names: Mapping[str, str]) -> Iterator[str]:
    for key, negation in (("Principal", ""), ("NotPrincipal", "all but ")):
        principal = statement.get(key)
        if principal == "*":
            yield f"{negation}everybody"
        for kind, values in principal.items() if isinstance(principal, dict) else ():
            for value in _list(values):
                text = _text(value, names)
                yield f"{negation}everybody" if (kind, text) == ("AWS", "*") else f"{negation}{text}"


def _name(logical: str, resource: Mapping[str, Any]) -> str:
    """The path of a resource in the app, without its stack and CDK's last part."""
    parts = str(resource.get("Metadata", {}).get(PATH, "")).split("/")
    return "/".join(part for part in parts[1:] if part != "Resource") or logical


def _text(value: Any, names: Mapping[str, str]) -> str:
    """A value of a template as people read it."""
    match value:
        case str():
            return value
        case {"Ref": name}:
            return names.get(name, f"${{{name}}}")
        case {"Fn::GetAtt": [name, attribute]}:
            return f"{names.get(name, name)}.{attribute}"
        case {"Fn::Join": [separator, [*parts]]}:
            return str(separator).join(_text(part, names) for part in parts)
        case {"Fn::Sub": str(text)}:
            return text
        case _:
            return json.dumps(value, sort_keys=True)


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]
