"""What an endpoint keeps of itself when it takes another configuration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from fleet_emulator.sagemaker.constraints import require_shape

_SHOWN = {
    "DesiredInstanceCount": ("CurrentInstanceCount", "DesiredInstanceCount"),
    "DesiredWeight": ("CurrentWeight", "DesiredWeight"),
}
_CAPTURE = "DataCaptureConfig"


@dataclass(frozen=True)
class Retention:
    """The kinds of properties that are retained; all others come from the new configuration."""

    kinds: frozenset[str] = frozenset()

    @classmethod
    def of(cls, retain_all: Any, excluded: Iterable[Mapping[str, str]] | None) -> Retention:
        """RetainAllVariantProperties and ExcludeRetainedVariantProperties; a template may write true as text.

        Raises:
            ValidationError: an excluded property is of an unknown type.
        """
        given = list(excluded or ())
        require_shape("VariantPropertyList", given, "excludeRetainedVariantProperties")
        if retain_all not in (True, "true"):
            return cls()
        return cls(frozenset({*_SHOWN, _CAPTURE} - {each["VariantPropertyType"] for each in given}))

    @property
    def capture(self) -> bool:
        """Whether the data capture stays as it is."""
        return _CAPTURE in self.kinds

    def of_variant(self, before: Mapping[str, Any]) -> dict[str, Any]:
        """What a variant takes over from the one of its name, as DescribeEndpoint shows it."""
        shown = [key for kind in self.kinds for key in _SHOWN.get(kind, ())]
        return {key: before[key] for key in shown if key in before}


NOTHING_RETAINED = Retention()
