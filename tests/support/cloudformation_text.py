"""CloudFormation's result of a value, by its user guide: an oracle for what searches templates.

Sources: intrinsic-function-reference-{sub,join,if,select,split,ref}.html and pseudo-parameter-reference.html.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

NO_VALUE = "AWS::NoValue"
VARIABLE = re.compile(r"\$\{(?P<literal>!)?(?P<name>[^}]*)\}")


@dataclass(frozen=True)
class Deployment:
    """One deploy: what every reference is, and which side each condition takes."""

    reference: str = ""
    conditions: Mapping[str, bool] = field(default_factory=dict)

    def value(self, given_values: Any) -> Any:
        """A value of a template with its functions computed; None: CloudFormation leaves it out."""
        match given_values:
            case {"Ref": name} if len(given_values) == 1:
                return None if name == NO_VALUE else self.reference
            case {"Fn::GetAtt": _} if len(given_values) == 1:
                return self.reference
            case {"Fn::If": [condition, yes, no]} if len(given_values) == 1:
                return self.value(yes if self.conditions.get(condition, True) else no)
            case {"Fn::Join": [delimiter, items]} if len(given_values) == 1:
                actual_value = self.value(items)
                parts = actual_value if isinstance(actual_value, list) else [actual_value]
                return delimiter.join(str(part) for part in parts if part is not None)
            case {"Fn::Sub": str(text)} if len(given_values) == 1:
                return self._substitute(text, {})
            case {"Fn::Sub": [text, variables]} if len(given_values) == 1:
                return self._substitute(text, variables)
            case {"Fn::Split": [delimiter, text]} if len(given_values) == 1:
                return str(self.value(text)).split(delimiter)
            case dict():
                return {
                    key: item
                    for key, inner in given_values.items()
                    if (item := self.value(inner)) is not None
                }
            case list():
                return [item for inner in given_values if (item := self.value(inner)) is not None]
        return given_values

    def _substitute(self, text: str, variables: Mapping[str, Any]) -> str:
        def replacement(match: re.Match[str]) -> str:
            name = match["name"]
            if match["literal"]:
                return f"${{{name}}}"
            value = self.value(variables.get(name, {"Ref": name}))
            return "" if value is None else str(value)

        return VARIABLE.sub(replacement, text)


def texts(value: Any) -> list[str]:
    """All keys and texts in a value."""
    if isinstance(value, dict):
        return [text for key, inner in value.items() for text in (str(key), *texts(inner))]
    if isinstance(value, list):
        return [text for inner in value for text in texts(inner)]
    return [value] if isinstance(value, str) else []
