"""All rules, by code."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType

from fleet.rules import about
from fleet.rules.rule import Rule


@cache
def rules() -> Mapping[str, Rule]:
    """Every rule of the modules in `fleet.rules.about`, sorted by code."""
    modules = [import_module(f"{about.__name__}.{found.name}") for found in iter_modules(about.__path__)]
    found = [each for module in modules for each in vars(module).values() if isinstance(each, Rule)]
    return MappingProxyType({each.code: each for each in sorted(found, key=lambda rule: rule.code)})
