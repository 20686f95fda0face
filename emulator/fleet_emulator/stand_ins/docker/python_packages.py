"""The Python packages that a RUN would install, where the command pins their versions."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from fleet.catalog.python_packages import normal_name
from fleet_emulator.stand_ins.docker.file_tree import EMPTY_FILE, FileTree, TreeError

_PIP = re.compile(r"(?:.*/)?pip[\d.]*$")
_PYTHON = re.compile(r"(?:.*/)?python[\d.]*$")
_PINNED = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]{0,127})(?:\[[^\]]*\])?==([0-9][A-Za-z0-9.!+_]{0,63})")
_WITH_VALUE = re.compile(
    r"-[cfit]|--((extra-)?index-url|find-links|constraint|target|prefix|root|platform|python-version|abi"
    r"|implementation|progress-bar|trusted-host|timeout|retries|proxy|cert|cache-dir|src|log|no-binary"
    r"|only-binary|config-settings|root-user-action|report)"
)
"""Options of pip that take the next word as their value."""
_ENDS = frozenset(["&&", "||", ";", "|", "&"])
MAX_REQUIREMENTS_BYTES = 1 << 20


@dataclass(frozen=True)
class Packages:
    """Versions by name, and the requirements whose versions only an index knows."""

    versions: dict[str, str]
    others: tuple[str, ...]


def pinned_packages(command: str, tree: FileTree, folder: str) -> Packages:
    """What the calls of `pip install` in a shell command ask for.

    Args:
        command: Of a RUN.
        tree: The file system, with the files of `--requirement`.
        folder: That the command runs in.
    """
    versions: dict[str, str] = {}
    others: list[str] = []
    for requirement in _requirements(command, tree, folder):
        if pinned := _PINNED.fullmatch(requirement):
            versions[pinned[1]] = pinned[2]
        else:
            others.append(requirement)
    return Packages(versions, tuple(others))


def pinned_requirements(text: str) -> dict[str, str]:
    """Versions by normal name, of what the lines of a requirements file pin."""
    pinned = (_PINNED.fullmatch(requirement) for requirement in _requirements_of(text))
    return {normal_name(match[1]): match[2] for match in pinned if match is not None}


def package_entries(packages: Packages, tree: FileTree) -> FileTree:
    """An empty METADATA for each package, where pip of the image's own Python would put it."""
    changes = FileTree()
    for each in [name for name in tree.names("usr/local/lib") if _PYTHON.match(name)]:
        for name, version in packages.versions.items():
            folder = f"{name.replace('-', '_')}-{version}.dist-info"
            changes.put(f"usr/local/lib/{each}/dist-packages/{folder}/METADATA", EMPTY_FILE)
    return changes


def _requirements(command: str, tree: FileTree, folder: str) -> Iterator[str]:
    for words in _commands(command):
        at = next((index for index, word in enumerate(words) if _PIP.match(word)), None)
        rest = list(words[at + 1 :]) if at is not None else []
        if "install" not in rest[:2]:
            continue
        left = iter(rest[rest.index("install") + 1 :])
        for word in left:
            if word in ("-r", "--requirement"):
                yield from _listed(next(left, ""), tree, folder)
            elif word.startswith("--requirement="):
                yield from _listed(word.partition("=")[2], tree, folder)
            elif _WITH_VALUE.fullmatch(word):
                next(left, None)
            elif not word.startswith("-"):
                yield word


def _commands(command: str) -> Iterator[list[str]]:
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words: list[str] = []
    try:
        for word in lexer:
            if word in _ENDS:
                yield words
                words = []
            else:
                words.append(word)
    except ValueError:
        return
    yield words


def _listed(name: str, tree: FileTree, folder: str) -> Iterator[str]:
    """The requirements of a file in the image; of one that does not exist, its name."""
    try:
        node = tree.get(tree.resolve(name if name.startswith("/") else f"{folder}/{name}"))
        if node is None or node.content is None or node.size > MAX_REQUIREMENTS_BYTES:
            yield f"--requirement {name}"
            return
        text = b"".join(node.content.chunks()).decode("utf-8", "replace")
    except (TreeError, OSError):
        yield f"--requirement {name}"
        return
    yield from _requirements_of(text)


def _requirements_of(text: str) -> Iterator[str]:
    """The requirements in the lines of a requirements file, without options, markers and hashes."""
    for line in text.replace("\\\n", " ").splitlines():
        words = line.partition("#")[0].partition(";")[0].split()
        if words and not words[0].startswith("-"):
            yield words[0]
