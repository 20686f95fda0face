"""The extras of triton-fleet: which one brings a package that is not installed, and how to add it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, requires

from triton_fleet.findings import CannotRunError
from triton_fleet.product.distributions import DEPLOY, LOCAL, PACKAGE, normal_name
from triton_fleet.product.pin import install_command

Requirements = Callable[[str], Sequence[str] | None]
"""The requirements of a distribution by its name; None where it is not installed."""
_REQUIREMENT = re.compile(
    r"(?P<name>[\w.-]+)\s*(?:\[(?P<extras>[^\]]*)\])?[^;]*(?:;(?P<marker>.*))?", re.DOTALL
)
_EXTRA = re.compile(r"\s*\(?extra\s*==\s*['\"](?P<extra>[\w.-]+)['\"]\)?\s*")


def installed_requirements(distribution: str) -> Sequence[str] | None:
    """The requirements of an installed distribution, with their markers; None where it is not installed."""
    try:
        return requires(distribution) or ()
    except PackageNotFoundError:
        return None


def missing_distributions(extra: str, requirements: Requirements = installed_requirements) -> Sequence[str]:
    """The distributions that triton-fleet needs with an extra and that are not installed, indirect ones too.

    Those that only some platforms or Pythons need are not among them.

    Args:
        extra: Its name; "" for what is needed without one.
        requirements: Of each distribution.
    """
    absent, visits, rest = list[str](), set[tuple[str, str]](), [(PACKAGE, extra)]
    while rest:
        name, own_extra = visit = rest.pop(0)
        if visit in visits:
            continue
        visits.add(visit)
        if (lines := requirements(name)) is None:
            absent.append(name)
            continue
        for requirement in filter(None, map(_REQUIREMENT.match, lines)):
            marker = requirement["marker"] or ""
            of_extra = _EXTRA.fullmatch(marker)
            if marker and (of_extra is None or of_extra["extra"] != own_extra):
                continue
            extras = (requirement["extras"] or "").split(",")
            rest += [(normal_name(requirement["name"]), extra.strip()) for extra in {"", *extras}]
    return list(dict.fromkeys(absent))


def require_extra(extra: str, requirements: Requirements = installed_requirements) -> None:
    """Refuse to run without an extra.

    Raises:
        CannotRunError: something of it is not installed.
    """
    if absent := missing_distributions(extra, requirements):
        raise _refusal(", ".join(absent), extra)


def missing_package(
    error: ModuleNotFoundError, requirements: Requirements = installed_requirements
) -> CannotRunError | None:
    """The refusal of a command whose import failed; None for a module that is of no extra: a bug.

    A module may have another name than its distribution, and only an installed one lists its modules: then
    the smallest extra that is not complete is the one.
    """
    module = (error.name or "").partition(".")[0]
    if module in {"", __name__.partition(".")[0]} or requirements(PACKAGE) is None:
        return None
    incomplete = {
        extra: absent
        for extra in ("", DEPLOY, LOCAL)
        if (absent := missing_distributions(extra, requirements))
    }
    end = f"-{normal_name(module)}"
    by_name = [
        extra
        for extra, absent in incomplete.items()
        if any(f"-{distribution}".endswith(end) for distribution in absent)
    ]
    return next((_refusal(module, extra) for extra in (*by_name, *incomplete)), None)


def add_extra(extra: str) -> str:
    """The remedy where something of an extra is missing."""
    return f"run `make setup`; without a Makefile: {install_command(f'[{extra}]' if extra else '')}"


def _refusal(names: str, extra: str) -> CannotRunError:
    verb = "are" if ", " in names else "is"
    return CannotRunError(f"this command needs {names}, which {verb} not installed", add_extra(extra))
