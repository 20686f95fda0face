"""The emulator as the product starts it; it loads moto, so that only the process that runs it imports this.

`hosting` and `fidelity` are the rest of the interface: every command may import them.
"""

from __future__ import annotations

from fleet_emulator.permissions import may_put_metrics
from fleet_emulator.server import EmbeddedAws

__all__ = ["EmbeddedAws", "may_put_metrics"]
