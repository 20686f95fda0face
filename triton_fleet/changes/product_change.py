"""What another version of the product makes of the same files: the part of a change that no row shows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from triton_fleet.changes.templates import Change
from triton_fleet.core.sizes import count_of

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
        what = f"The product itself: {self.before} → {self.after}"
        if self.problem:
            return f"{what} cannot be compared: {self.problem}"
        if not self.stacks:
            return f"{what} changes no template"
        unsafe = sum(any(each.fails() for each in found) for found in self.stacks.values())
        worse = f", {unsafe} of them by a resource that is replaced, removed or unsafe" if unsafe else ""
        return f"{what} changes {count_of(len(self.stacks), 'stack')} by itself{worse}"

    @property
    def lines(self) -> tuple[str, ...]:
        """Each change of a resource with the stacks that have it, the worst first."""
        return tuple(self._lines())

    def _lines(self) -> Iterator[str]:
        found = defaultdict[tuple[bool, str, str, tuple[str, ...]], list[str]](list)
        for (environment, stack), changes in self.stacks.items():
            for change in changes:
                names = found[not change.fails(), change.effect.value, change.type, change.properties]
                if f"{environment}/{stack}" not in names:
                    names.append(f"{environment}/{stack}")
        for (_, effect, kind, properties), names in sorted(found.items()):
            keys = f" ({', '.join(properties)})" if properties else ""
            more = f" and {len(names) - MAX_STACKS} more" if len(names) > MAX_STACKS else ""
            yield f"{effect:<8} {kind}{keys}: {', '.join(names[:MAX_STACKS])}{more}"
