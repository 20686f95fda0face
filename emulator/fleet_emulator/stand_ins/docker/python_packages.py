"""The Python packages that a RUN would install: those whose version the command itself pins."""

from __future__ import annotations

import re
import shlex

from triton_fleet.catalog.releases import pinned_version

_PIP = re.compile(r"(?:.*/)?pip[\d.]*")
_ENDS = frozenset(["&&", "||", ";", "|", "&"])


def pinned_packages(command: str) -> dict[str, str]:
    """Versions by name that the calls of `pip install` in a shell command pin; none if it cannot be read."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    versions: dict[str, str] = {}
    before, installs = "", False
    try:
        for word in lexer:
            if word in _ENDS:
                installs = False
            elif installs and (pinned := pinned_version(word)):
                versions[pinned[0]] = pinned[1]
            elif word == "install" and _PIP.fullmatch(before):
                installs = True
            before = word
    except ValueError:
        return {}
    return versions


def metadata_path(name: str, version: str, python: str) -> str:
    """Where pip of the image's own Python puts the METADATA of a package."""
    folder = f"{name.replace('-', '_')}-{version}.dist-info"
    return f"usr/local/lib/python{python}/dist-packages/{folder}/METADATA"
