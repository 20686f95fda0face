"""A change of a fleet: its environments, and one line about all of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from triton_fleet.catalog.prices import COMPUTED_SIGN, computed_formula
from triton_fleet.changes.environment_change import EnvironmentChange
from triton_fleet.changes.executed_file import ExecutedFile
from triton_fleet.changes.product_change import ProductChange
from triton_fleet.context.cost import MONTH
from triton_fleet.core.sizes import count_of
from triton_fleet.spec.prices import PriceBook


@dataclass(frozen=True, kw_only=True)
class FleetChange:
    """The environments of a change, compared with the commit that it left.

    Attributes:
        reference: What the user named.
        commit: The commit that both have in common.
        prices: Those of the change, of which the costs before are as well.
        executed: The files that differ and that a deploy may execute: no template shows what they do.
        product: What the product itself changes in templates; None where it is the same version.
        notes: What concerns the comparison itself, such as another version of the product.
    """

    reference: str
    commit: str
    environments: tuple[EnvironmentChange, ...]
    prices: PriceBook
    executed: tuple[ExecutedFile, ...] = ()
    product: ProductChange | None = None
    notes: tuple[str, ...] = ()

    @cached_property
    def differing(self) -> tuple[EnvironmentChange, ...]:
        """The environments with something to review."""
        return tuple(environment for environment in self.environments if not environment.is_empty)

    @property
    def unchanged(self) -> tuple[str, ...]:
        """The others, by name."""
        return tuple(environment.name for environment in self.environments if environment.is_empty)

    @property
    def phrase(self) -> str:
        """The words for an environment without a difference.

        "Nothing changes" is a promise: it is not made where what a deploy runs, or its context, differs.
        """
        return "no endpoint's files differ" if self.executed or self.warnings else "nothing changes"

    @property
    def rest(self) -> str:
        """The same with the names of these environments; "" if there are none."""
        return f"{self.phrase} in {', '.join(self.unchanged)}" if self.unchanged else ""

    @property
    def verdict(self) -> str:
        """The first line of the report."""
        parts = [f"edits what a deploy runs ({count_of(len(self.executed), 'file')})"] * bool(self.executed)
        parts += [f"{each.name}: {each.verdict}" for each in self.differing] or [self.rest]
        return "; ".join(parts)

    @property
    def basis(self) -> str:
        """The hours and prices of all costs, and the formula where one has a computed price in it."""
        computed = any(each.has_computed_costs for each in self.differing)
        legend = f"; {COMPUTED_SIGN}: {computed_formula()}" if computed else ""
        return f"a month is {MONTH} hours; {self.prices.words}{legend}"

    @property
    def warnings(self) -> tuple[str, ...]:
        """Facts about the whole that a reviewer has to know."""
        return (*([self.product.verdict] if self.product else ()), *self.notes)
