"""A change of a fleet: its environments, the files that a deploy executes, and the product itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from triton_fleet.catalog.prices import COMPUTED_SIGN, computed_formula
from triton_fleet.changes.environment_change import EnvironmentChange
from triton_fleet.changes.templates import Change
from triton_fleet.context.cost import MONTH
from triton_fleet.core.formats import count_of
from triton_fleet.spec.prices import PriceBook

EXECUTED_FILES_TITLE = "This change edits what a deploy runs"
EXECUTED_HINT = "No template shows what these files do: read them."
MAX_EXECUTED_FILES, MAX_EXECUTED_FILES_IN_SHORT = 40, 5
"""Files that are listed, in a short report the second; the others are counted."""


@dataclass(frozen=True, kw_only=True)
class ExecutedFile:
    """A file that differs and that a deploy may execute.

    Attributes:
        path: From the top of the Git repository.
        what: The program or tool that reads it, as far as its name shows.
        change: "added", "deleted", "edited", or "edited, executable".
    """

    path: str
    what: str
    change: str


def executed_lines(files: Sequence[ExecutedFile], limit: int) -> Iterator[str]:
    """A line for each file that a deploy may execute, up to a limit, and the number of the others."""
    for file in files[:limit]:
        path = file.path.replace("`", "'")
        yield f"`{path}`: {file.what} ({file.change})"
    if len(files) > limit:
        folders = dict.fromkeys(file.path.partition("/")[0] for file in files[limit:])
        yield f"and {count_of(len(files) - limit, 'more file')} in or below: {', '.join(folders)}"


MAX_STACKS = 3
"""So many stacks of one change are named."""


@dataclass(frozen=True, kw_only=True)
class ProductChange:
    """The templates of the base's files by the product before and afterwards.

    Attributes:
        before: The product of the base, such as its version or its commit.
        after: That of the change.
        stacks: What CloudFormation does to each stack of each environment that differs.
        problem: Why they cannot be compared; "" if they can.
    """

    before: str
    after: str
    stacks: Mapping[tuple[str, str], Sequence[Change]]
    problem: str = ""

    @property
    def verdict(self) -> str:
        """One line: between which versions, and how many stacks differ."""
        subject = f"The product itself: {self.before} → {self.after}"
        if self.problem:
            return f"{subject} cannot be compared: {self.problem}"
        if not self.stacks:
            return f"{subject} changes no template"
        unsafe = sum(any(change.fails() for change in changes) for changes in self.stacks.values())
        worse = f", {unsafe} of them by a resource that is replaced, removed or unsafe" if unsafe else ""
        return f"{subject} changes {count_of(len(self.stacks), 'stack')} by itself{worse}"

    @property
    def lines(self) -> tuple[str, ...]:
        """Each change of a resource with the stacks that have it, the worst first."""
        return tuple(self._lines())

    def _lines(self) -> Iterator[str]:
        stacks_by_change = defaultdict[tuple[bool, str, str, tuple[str, ...]], list[str]](list)
        for (environment, stack), changes in self.stacks.items():
            for change in changes:
                names = stacks_by_change[
                    not change.fails(), change.effect.value, change.type, change.properties
                ]
                if f"{environment}/{stack}" not in names:
                    names.append(f"{environment}/{stack}")
        for (_, effect, kind, properties), names in sorted(stacks_by_change.items()):
            keys = f" ({', '.join(properties)})" if properties else ""
            more = f" and {len(names) - MAX_STACKS} more" if len(names) > MAX_STACKS else ""
            yield f"{effect:<8} {kind}{keys}: {', '.join(names[:MAX_STACKS])}{more}"


@dataclass(frozen=True, kw_only=True)
class FleetChange:
    """The environments of a change, compared with the commit that it left.

    Attributes:
        reference: What the user named.
        commit: The commit that both have in common.
        prices: Those of the change, of which the costs before are as well.
        executed_files: The files that differ and that a deploy may execute: no template shows what they do.
        product: What the product itself changes in templates; None where it is the same version.
        notes: What concerns the comparison itself, such as another version of the product.
    """

    reference: str
    commit: str
    environments: tuple[EnvironmentChange, ...]
    prices: PriceBook
    executed_files: tuple[ExecutedFile, ...] = ()
    product: ProductChange | None = None
    notes: tuple[str, ...] = ()

    @cached_property
    def environments_to_review(self) -> tuple[EnvironmentChange, ...]:
        """The environments with something to review."""
        return tuple(environment for environment in self.environments if not environment.is_empty)

    @property
    def unchanged_names(self) -> tuple[str, ...]:
        """The others, by name."""
        return tuple(environment.name for environment in self.environments if environment.is_empty)

    @property
    def phrase(self) -> str:
        """The words for an environment without a difference.

        "Nothing changes" is a promise: it is not made where what a deploy runs, or its context, differs.
        """
        return "no endpoint's files differ" if self.executed_files or self.warnings else "nothing changes"

    @property
    def rest(self) -> str:
        """The same with the names of these environments; "" if there are none."""
        return f"{self.phrase} in {', '.join(self.unchanged_names)}" if self.unchanged_names else ""

    @property
    def verdict(self) -> str:
        """The first line of the report."""
        parts = [f"edits what a deploy runs ({count_of(len(self.executed_files), 'file')})"] * bool(
            self.executed_files
        )
        parts += [
            f"{environment.name}: {environment.verdict}" for environment in self.environments_to_review
        ] or [self.rest]
        return "; ".join(parts)

    @property
    def basis(self) -> str:
        """The hours and prices of all costs, and the formula where one has a computed price in it."""
        has_computed_costs = any(
            environment.has_computed_costs for environment in self.environments_to_review
        )
        legend = f"; {COMPUTED_SIGN}: {computed_formula()}" if has_computed_costs else ""
        return f"a month is {MONTH} hours; {self.prices.words}{legend}"

    @property
    def warnings(self) -> tuple[str, ...]:
        """Facts about the whole that a reviewer has to know."""
        return (*([self.product.verdict] if self.product else ()), *self.notes)
