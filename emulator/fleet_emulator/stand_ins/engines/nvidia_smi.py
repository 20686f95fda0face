"""A stand-in for nvidia-smi: shows the GPU that the environment names, or none."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

from fleet_emulator.stand_ins.engines.calls import record_call

GPU, CAPABILITY, DRIVER = ("FLEET_STAND_IN_GPU", "FLEET_STAND_IN_COMPUTE_CAPABILITY", "FLEET_STAND_IN_DRIVER")
"""Its variables: a GPU as the catalog names it, empty for none; without a driver, one that is new enough."""
NO_DEVICE, INVALID_ARGUMENTS = 6, 2
"""Exit codes of nvidia-smi, as its manual has them."""


def run() -> None:
    """Answer as a process."""
    record_call()
    sys.exit(answer(sys.argv[1:], os.environ))


def answer(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    """Print the answer to `--query-gpu=FIELDS --format=csv,noheader`; its exit code."""
    gpu = environ.get(GPU, "")
    if not gpu:
        print("No devices were found (stand-in of nvidia-smi)")
        return NO_DEVICE
    fields = {
        "name": f"NVIDIA {gpu} (stand-in)",
        "compute_cap": environ.get(CAPABILITY, ""),
        "driver_version": environ.get(DRIVER, "999.0"),
        "memory.total": "[N/A]",
    }
    queries = [argument for argument in arguments if argument.startswith("--query-gpu=")]
    if len(queries) != 1 or "--format=csv,noheader" not in arguments:
        print("Invalid combination of input arguments (stand-in of nvidia-smi)")
        return INVALID_ARGUMENTS
    names = queries[0].partition("=")[2].split(",")
    for name in names:
        if name not in fields:
            print(f'Field "{name}" is not a valid field to query (stand-in of nvidia-smi)')
            return INVALID_ARGUMENTS
    print(", ".join(fields[name] for name in names))
    return 0
