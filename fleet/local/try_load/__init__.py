"""The last word on a model repository: that of the real Triton of this machine."""

from fleet.local.try_load.repositories import last_word
from fleet.local.try_load.result import Answer, findings

__all__ = ["Answer", "findings", "last_word"]
