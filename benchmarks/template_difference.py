"""Where two CloudFormation templates say different things, whatever they call their resources."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]
Naming: TypeAlias = Callable[[str], str]

BODIES = frozenset({"DashboardBody"})
"""Properties that are JSON in a text."""


def differences(ours: Json, theirs: Json) -> list[str]:
    """Each difference on a line, by our resources' names; none where the templates mean the same.

    Resources and parameters are paired one to one by type and content. Every property, dependency, policy,
    output and rule counts, and which resource a reference leads to. Spelling does not: how a text with
    references is cut into pieces, and the order of keys and of dependencies.
    """
    names = _paired(ours["Resources"], theirs["Resources"])
    names |= _paired(ours.get("Parameters", {}), theirs.get("Parameters", {}))
    renamed = _template(theirs, lambda id: names.get(id, id))
    return list(_compared(_template(ours, lambda id: id), renamed, ""))


def _paired(ours: Json, theirs: Json) -> dict[str, str]:
    """Our name of each of theirs: that of an equal one where there is one, else of the most similar."""
    forms, names = _forms(ours), dict[str, str]()
    for pairing_equal_ones in (True, False):
        for id, form in _forms(theirs).items():
            of_type = (
                [each for each in forms if forms[each]["Type"] == form["Type"]] if id not in names else []
            )
            nearest = min(of_type, key=lambda each: _distance(forms[each], form), default=None)
            if nearest and not (pairing_equal_ones and _distance(forms[nearest], form)):
                names[id] = nearest
                del forms[nearest]
    return {id: names.get(id, f"{id} (by hand)") for id in theirs}


def _forms(resources: Json) -> Json:
    """Resources in which a reference says no more than the type it leads to."""
    types = {id: each["Type"] for id, each in resources.items()}
    return {id: _resource(each, lambda id: types.get(id, id)) for id, each in resources.items()}


def _distance(ours: Json, theirs: Json) -> int:
    return sum(1 for _ in _compared(ours, theirs, ""))


def _template(template: Json, name: Naming) -> Json:
    resources = {name(id): _resource(each, name) for id, each in template["Resources"].items()}
    parameters = {name(id): each for id, each in template.get("Parameters", {}).items()}
    return {**_plain(template, name), "Resources": resources, "Parameters": parameters}


def _resource(resource: Json, name: Naming) -> Json:
    plain: Json = _plain(resource, name)
    needed = resource.get("DependsOn", [])
    plain["DependsOn"] = sorted(map(name, [needed] if isinstance(needed, str) else needed))
    return plain


def _plain(value: Any, name: Naming) -> Any:
    """The value with references as texts, such as `⟦Role.Arn⟧`, so that joined ones become one text."""
    match value:
        case {"Ref": str(id)}:
            return f"⟦{name(id)}⟧"
        case {"Fn::GetAtt": [str(id), str(attribute)]}:
            return f"⟦{name(id)}.{attribute}⟧"
        case {"Fn::Join": [str(between), list(parts)]}:
            return between.join(str(_plain(part, name)) for part in parts)
        case dict():
            return {key: _body(key, _plain(each, name)) for key, each in value.items()}
        case list():
            return [_plain(each, name) for each in value]
    return value


def _body(key: str, value: Any) -> Any:
    return json.loads(value) if key in BODIES and isinstance(value, str) else value


def _compared(ours: Any, theirs: Any, path: str) -> Iterator[str]:
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in sorted(ours.keys() | theirs.keys()):
            at = f"{path}.{key}" if path else key
            if key not in theirs:
                yield f"{at}: missing by hand, ours is {_shown(ours[key])}"
            elif key not in ours:
                yield f"{at}: not ours, by hand it is {_shown(theirs[key])}"
            else:
                yield from _compared(ours[key], theirs[key], at)
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for number, (our, their) in enumerate(zip(ours, theirs, strict=True)):
            yield from _compared(our, their, f"{path}[{number}]")
    elif type(ours) is not type(theirs) or ours != theirs:
        yield f"{path}: ours is {_shown(ours)}, by hand it is {_shown(theirs)}"


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 300 else f"{text[:300]}..."
