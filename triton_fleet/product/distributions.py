"""The distributions of the product: names, folders in its repository, and the lines that list them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

PACKAGE = "triton-fleet"
VENDOR = "vendor"
"""The folder of a fleet with the wheels and what they need."""
DEPLOY, LOCAL = "deploy", "local"
"""The extras of triton-fleet; the second brings what the first brings."""
DEPLOY_EXTRA, LOCAL_EXTRA = f"[{DEPLOY}]", f"[{LOCAL}]"
"""As a requirement names them."""


@dataclass(frozen=True)
class Distribution:
    """One distribution; `folder` has its pyproject.toml, "" at the top of the repository."""

    name: str
    folder: str

    @property
    def stem(self) -> str:
        """How the names of its files begin."""
        return self.name.replace("-", "_")


_COMMAND = (
    Distribution(PACKAGE, ""),
    Distribution("triton-endpoints", "constructs"),
    Distribution("triton-fleet-client", "client"),
)
EMULATOR = Distribution("triton-fleet-emulator", "emulator")
DISTRIBUTIONS = (*_COMMAND, EMULATOR)
_LINE = re.compile(
    rf"^(?:(?P<name>{'|'.join(distribution.name.replace('-', '[-_.]') for distribution in DISTRIBUTIONS)})"
    rf"|\./{VENDOR}/(?P<stem>{'|'.join(distribution.stem for distribution in DISTRIBUTIONS)})-[^\s\[]+\.whl)"
    r"(?P<extras>\[[^\]\n]*\])?[ \t]*(?=[=<>!~@;#]|--|$)[^\n]*$",
    re.MULTILINE | re.IGNORECASE,
)


def distributions(extras: str) -> Sequence[Distribution]:
    """The distributions that triton-fleet with some extras consists of."""
    if LOCAL in extras:
        return DISTRIBUTIONS
    return _COMMAND if extras else _COMMAND[:1]


def product_lines(requirements: str) -> Sequence[re.Match[str]]:
    """The lines of a requirements.txt that list distributions of the product, each with its `extras`."""
    return list(_LINE.finditer(requirements))


def product_line(requirements: str) -> re.Match[str] | None:
    """The line of a requirements.txt that pins triton-fleet, with its `extras`; None without one."""
    lines = product_lines(requirements)
    return next((line for line in lines if normal_name(line["name"] or line["stem"]) == PACKAGE), None)


def normal_name(name: str) -> str:
    """A name as PyPA's specification "Names and normalization" compares it."""
    return re.sub("[-_.]+", "-", name).lower()
