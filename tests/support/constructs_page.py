"""docs/constructs-api.md: the public names of `triton_endpoints`, from their signatures and docstrings.

`python -m tests.support.constructs_page` writes it, as the product's own commands do not load the CDK.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import triton_endpoints
from tests.support.fleet_folder import ROOT
from triton_endpoints.library import props

RESULTS = (triton_endpoints.EndpointParts,)
"""Classes that the package alone makes an object of: their parameters are attributes."""
PAGE = ROOT / "docs" / "constructs-api.md"
INTRO = """\
<!-- Made by `python -m tests.support.constructs_page` from constructs/triton_endpoints: change it there. -->
# API of the constructs

What `from triton_endpoints import ...` has; [constructs.md](constructs.md) shows how to use it. All parameters but the first two of a
construct are given by name.
"""
README = ROOT / "constructs" / "README.md"
STABILITY = "## What may change when\n"
"""The section of the README with which the page begins."""
_SECTION = re.compile(r"^(Args|Attributes|Raises):$")


def public_api() -> dict[str, dict[str, str]]:
    """Each public callable as `NAME` or `NAME.METHOD`, with its parameters and their defaults; properties have none."""
    return {
        name: {parameter.name: _default(parameter) for parameter in _parameters(call)}
        if _is_called(call)
        else {}
        for name, call in public_members()
    }


def public_members() -> Iterator[tuple[str, Any]]:
    """The objects of the public names, and the public members of the classes among them as `NAME.MEMBER`."""
    for owner in triton_endpoints.__all__:
        yield from _entries(owner)


def _is_called(member: object) -> bool:
    """Whether a member is a class or a function, and not a type of parameters."""
    return inspect.isclass(member) or inspect.isroutine(member)


def _type_text(value: object) -> str:
    """A type of parameters, or the version's, without the modules of its parts."""
    return type(value).__name__ if isinstance(value, str) else re.sub(r"\b(?:\w+\.)+(?=\w)", "", str(value))


def prop_classes() -> dict[str, type[Any]]:
    """The classes of props that are called as the keys of a spec's sections."""
    members = {name: getattr(triton_endpoints, name) for name in triton_endpoints.__all__}
    return {
        name: member
        for name, member in members.items()
        if inspect.isclass(member) and member.__module__ == props.__name__
    }


def described_props(prop_class: type[Any]) -> dict[str, str]:
    """The sentences of a docstring about each prop of a class."""
    return _arguments(inspect.getdoc(prop_class) or "")


def constructs_page() -> str:
    """The page as Markdown."""
    _, heading, stability = README.read_text("utf-8").partition(STABILITY)
    return "\n".join([INTRO, heading + stability, *(_part(name) for name in triton_endpoints.__all__)])


def _entries(owner: str) -> Iterator[tuple[str, Any]]:
    result = getattr(triton_endpoints, owner)
    yield owner, result
    for name, member in _members(result):
        yield f"{owner}.{name}", member


def _members(owner: object) -> Iterator[tuple[str, Any]]:
    """The public members that our classes define, those of our bases too."""
    if not inspect.isclass(owner):
        return
    ours = [item for item in owner.__mro__ if item.__module__.startswith("triton_endpoints")]
    names = {name for item in ours for name in vars(item) if not name.startswith(("_", "jsii"))}
    own_fields = {field.name for field in fields(owner)} if is_dataclass(owner) else set()
    for name in sorted(names - own_fields):
        member = inspect.getattr_static(owner, name)
        if isinstance(member, property) or callable(getattr(owner, name)):
            yield name, member if isinstance(member, property) else getattr(owner, name)


def _parameters(call: Callable[..., Any]) -> list[inspect.Parameter]:
    signature = inspect.signature(call.__init__ if inspect.isclass(call) else call)
    parameters = [parameter for parameter in signature.parameters.values() if parameter.name != "self"]
    return [item.replace(default="attribute") for item in parameters] if call in RESULTS else parameters


def _default(parameter: inspect.Parameter) -> str:
    if parameter.default is inspect.Parameter.empty:
        return "any" if parameter.kind is parameter.VAR_KEYWORD else "required"
    return (
        "props" if is_dataclass(parameter.default) else re.sub(r"<factory>", "empty", str(parameter.default))
    )


def _part(name: str) -> str:
    result = getattr(triton_endpoints, name)
    if not _is_called(result):
        return f"## {name}\n\n`{_type_text(result)}`\n"
    text = [f"## {name}\n", describe_call(result, result)]
    for member, value in _members(result):
        if isinstance(value, property):
            text.append(f"### {name}.{member}\n\n{_prose(inspect.getdoc(value) or '')}\n")
        else:
            text.append(f"### {name}.{member}()\n\n{describe_call(value, value)}")
    return "\n".join(text)


def describe_call(documentation: object, call: Callable[..., Any]) -> str:
    """The docstring, and a table of the parameters with what is said of each."""
    doc = inspect.getdoc(documentation) or ""
    initialiser = inspect.getdoc(documentation.__init__) if inspect.isclass(documentation) else ""
    about = {**_arguments(doc), **_arguments(initialiser or "")}
    rows = [
        f"| `{parameter.name}` | {_code(str(parameter.annotation))} | {show_default(_default(parameter))} | {about.get(parameter.name, '')} |"
        for parameter in _parameters(call)
        if parameter.name not in ("scope", "id")
    ]
    table = ["| parameter | type | default | |", "| --- | --- | --- | --- |", *rows, ""] if rows else []
    return "\n".join([_prose(doc), "", *table])


def _code(text: str) -> str:
    return f"`{text}`".replace("|", "\\|")


def show_default(default: str) -> str:
    plain = ("any", "attribute", "required", "props", "unset", "empty")
    return default if default in plain else f"`{default}`"


def _prose(doc: str) -> str:
    """A docstring without its sections of arguments, but with what is raised."""
    lines, section = [], ""
    for line in doc.splitlines():
        if match := _SECTION.match(line):
            section = match[1]
        elif section == "Raises" and line.strip():
            lines.append(f"Raises {line.strip()}")
        elif not section:
            lines.append(line)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def _arguments(doc: str) -> dict[str, str]:
    """A docstring's description of each argument or attribute."""
    result, name, section = dict[str, str](), "", ""
    for line in doc.splitlines():
        if heading := _SECTION.match(line):
            section = heading[1]
        elif section in ("Args", "Attributes") and (entry := re.match(r" {4}(\**\w+): (.*)", line)):
            name = entry[1].lstrip("*")
            result[name] = entry[2]
        elif section in ("Args", "Attributes") and name and line.strip():
            result[name] += f" {line.strip()}"
    return {key: text.replace("|", "\\|") for key, text in result.items()}


if __name__ == "__main__":
    PAGE.write_text(constructs_page(), "utf-8")
