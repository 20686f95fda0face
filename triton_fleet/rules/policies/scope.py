"""Which endpoints a statement is about."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import cache

from triton_fleet.rules.policies.subject import Subject
from triton_fleet.spec.policy import When


def is_of_environment(when: When, environment: str) -> bool:
    """Whether a statement is about any endpoint of an environment."""
    return when.environment is None or matches(when.environment, environment)


def is_about(when: When, subject: Subject) -> bool:
    """Whether a statement is about an endpoint: each key of `when` matches it."""
    if not is_of_environment(when, subject.project.environment.environment):
        return False
    if when.owner is not None and not (subject.team and matches(when.owner, subject.team)):
        return False
    return when.profile is None or any(matches(when.profile, profile) for profile in subject.loaded.profiles)


@cache
def matches(patterns: tuple[str, ...], name: str) -> bool:
    """Whether one of the patterns matches the whole name; `*` stands for any text."""
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def listed(words: Sequence[object], conjunction: str = "and") -> str:
    """Words as a sentence lists them: `a, b and c`."""
    *others, last = map(str, words)
    return f"{', '.join(others)} {conjunction} {last}" if others else last
