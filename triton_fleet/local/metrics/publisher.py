"""The thread that publishes the local fleet's metrics."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import TYPE_CHECKING, TypeAlias

from fleet_emulator.hosting import EndpointId
from triton_fleet.local.metrics.recorder import Recorder
from triton_fleet.local.metrics.scrape import TritonScraper, TritonSource

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch.client import CloudWatchClient

log = logging.getLogger("fleet_emulator.metrics")

SECONDS_BETWEEN = 10.0
LATE = 45
"""The second of a minute from which on a gauge stands for it; before the last publishing of the minute."""

Gauge: TypeAlias = tuple[EndpointId, str, str, float]
"""Endpoint, variant, measure of the catalog, value."""


class Publisher:
    """Publishes every SECONDS_BETWEEN what was recorded, what the Tritons count, and gauges once a minute.

    A gauge goes once a minute as SageMaker's do, for their Sum is taken over instances and not over time:
    towards the minute's end, or when fresh numbers are requested.
    """

    def __init__(
        self,
        recorder: Recorder,
        *,
        sources: Callable[[], Iterable[TritonSource]],
        gauges: Callable[[], Iterable[Gauge]],
        cloudwatch: Callable[[str, str], CloudWatchClient],
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Args: what is published, a client of the embedded CloudWatch by account and region, Unix seconds.

        Each client is requested once, by the thread that publishes.
        """
        self._recorder, self._scraper = recorder, TritonScraper()
        self._sources, self._gauges, self._cloudwatch = sources, gauges, cache(cloudwatch)
        self._clock, self._last_minute = clock, -1
        self._publish_lock, self._stop = threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="metrics", daemon=True)

    def start(self) -> None:
        """Publish in the background until `stop`."""
        self._thread.start()

    def stop(self) -> None:
        """Publish no more; return when the thread has ended."""
        self._stop.set()
        self._thread.join()

    def publish_on_demand(self) -> None:
        """Publish; return when CloudWatch has it. Whoever calls must not hold a turn: CloudWatch needs one.

        What fails is logged, and does not keep the rest from being published.
        """
        self._publish(on_demand=True)

    def _publish(self, *, on_demand: bool) -> None:
        with self._publish_lock:
            self._try("gauges", partial(self._record_gauges, on_demand=on_demand))
            self._try("SageMaker's metrics", lambda: self._recorder.publish(self._cloudwatch))
            self._try("Triton's metrics", self._scrape)

    def _run(self) -> None:
        while not self._stop.wait(SECONDS_BETWEEN):
            self._publish(on_demand=False)

    def _record_gauges(self, *, on_demand: bool) -> None:
        minute, second = divmod(int(self._clock()), 60)
        if minute != self._last_minute and (on_demand or second >= LATE):
            gauges = list(self._gauges())
            self._last_minute = minute
            for gauge in gauges:
                self._recorder.record(*gauge)

    def _scrape(self) -> None:
        sources = list(self._sources())
        self._scraper.forget_all_but({source.server for source in sources})
        for source in sources:
            self._try(f"Triton's metrics of {source.endpoint.name}", partial(self._scrape_source, source))

    def _scrape_source(self, source: TritonSource) -> None:
        cloudwatch = self._cloudwatch(source.endpoint.account, source.endpoint.region)
        self._scraper.publish(source, cloudwatch)

    @staticmethod
    def _try(subject: str, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception:
            log.exception("%s could not be published", subject)
