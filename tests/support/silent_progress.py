"""A progress of a publish that shows nothing."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from triton_fleet.store.progress import Advance, Tell


class SilentProgress:
    """Shows nothing."""

    def builds(self) -> AbstractContextManager[None]:
        """Show nothing."""
        return nullcontext()

    def build(self, name: str) -> AbstractContextManager[Tell]:
        """Show nothing."""
        return nullcontext(_ignore)

    def uploads(self, count: int, size: int, subject: str = "archive") -> AbstractContextManager[None]:
        """Show nothing."""
        return nullcontext()

    def archive(self, name: str, size: int) -> AbstractContextManager[Advance]:
        """Show nothing."""
        return nullcontext(_ignore)

    def copies(self, objects: int) -> AbstractContextManager[Advance]:
        """Show nothing."""
        return nullcontext(_ignore)


def _ignore(_: object) -> None:
    pass
