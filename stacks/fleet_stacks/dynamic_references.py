"""A search of templates for dynamic references, of which the product writes none.

CloudFormation replaces `{{resolve:...}}` by what is stored, a secret perhaps, after its functions have joined
texts. So a template is searched for what its functions can yield, whatever their references turn out to be.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from triton_fleet.spec.values import DYNAMIC

IGNORED_SECTIONS = ("Conditions", "Rules")
"""What yields true or false."""
BRACELESS = ("Fn::Base64", "Fn::Cidr", "Fn::GetAZs", "Fn::Select", "Fn::Split")
"""Functions that add no brace to those of their arguments."""
MACROS = ("Fn::Transform", "Fn::ForEach::")
"""Functions beside other keys of a mapping, which bring any text into it."""
COMPLETE = len(DYNAMIC)
States: TypeAlias = frozenset[int]
"""So many first characters of a reference may be the end of what was read; COMPLETE: all were in it."""
START: States = frozenset({0})


def dynamic_references(template: Mapping[str, Any]) -> Iterator[str]:
    """The places of a template with a text that may have a dynamic reference: `Model.Properties.Image`.

    A value that only the deploy knows, such as a name or an ARN, may be any text without braces, or empty.
    """
    for section, content in template.items():
        if section not in IGNORED_SECTIONS:
            # A resource is known by its name alone.
            yield from _places(content, "" if section == "Resources" else section)


def _places(value: object, place: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        if _function(value) is not None and COMPLETE in _after(START, value):
            yield place
            return
        for key, inner in value.items():
            below = f"{place}.{key}" if place else str(key)
            if DYNAMIC in str(key) or str(key).startswith(MACROS):
                yield below
            yield from _places(inner, below)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _places(inner, f"{place}.{index}")
    elif isinstance(value, str) and DYNAMIC in value:
        yield place


def _function(value: object) -> tuple[str, Any] | None:
    """The name and the argument of a function; None for anything else."""
    if isinstance(value, Mapping) and len(value) == 1:
        ((name, argument),) = value.items()
        if name == "Ref" or name.startswith("Fn::"):
            return name, argument
    return None


def _after(states: States, value: object, between: str = "") -> States:
    """The states after a value; an item that is left out of a list takes its `between` with it."""
    match _function(value):
        case "Ref", "AWS::NoValue":
            return states
        case (("Ref" | "Fn::GetAtt"), _):
            return _after_unknown(states)
        case "Fn::If", [_, *choices]:
            return frozenset().union(*(_after(states, choice, between) for choice in choices))
        case "Fn::Join", [str(delimiter), items]:
            return _after(states, items, delimiter)
        case "Fn::Sub", str(text):
            return _after_substitution(states, text, {})
        case "Fn::Sub", [str(text), dict(variables)]:
            return _after_substitution(states, text, variables)
        case name, argument:
            is_braceless = name in BRACELESS and not any("{" in text for text in _texts(argument))
            return _after_list(states, between) if is_braceless else states | {COMPLETE}
    if isinstance(value, list):
        for number, item in enumerate(value):
            states = _after(states | _after_text(states, between) if number else states, item, between)
        return states
    return _after_text(states, value) if isinstance(value, str) else _after_unknown(states)


def _after_text(states: States, text: str) -> States:
    """The states after a text."""
    after = {0, *(length for length in range(1, COMPLETE) if text.endswith(DYNAMIC[:length]))}
    for state in states:
        rest = DYNAMIC[state:]
        if text.startswith(rest):
            after.add(COMPLETE)
        elif rest.startswith(text):
            after.add(state + len(text))
    return frozenset(after | {COMPLETE} if DYNAMIC in text else after)


def _after_unknown(states: States) -> States:
    """The states after any text without braces: two of them and the rest of a reference make one."""
    return states | (frozenset({0, COMPLETE}) if any(state >= len("{{") for state in states) else START)


def _after_list(states: States, between: str) -> States:
    """The states after any number of texts without braces."""
    while (more := states | _after_text(_after_unknown(states), between) | _after_unknown(states)) != states:
        states = more
    return states


def _texts(value: object) -> Iterator[str]:
    """All texts in a value."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        for element in value:
            yield from _texts(element)
    elif isinstance(value, str):
        yield value


def _after_substitution(states: States, text: str, variables: Mapping[str, object]) -> States:
    """The states after a text of Fn::Sub: a `${` begins a variable or is itself, and `${!` is `${`."""
    states_by_position, ends = {0: states}, frozenset[int]()

    def reach(position: int, after: States) -> None:
        states_by_position[position] = states_by_position.get(position, frozenset()) | after

    while states_by_position:
        position = min(states_by_position)
        states = states_by_position.pop(position)
        begin = text.find("${", position)
        if begin < 0:
            ends |= _after_text(states, text[position:])
            continue
        states, name = _after_text(states, text[position:begin]), begin + len("${")
        reach(name, _after_text(states, "${"))
        if text.startswith("!", name):
            reach(name + 1, _after_text(states, "${"))
        if (end := text.find("}", name)) >= 0:
            variable = text[name:end].strip()
            reach(end + 1, _after(states, variables.get(variable, {"Ref": variable})))
    return ends
