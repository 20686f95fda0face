"""What a change does to a fleet: its environments, and one line about all of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from fleet.report.environment_change import EnvironmentChange
from fleet.report.product_change import ProductChange


@dataclass(frozen=True, kw_only=True)
class FleetChange:
    """The environments of a change, compared with the commit that it left.

    Attributes:
        reference: What the user named.
        commit: The commit that both have in common.
        product: What the product itself changes in templates; None where it is the same version.
        notes: What concerns the comparison itself, such as another version of the product.
    """

    reference: str
    commit: str
    environments: tuple[EnvironmentChange, ...]
    product: ProductChange | None = None
    notes: tuple[str, ...] = ()

    @cached_property
    def differing(self) -> tuple[EnvironmentChange, ...]:
        """The environments with something to review."""
        return tuple(each for each in self.environments if not each.is_empty)

    @property
    def unchanged(self) -> tuple[str, ...]:
        """The others, by name."""
        return tuple(each.name for each in self.environments if each.is_empty)

    @property
    def verdict(self) -> str:
        """The first line of the report."""
        if not self.differing:
            return f"nothing changes in {', '.join(self.unchanged)}"
        return "; ".join(f"{each.name}: {each.verdict}" for each in self.differing)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reviewer has to know of the whole."""
        return (*([self.product.verdict] if self.product else ()), *self.notes)
