"""A model repository, loaded in the real Triton of this machine: what `fleet check --run` asks last."""

from triton_fleet.local.try_load.repositories import load_in_triton
from triton_fleet.local.try_load.result import TryLoadResult, findings

__all__ = ["TryLoadResult", "findings", "load_in_triton"]
