"""Log groups that know their key, and saved queries; nothing is encrypted here, and no query runs."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType

from moto.logs.exceptions import ResourceNotFoundException
from moto.logs.models import LogsBackend

from fleet_emulator.logs import responses


@dataclass(frozen=True, kw_only=True)
class QueryDefinition:
    """A saved query; `modified` in milliseconds of Unix time."""

    id: str
    name: str
    text: str
    groups: Sequence[str]
    modified: int


class EmbeddedLogs(LogsBackend):
    """One account's CloudWatch Logs in one region."""

    def __init__(self, region_name: str, account_id: str) -> None:
        super().__init__(region_name, account_id)
        self.definitions: dict[str, QueryDefinition] = {}

    @property
    def _url_module(self) -> ModuleType:
        return responses

    def encrypt(self, name: str, key: str | None) -> None:
        """Note which key encrypts a group, None for CloudWatch's own."""
        if name not in self.groups:
            raise ResourceNotFoundException()
        self.groups[name].kms_key_id = key

    def define(self, id: str, *, name: str, text: str, groups: Sequence[str]) -> None:
        """Save a query, or another one in the place of that id's."""
        now = int(time.time() * 1000)
        self.definitions[id] = QueryDefinition(id=id, name=name, text=text, groups=groups, modified=now)
