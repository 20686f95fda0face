"""Selectors by their form: names, globs, changes, and conditions on specs such as `owner=search`."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TypeAlias

from triton_fleet.context.context import endpoint_tags
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.project.project import LoadedSpec
from triton_fleet.spec.environment import Environment
from triton_fleet.spec.problems import did_you_mean

GLOB = frozenset("*?[")
"""The characters that make a pattern of a value."""
TAG = "tag:"
MAX_TEXT = 80
"""Characters of an argument that a message repeats."""
KEYS: Mapping[str, Callable[[LoadedSpec], Sequence[str]]] = {
    "endpoint": lambda loaded_spec: (loaded_spec.spec.endpoint,),
    "instance": lambda loaded_spec: (loaded_spec.spec.instance.type,),
    "mode": lambda loaded_spec: (loaded_spec.spec.mode.value,),
    "owner": lambda loaded_spec: (loaded_spec.spec.owner.team,) if loaded_spec.spec.owner else (),
    "profile": lambda loaded_spec: loaded_spec.profiles,
    "triton": lambda loaded_spec: (loaded_spec.spec.triton,),
}
"""The values of a spec that a condition is about; `tag:KEY` is a further one."""
Version: TypeAlias = tuple[int, ...]
COMPARISONS: Mapping[str, Callable[[Version, Version], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}
"""By operator, for versions alone."""
_CONDITION = re.compile(r"(tag:[^=!<>]*|[A-Za-z][A-Za-z_:-]*)(!=|<=|>=|=|<|>)(.*)", re.DOTALL)
_VERSION = re.compile(r"[0-9]{1,4}(\.[0-9]{1,4})?")


@dataclass(frozen=True)
class Condition:
    """One comparison of a value of specs; `=` and `!=` take a glob, and nothing for "has none"."""

    text: str
    key: str
    operator: str
    value: str

    @property
    def is_known(self) -> bool:
        """Whether specs have such a key."""
        return self.key in KEYS or self.key.startswith(TAG)

    def fits(self, loaded_spec: LoadedSpec, environment: Environment) -> bool:
        """Whether a spec, as it holds in the environment, fulfils it."""
        values = self.values(loaded_spec, environment)
        if self.operator in COMPARISONS:
            return any(self._compares(COMPARISONS[self.operator], value) for value in values)
        return self._equals(values) is (self.operator == "=")

    def values(self, loaded_spec: LoadedSpec, environment: Environment) -> Sequence[str]:
        """The values of a spec at the key."""
        return key_values(self.key, loaded_spec, environment)

    def _equals(self, values: Sequence[str]) -> bool:
        if not self.value:
            return not any(values)
        if self.key == "triton" and not GLOB & {*self.value}:
            return any(self._compares(operator.eq, value) for value in values)
        short = self.key == "instance" and not self.value.startswith("ml.")
        return any(fnmatchcase(value.removeprefix("ml.") if short else value, self.value) for value in values)

    def _compares(self, compare: Callable[[Version, Version], bool], value: str) -> bool:
        """Whether a version compares so with the condition's, as far as that goes: 25.04 is 25."""
        parts = _parts(self.value)
        return compare(_parts(value)[: len(parts)], parts)


def key_values(key: str, loaded_spec: LoadedSpec, environment: Environment) -> Sequence[str]:
    """The values of a spec at one of `KEYS` or at `tag:KEY`."""
    if key.startswith(TAG):
        tags = endpoint_tags(environment, loaded_spec.spec)
        return [value for name, value in tags.items() if name == key.removeprefix(TAG)]
    return KEYS[key](loaded_spec)


def tag_keys(loaded_spec: LoadedSpec, environment: Environment) -> list[str]:
    """The keys of conditions that a spec's tags have."""
    return [f"{TAG}{name}" for name in endpoint_tags(environment, loaded_spec.spec)]


def read_condition(text: str) -> Condition | None:
    """The condition that a text has the form of, whether or not it is a right one."""
    match = _CONDITION.fullmatch(text)
    return Condition(text, match[1], match[2], match[3]) if match else None


def require_right(condition: Condition) -> Condition:
    """The condition, once its key is known and goes with its operator and value.

    Raises:
        FindingsError: it cannot be evaluated.
    """
    key, about = condition.key, f"{quote(condition.text)}: "
    if not condition.is_known or key == TAG:
        hint = did_you_mean(key, [*KEYS, "tag:KEY"], whole_list=True)
        raise wrong_selector(f"{about}specs cannot be selected by {quote(key)}", hint)
    if key != "triton" and condition.operator in COMPARISONS:
        hint = f"write `{key}=` or `{key}!=`; only `triton` has an order"
        raise wrong_selector(f"{about}`{key}` cannot be compared with `{condition.operator}`", hint)
    pattern = condition.operator not in COMPARISONS and (not condition.value or GLOB & {*condition.value})
    if key == "triton" and not pattern and not _VERSION.fullmatch(condition.value):
        hint = "write a release, such as `25.04`, or a year, such as `25`"
        raise wrong_selector(f"{about}{quote(condition.value)} is not a version of Triton", hint)
    return condition


def wrong_selector(message: str, hint: str) -> FindingsError:
    """The refusal of a selector that cannot be evaluated."""
    return FindingsError([Finding(code="FL507", message=message, hint=hint)])


def quote(text: str) -> str:
    """A text of the user's as messages quote it."""
    return repr(text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}…")


def _parts(version: str) -> Version:
    return tuple(map(int, version.split(".")))


CHANGED = "changed:"
AND = ","
_SPACES = re.compile(r"(?<!\s)\s*(,|!=|<=|>=|=|<|>)\s*")
"""A comma or an operator, with the spaces that some write around it; many spaces are looked at once."""


def is_selector(argument: str) -> bool:
    """Whether an argument is a glob, or has a condition or a change in it, so that it is not a plain name."""
    terms = argument.split(AND)
    return bool(GLOB & {*argument}) or any(term.startswith(CHANGED) or read_condition(term) for term in terms)


def is_condition(term: str) -> bool:
    """Whether a part of a selector is a change or a condition by a key that specs have."""
    condition = read_condition(term)
    return term.startswith(CHANGED) or (condition is not None and condition.is_known)


def refuse_selector(argument: str) -> None:
    """Refuse what may match several endpoints, for a command that takes one.

    Raises:
        FindingsError: it is a glob, a condition or a change, or was meant as one.
    """
    if is_selector(_without_spaces(argument)):
        hint = "`fleet ls --env ENV SELECTOR` lists the endpoints that a selector matches"
        raise wrong_selector(f"{quote(argument)}: this command takes the name of one endpoint", hint)


def refuse_spaces(argument: str) -> None:
    """Refuse a selector with spaces around an operator or a comma.

    Raises:
        FindingsError: it is such a selector.
    """
    tight = _without_spaces(argument)
    if tight != argument and any(map(is_condition, tight.split(AND))):
        hint = f"write it without spaces: {quote(tight)}"
        raise wrong_selector(f"{quote(argument)}: a selector has no spaces between its parts", hint)


def _without_spaces(argument: str) -> str:
    return _SPACES.sub(r"\1", argument.strip())
