"""The last word on a model repository: that of the real Triton of this machine."""

from fleet.local.last_word.answer import Answer, findings
from fleet.local.last_word.judged import last_word

__all__ = ["Answer", "findings", "last_word"]
