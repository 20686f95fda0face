"""All rules, by code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType, ModuleType

from triton_fleet.rules import about
from triton_fleet.rules.codes import CODES_FILE, other_codes
from triton_fleet.rules.rule import Rule


@cache
def rules() -> Mapping[str, Rule]:
    """Every rule of the modules in `triton_fleet.rules.about`, sorted by code.

    Raises:
        ValueError: a code has two meanings.
    """
    modules = [import_module(f"{about.__name__}.{module.name}") for module in iter_modules(about.__path__)]
    return rules_of(modules)


def rules_of(modules: Iterable[ModuleType]) -> Mapping[str, Rule]:
    """The rules of modules, sorted by code; one that a module imports from another counts once.

    Raises:
        ValueError: two rules have one code, or a rule has the code of something else.
    """
    rules_by_code = dict[str, Rule]()
    for module in modules:
        for variable in vars(module).values():
            if not isinstance(variable, Rule):
                continue
            former = rules_by_code.setdefault(variable.code, variable)
            if former is not variable:
                locations = " and ".join(sorted({_location(former), _location(variable)}))
                raise ValueError(f"{variable.code} is the code of two rules: {locations}")
            if variable.code in other_codes():
                location = _location(variable)
                problem = f"is the code of the rule {location} and stands in {CODES_FILE}"
                raise ValueError(f"{variable.code} {problem}")
    return MappingProxyType(dict(sorted(rules_by_code.items())))


def _location(rule: Rule) -> str:
    return f"{rule.check.__module__}.{rule.check.__name__}"
