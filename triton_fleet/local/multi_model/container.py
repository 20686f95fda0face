"""A multi-model container: the target models of one S3 prefix, loaded as they are asked for."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from triton_fleet.local.containers import TARGET_MODEL, Record, Refusal, Route
from triton_fleet.local.multi_model.disk import NO_SUCH_TARGET, ModelDisk
from triton_fleet.local.multi_model.loading import TritonModels
from triton_fleet.local.multi_model.models import check_target, folder_name
from triton_fleet.local.multi_model.residency import Residency
from triton_fleet.local.triton.supervisor import SupervisedTriton
from triton_fleet.spec.environment import LocalLimits

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client


class MultiModel:
    """Routes invocations by TargetModel; archives come and go below the prefix while it serves."""

    def __init__(
        self,
        triton: SupervisedTriton,
        variant: str,
        *,
        prefix: str,
        folder: Path,
        s3: S3Client,
        limits: Callable[[], LocalLimits],
        record: Record,
    ) -> None:
        """Serve the archives below `prefix`, an s3:// URL that ends in a slash; they are kept in `folder`."""
        self.variant, self.record = variant, record
        self._prefix = prefix
        self._disk = ModelDisk(folder, s3, prefix, limit=lambda: limits().model_disk, record=record)
        models = TritonModels(triton, self._disk, prefix, lambda: limits().model_memory, record)
        self._residency = Residency(models, record)

    @contextmanager
    def route(self, target: str | None, seconds: float, *, is_retry: bool = False) -> Iterator[Route]:
        """The route to a loaded target model; see Container."""
        target, end = check_target(target), time.monotonic() + seconds
        self._require_archive(target)
        with self._residency.use(target, end - time.monotonic(), is_retry=is_retry) as model:
            self._disk.touch(target)
            path = f"/models/{folder_name(f'{self._prefix}{target}')}/invoke"
            evictions, headers = self._residency.eviction_count, {TARGET_MODEL: target}
            yield Route(pool=model.run.pool, path=path, headers=headers, evictions=evictions)

    def make_room(self, target: str | None, seconds: float, *, since: int) -> bool:
        """Evict another model."""
        return target is not None and self._residency.make_room(target, seconds, since=since)

    def close(self) -> None:
        """Release everyone who waits; call it when Triton has been stopped."""
        self._residency.close()

    @property
    def gauges(self) -> dict[str, float]:
        """How many models are loaded."""
        return {"loaded_model_count": float(len(self._residency.resident_models()))}

    @property
    def differences(self) -> list[str]:
        """Differences of the staged archives from the deployed ones."""
        return self._disk.differences()

    def report(self) -> dict[str, object]:
        """Which models are held, and which had to leave."""
        models_by_target = {model.target: model for model in self._residency.resident_models()}
        models = [
            {
                "target": target,
                "state": str(models_by_target[target].state) if target in models_by_target else "on disk",
                "memory": models_by_target[target].memory if target in models_by_target else 0,
                "disk": size,
            }
            for target, size in sorted(self._disk.sizes().items())
        ]
        return {"models": models, "evictions": list(self._residency.evictions)}

    def _require_archive(self, target: str) -> None:
        try:
            self._disk.content(target)
        except Refusal as refusal:
            if refusal.status == NO_SUCH_TARGET:
                self._residency.forget(target, lambda: self._disk.drop(target))
            raise
