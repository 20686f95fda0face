"""Log groups that know their key; nothing is encrypted here."""

from __future__ import annotations

from types import ModuleType

from moto.logs.exceptions import ResourceNotFoundException
from moto.logs.models import LogsBackend

from fleet.local.aws.logs import urls


class EmbeddedLogs(LogsBackend):
    """One account's CloudWatch Logs in one region."""

    @property
    def _url_module(self) -> ModuleType:
        return urls

    def encrypt(self, name: str, key: str | None) -> None:
        """Note which key encrypts a group, None for CloudWatch's own."""
        if name not in self.groups:
            raise ResourceNotFoundException()
        self.groups[name].kms_key_id = key
