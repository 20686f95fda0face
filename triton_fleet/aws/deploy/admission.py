"""Which endpoint may be deployed next, so that second fleets fit into the quotas of an account."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Need:
    """One endpoint's instances by quota: beside those that run while it is deployed, and afterwards.

    `after` is negative where instances go, such as those of its former type.
    """

    during: Mapping[str, int]
    after: Mapping[str, int]


@dataclass(frozen=True, kw_only=True)
class Headroom:
    """Needs by endpoint, free instances by quota, and lines for the user; what is absent is unlimited."""

    needs: Mapping[str, Need] = field(default_factory=dict)
    free: Mapping[str, float] = field(default_factory=dict)
    notices: tuple[str, ...] = ()


class Admission:
    """Hands endpoints out to threads, in order, as far as the headroom goes.

    An endpoint that has to wait lets later ones pass. One that would not even fit alone is handed out when
    no other uses its quota: AWS decides. A failed deploy is rolled back, so it leaves the headroom as it was.
    """

    def __init__(self, endpoints: Sequence[str], headroom: Headroom) -> None:
        self._waiting, self._needs = list(endpoints), headroom.needs
        self._free = dict(headroom.free)
        self._used = Counter[str]()
        self._changed = threading.Condition()

    def take(self) -> str | None:
        """The next endpoint, when one fits; None if no endpoint is left."""
        with self._changed:
            while self._waiting:
                name = next((each for each in self._waiting if self._fits(each)), None)
                if name is not None:
                    self._waiting.remove(name)
                    self._used.update(self._during(name))
                    return name
                self._changed.wait()
            return None

    def end(self, name: str, *, succeeded: bool) -> None:
        """Give the headroom of an endpoint back whose deploy has ended."""
        with self._changed:
            self._used.subtract(self._during(name))
            if succeeded and name in self._needs:
                for quota, count in self._needs[name].after.items():
                    if quota in self._free:
                        self._free[quota] -= count
            self._changed.notify_all()

    def close(self) -> None:
        """Hand out nothing more."""
        with self._changed:
            self._waiting.clear()
            self._changed.notify_all()

    def _during(self, name: str) -> Mapping[str, int]:
        return self._needs[name].during if name in self._needs else {}

    def _fits(self, name: str) -> bool:
        return all(
            not count or not self._used[quota] or self._used[quota] + count <= self._free[quota]
            for quota, count in self._during(name).items()
            if quota in self._free
        )
