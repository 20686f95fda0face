"""`python -m triton_fleet.local ROOT FD` starts the supervisor."""

from __future__ import annotations

import gc
import sys
from pathlib import Path


def main() -> None:
    """Run it until SIGTERM."""
    gc.disable()  # nothing of what is imported is ever garbage; it starts in two thirds of the time
    from triton_fleet.local.supervisor import run

    run(Path(sys.argv[1]), int(sys.argv[2]))


if __name__ == "__main__":
    main()
