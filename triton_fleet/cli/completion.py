"""Completion for shells: commands, options, and the names of environments, endpoints and profiles.

What a command takes is read from `signatures.json`, which `fleet schema` writes: the module of a command is
slow to load. Only the names of a fleet's files are read, so that a mistake in one of them does not matter.
A shell may evaluate what it receives: a name with a character that is not in `NAME` is left out, and one that
a command would read as an option.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.core import TyperCommand

from triton_fleet.core.folders import project_roots
from triton_fleet.project.spec_files import spec_files, yaml_stems
from triton_fleet.spec.source import PROFILES

SIGNATURES = Path(__file__).with_name("signatures.json")
"""The arguments and options of each command, and what each takes: a word such as ENV, or choices."""
REPEAT_MARK = "..."
"""Ends an argument that may be repeated."""
NAME = re.compile(r"\w[\w.@+/-]*", re.ASCII)
OPTION = re.compile(r"-[a-z-]+")
SECTION = re.compile(r"\[\s*(?:profile\s+)?[\"']?(.+?)[\"']?\s*\]")
MAX_BYTES = 1 << 20
"""How much of a file of AWS profiles is read."""


@dataclass(frozen=True)
class Candidate:
    """A word that a shell offers; typer formats it for the shell."""

    value: str
    help: str | None = None


class CommandSketch(TyperCommand):
    """A command of which only the signature is known."""

    def __init__(self, name: str) -> None:
        settings = {"ignore_unknown_options": True, "allow_extra_args": True}
        super().__init__(name, context_settings=settings, add_help_option=False)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """The words that can follow those of the context."""
        try:
            words = candidates(str(self.name), ctx.args, incomplete)
            pattern = OPTION if incomplete.startswith("-") else NAME
            return [
                Candidate(word) for word in words if word.startswith(incomplete) and pattern.fullmatch(word)
            ]
        except Exception:  # in the middle of a command line, an error message helps nobody
            return []


def candidates(command: str, words: Sequence[str], incomplete: str) -> Iterable[str]:
    """Words that can follow a command and complete words, whatever it begins with.

    Args:
        command: A command or a group.
        words: What was typed after it.
        incomplete: What was typed of the next word.
    """
    signatures: Mapping[str, Any] = json.loads(SIGNATURES.read_text(encoding="utf-8"))
    rest = list(words)
    if command not in signatures:
        if not rest:
            return [path.removeprefix(f"{command} ") for path in signatures if path.startswith(f"{command} ")]
        command = f"{command} {rest.pop(0)}"
    options: Mapping[str, str | list[str]] = signatures[command]["options"]
    arguments: list[str] = signatures[command]["arguments"]
    if incomplete.startswith("-"):
        return options
    position = 0
    while rest:
        word = rest.pop(0)
        if takes := options.get(word):
            if not rest:
                return _values(takes)
            rest.pop(0)
        elif not word.startswith("-"):
            position += 1
    if not arguments or (position >= len(arguments) and not arguments[-1].endswith(REPEAT_MARK)):
        return []
    return _values(arguments[min(position, len(arguments) - 1)].removesuffix(REPEAT_MARK))


def _values(takes: str | list[str]) -> Iterable[str]:
    """The values of an option or argument: its choices, or the names that its word stands for."""
    return takes if isinstance(takes, list) else NAMES.get(takes, tuple)()


def _aws_profiles() -> Iterable[str]:
    """The profiles in the user's AWS settings, read without boto3, which is slow to import."""
    config = Path(os.environ.get("AWS_CONFIG_FILE") or "~/.aws/config").expanduser()
    secrets = Path(os.environ.get("AWS_SHARED_CREDENTIALS_FILE") or "~/.aws/credentials").expanduser()
    profiles = set[str]()
    for file in (config, secrets):
        if file.is_file():
            with file.open(encoding="utf-8", errors="replace") as stream:
                sections = map(SECTION.match, stream.read(MAX_BYTES).splitlines())
            profiles |= {section[1] for section in sections if section}
    return sorted(profile for profile in profiles if not profile.startswith(("sso-session ", "services ")))


def _instance_types() -> Iterable[str]:
    from triton_fleet.catalog.instances import instance_types

    return instance_types()


def _rules() -> Iterable[str]:
    from triton_fleet.rules.names import codes_by_name

    return codes_by_name()


def _root() -> Path:
    return next(project_roots(Path.cwd()))


NAMES: Mapping[str, Callable[[], Iterable[str]]] = {
    "ENV": lambda: yaml_stems(_root() / "environments")[0],
    **dict.fromkeys(("ENDPOINT", "PATH"), lambda: spec_files(_root()).by_endpoint),
    "PROFILE": _aws_profiles,
    "SPEC_PROFILE": lambda: yaml_stems(_root() / PROFILES)[0],
    "INSTANCE": _instance_types,
    "NAME|CODE": _rules,
}
"""The names that a word in a signature stands for; for any other word the shell completes files."""
