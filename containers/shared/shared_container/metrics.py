"""Triton's metrics as lines of CloudWatch's embedded metric format, which needs no agent and no permission.

Source of the format: Amazon CloudWatch User Guide, "Specification: Embedded metric format".
"""

from __future__ import annotations

import http.client
import math
import re
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from .log import Log
from .triton_client import get

SECONDS_BETWEEN_SCRAPES = 60
MAX_METRICS_OF_A_DIRECTIVE = 100
"""CloudWatch's limit."""
NOT_A_DIMENSION = "namespace"
"""Triton's label of the folder that a model is from."""
_SAMPLE = re.compile(r"(?P<name>[a-zA-Z_:][\w:]*)(?:\{(?P<labels>.*)\})? (?P<value>\S+)")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_UNITS = {"_us": "Microseconds", "_ms": "Milliseconds", "_secs": "Seconds", "_bytes": "Bytes"}

Subject = tuple[tuple[str, str], ...]
"""Names and values of the labels of a series, which are the dimensions of its line."""


@dataclass
class Sample:
    """The value of one name with one set of labels."""

    is_counter: bool
    value: float = 0.0


@dataclass
class Deltas:
    """Growth of counters since the last scrape; Triton starts with the container, so with zero."""

    _last: Mapping[Subject, Mapping[str, float]] = field(default_factory=dict)

    def of(self, samples: Mapping[Subject, Mapping[str, Sample]]) -> dict[Subject, dict[str, float]]:
        """Counters as deltas, gauges as they are; a counter that is smaller than before began at zero."""
        growth: dict[Subject, dict[str, float]] = {}
        for subject, values in samples.items():
            last = self._last.get(subject, {})
            growth[subject] = {
                name: sample.value - before
                if sample.is_counter and (before := last.get(name, 0.0)) <= sample.value
                else sample.value
                for name, sample in values.items()
            }
        self._last = {
            subject: {name: sample.value for name, sample in values.items()}
            for subject, values in samples.items()
        }
        return growth


def read_metrics(text: str) -> dict[Subject, dict[str, Sample]]:
    """The counters and gauges of Prometheus' text format, by their labels; of each one value."""
    types: dict[str, str] = {}
    samples: dict[Subject, dict[str, Sample]] = {}
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            name, _, kind = line[len("# TYPE ") :].partition(" ")
            types[name] = kind.strip()
        elif (sample := _SAMPLE.fullmatch(line.strip())) is not None:
            _add(samples, types.get(sample["name"], ""), sample)
    return samples


def _add(samples: dict[Subject, dict[str, Sample]], kind: str, sample: re.Match[str]) -> None:
    labels = dict(_LABEL.findall(sample["labels"] or ""))
    subject = tuple(sorted((key, text) for key, text in labels.items() if text and key != NOT_A_DIMENSION))
    try:
        value = float(sample["value"])
    except ValueError:
        return
    if kind not in ("counter", "gauge") or not math.isfinite(value):
        return
    of_subject = samples.setdefault(subject, {})
    of_subject.setdefault(sample["name"], Sample(is_counter=kind == "counter")).value += value


def metric_lines(
    values: Mapping[Subject, Mapping[str, float]], namespace: str, milliseconds: int
) -> Iterator[dict[str, Any]]:
    """A line for each set of labels, such as a model's version or a GPU, which are the dimensions."""
    for subject, values_by_name in sorted(values.items()):
        metrics = [{"Name": name, "Unit": _unit(name)} for name in sorted(values_by_name)]
        directives = [
            {
                "Namespace": namespace,
                "Dimensions": [[name for name, _ in subject]],
                "Metrics": metrics[start : start + MAX_METRICS_OF_A_DIRECTIVE],
            }
            for start in range(0, len(metrics), MAX_METRICS_OF_A_DIRECTIVE)
        ]
        yield {
            "_aws": {"Timestamp": milliseconds, "CloudWatchMetrics": directives},
            **dict(subject),
            **values_by_name,
        }


def _unit(name: str) -> str:
    for end, unit in _UNITS.items():
        if name.endswith(end):
            return unit
    return "Count" if re.search("request|count|exec|hits|misses", name) else "None"


class Publisher:
    """Scrapes Triton and writes the lines."""

    def __init__(self, port: int, namespace: str, log: Log) -> None:
        """Args: where Triton's metrics are on loopback; CloudWatch's namespace; what the lines go to."""
        self._port, self._namespace, self._log = port, namespace, log
        self._deltas = Deltas()
        self._lock = threading.Lock()

    def run(self, stop_event: threading.Event, seconds: float = SECONDS_BETWEEN_SCRAPES) -> None:
        """Publish every so many seconds until `stop_event` is set."""
        while not stop_event.wait(seconds):
            self.publish()

    def publish(self) -> None:
        """Scrape once; where Triton gives no metrics, the log has the reason and the next scrape has them."""
        with self._lock:
            try:
                status, body = get(self._port, "/metrics")
            except (OSError, http.client.HTTPException) as error:
                self._log.error(f"Triton's metrics cannot be read: {error}")
                return
            if status != 200:
                self._log.error(f"Triton's metrics cannot be read: status {status}")
                return
            values = self._deltas.of(read_metrics(body.decode("utf-8", "replace")))
            for line in metric_lines(values, self._namespace, int(time.time() * 1000)):
                self._log.write_json(line)
