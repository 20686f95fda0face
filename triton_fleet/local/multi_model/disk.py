"""The unpacked archives of a multi-model endpoint, kept on disk until it is full."""

from __future__ import annotations

import errno
import json
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from fleet_emulator.hosting import HostingError
from triton_fleet.core.formats import format_size
from triton_fleet.findings import Severity
from triton_fleet.local.containers import LackOfMemory, Record, Refusal
from triton_fleet.local.model_data import download, unpack
from triton_fleet.local.multi_model.models import Neighbors, folder_name
from triton_fleet.local.triton.model_backend import stand_ins
from triton_fleet.local.triton.staging import stage
from triton_fleet.repository.loading.load_plan import plan_load
from triton_fleet.repository.loading.models import ServingContainer
from triton_fleet.repository.model_config import CONFIG
from triton_fleet.repository.model_files import NO_CODE
from triton_fleet.repository.reading.folder import read_folder
from triton_fleet.repository.unpacking import TooLargeError, budget

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client


NO_SUCH_TARGET = 400
"""SageMaker's status for an archive that is not in S3."""
MODEL_DISK = "`local.model_disk` in environments/local.yaml"


@dataclass
class UnpackedArchive:
    """One archive on disk, staged for this machine; `size` in bytes, `last_use` in the order of use.

    `differences` is what the staged copy has otherwise, and what serves it instead, for people.
    """

    name: str
    content: str
    folder: Path
    size: int
    differences: list[str]
    last_use: int


class ModelDisk:
    """Fetches archives from below one S3 prefix; may be used from several threads, one a target."""

    def __init__(
        self,
        root: Path,
        s3: S3Client,
        prefix: str,
        *,
        limit: Callable[[], int | None],
        record: Record,
    ) -> None:
        """Keep at most `limit` bytes below `root`; `prefix` is an s3:// URL that ends in a slash."""
        self.root = root
        self._s3, self._limit, self._record = s3, limit, record
        self._url = prefix
        self._bucket, _, self._prefix = prefix.removeprefix("s3://").partition("/")
        self._archives: dict[str, UnpackedArchive] = {}
        self._uses = count()
        self._lock = threading.Lock()
        self._room = threading.Lock()
        """Held by whoever takes room on the disk."""

    def content(self, target: str) -> str:
        """The target's present ETag in S3.

        Raises:
            Refusal: it has nothing.
        """
        key = f"{self._prefix}{target}"
        try:
            return self._s3.head_object(Bucket=self._bucket, Key=key)["ETag"]
        except BotoCoreError as error:
            raise Refusal(
                503, "ServiceUnavailable", f"S3 did not answer whether {key} exists: {error}"
            ) from error
        except ClientError as error:
            if error.response["ResponseMetadata"]["HTTPStatusCode"] != 404:
                raise
            message = (
                f"Failed to download model data(bucket: {self._bucket}, key: {key}). Please ensure that there"
                " is an object located at the URL and that the role passed to CreateModel has permissions to"
                " download the model."
            )
            raise Refusal(NO_SUCH_TARGET, "ValidationError", message) from error

    def fetch(self, target: str, neighbors: Neighbors) -> None:
        """Have a target's archive on disk, downloaded if it is missing or has changed.

        Raises:
            Refusal: the archive cannot be downloaded or unpacked, or leaves its main model to chance.
            LackOfMemory: the disk is too small for it.
        """
        content = self.content(target)
        with self._lock:
            archive = self._archives.get(target)
        if archive is None or archive.content != content:
            self.drop(target)
            self._keep(target, self._fetch(target, content, neighbors), neighbors)

    def archive(self, target: str) -> UnpackedArchive:
        """The target's fetched archive."""
        with self._lock:
            return self._archives[target]

    def touch(self, target: str) -> None:
        """Note that a target is used."""
        with self._lock:
            if target in self._archives:
                self._archives[target].last_use = next(self._uses)

    def sizes(self) -> dict[str, int]:
        """Bytes on disk by target."""
        with self._lock:
            return {target: archive.size for target, archive in self._archives.items()}

    def differences(self) -> list[str]:
        """Differences of the staged archives, and their stand-ins, for people."""
        with self._lock:
            archives = sorted(self._archives.items())
        return [
            f"{target}: {difference}" for target, archive in archives for difference in archive.differences
        ]

    def drop(self, target: str) -> None:
        """Delete a target's files; an unknown one is ignored."""
        with self._lock:
            archive = self._archives.pop(target, None)
        if archive is not None:
            shutil.rmtree(archive.folder.parent, ignore_errors=True)

    def _fetch(self, target: str, content: str, neighbors: Neighbors) -> UnpackedArchive:
        while True:
            try:
                return self._unpack(target, content)
            except OSError as error:
                if not _is_full(error):
                    raise
            with self._room:
                if not self._delete_oldest(neighbors):
                    raise _lack(f"No space left on device to unpack {target}")

    def _keep(self, target: str, archive: UnpackedArchive, neighbors: Neighbors) -> None:
        limit = self._limit()
        with self._room:
            while limit is not None and archive.size + sum(self.sizes().values()) > limit:
                if archive.size > limit or not self._delete_oldest(neighbors):
                    shutil.rmtree(archive.folder.parent, ignore_errors=True)
                    raise _too_large(f"{target} takes {format_size(archive.size)} of disk", limit)
            with self._lock:
                self._archives[target] = archive

    def _unpack(self, target: str, content: str) -> UnpackedArchive:
        url, limit = f"{self._url}{target}", self._limit()
        name, within = folder_name(url), budget(limit, MODEL_DISK)
        self.root.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.root, prefix="draft-") as draft:
            archive, content_folder, model_folder = (
                Path(draft) / part for part in ("model.tar.gz", "unpacked", "model")
            )
            try:
                start = time.monotonic()
                download(self._s3, url, archive, within)
                self._record("model_downloading_time", (time.monotonic() - start) * 1e6)
                unpack(archive, content_folder, url, within)
                check_archive(content_folder, target)
            except TooLargeError as error:
                if limit is None or error.size <= limit:
                    raise _lack(str(error)) from error
                raise _too_large(
                    f"{target} takes at least {format_size(error.size)} of disk", limit
                ) from error
            except HostingError as error:
                raise Refusal(400, "ValidationError", str(error)) from error
            archive.unlink()
            # Triton finds files at the root only where the container has them, in /opt/ml/models.
            at_root = (content_folder / CONFIG).exists()
            repository = model_folder / "model" if at_root else model_folder
            differences = [*map(str, stage(content_folder, repository)), *stand_ins(repository)]
            shutil.rmtree(content_folder)
            folder = self.root / name
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            model_folder.rename(folder / "model")
        return UnpackedArchive(
            name=name,
            content=content,
            folder=folder / "model",
            size=sum(file.lstat().st_size for file in folder.rglob("*")),
            differences=differences,
            last_use=next(self._uses),
        )

    def _delete_oldest(self, neighbors: Neighbors) -> bool:
        """Delete the least recently used archive that Triton does not need, or wait until there is one."""
        while True:
            in_use = neighbors.in_use()
            with self._lock:
                idle = {target: archive for target, archive in self._archives.items() if target not in in_use}
                targets_in_use = self._archives.keys() - idle.keys()
            if idle:
                self.drop(min(idle, key=lambda target: idle[target].last_use))
                return True
            # Those that are loaded may leave; those that are on their way in or out are waited for.
            if not (neighbors.evict() or (targets_in_use and neighbors.wait_for(targets_in_use))):
                return False


def _is_full(error: OSError) -> bool:
    """Whether a disk is full; copying a whole folder reports it only in words."""
    return error.errno == errno.ENOSPC or os.strerror(errno.ENOSPC) in str(error)


def _too_large(takes: str, limit: int) -> LackOfMemory:
    return _lack(f"{takes}; {MODEL_DISK} is {format_size(limit)}")


def _lack(message: str) -> LackOfMemory:
    return LackOfMemory(json.dumps({"error": message}))


def check_archive(repository: Path, target: str) -> None:
    """See that Triton can validate a target's unpacked archive; all other faults are for Triton to report.

    Raises:
        Refusal: its main model is ambiguous, or a Python model has no code.
    """
    contents = read_folder(repository)
    plan = plan_load(contents, ServingContainer(multi_model=True))
    without_code = [
        finding for finding in plan.findings if finding.code == NO_CODE and finding.severity is Severity.ERROR
    ]
    if contents.folders() and (faults := [*plan.chances, *without_code]):
        raise Refusal(400, "ValidationError", f"{target}: {faults[0].message}")
