"""The one console: whatever is printed on it, only what this product styles and draws has power."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO, Literal

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from fleet.printers.sanitizer import LineGuard


class OutputConsole(Console):
    """A console without markup, of which no text drives the terminal or commands a CI runner."""

    def __init__(
        self,
        *,
        stderr: bool = False,
        file: IO[str] | None = None,
        width: int | None = None,
        force_terminal: bool | None = None,
        color_system: Literal["auto"] | None = "auto",
    ) -> None:
        super().__init__(
            stderr=stderr,
            file=file,
            width=width,
            force_terminal=force_terminal,
            color_system=color_system,
            highlight=False,
            markup=False,
            emoji=False,
        )

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """What rich draws, with the text of it made visible; styles and movements of the cursor stay."""
        guard = LineGuard()
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield Segment(guard.passed(segment.text), segment.style)
