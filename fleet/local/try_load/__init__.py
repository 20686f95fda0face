"""The last word on a model repository: that of the real Triton of this machine."""

from fleet.local.try_load.repositories import last_word
from fleet.local.try_load.result import TryLoadResult, findings

__all__ = ["TryLoadResult", "findings", "last_word"]
