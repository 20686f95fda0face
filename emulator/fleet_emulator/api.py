"""All that the product takes from the emulator, beside `hosting`, which loads quickly."""

from __future__ import annotations

from fleet_emulator.fidelity import PAGE, fidelity_page
from fleet_emulator.permissions import may_put_metrics
from fleet_emulator.server import EmbeddedAws

__all__ = ["PAGE", "EmbeddedAws", "fidelity_page", "may_put_metrics"]
