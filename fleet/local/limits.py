"""What local.yaml lets multi-model endpoints take, as the file says it now."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from pathlib import Path

from fleet.findings import FindingsError
from fleet.spec.environment import LOCAL, LocalLimits
from fleet.spec.project import open_project

log = logging.getLogger("fleet.local")


@dataclass
class Limits:
    """Called at each load, so a change needs no new start; while the file is wrong the last limits hold."""

    root: Path
    _last: LocalLimits = field(default_factory=LocalLimits)

    def __call__(self) -> LocalLimits:
        """The limits."""
        try:
            self._last = open_project(self.root, LOCAL).environment.local or LocalLimits()
        except (FindingsError, OSError) as error:
            log.warning("the limits of local.yaml stay as they were: %s", error)
        return self._last
