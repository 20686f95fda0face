"""What a graph's values are to be compared with: the thresholds of alarms, what scaling holds, its range."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from triton_fleet.endpoint.dashboard.graph import Line, Unit
from triton_fleet.endpoint.dashboard.sections import RUNNING
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint
from triton_fleet.endpoint.scaling import summed_parts

COLOURS: Mapping[str, str] = {"critical": "#d62728", "warning": "#ff7f0e"}
SIGNS = {"above": ">", "below": "<", "at least": "≥"}
SCALING = "#7f7f7f"
_SEVEREST_FIRST = (COLOURS["critical"], COLOURS["warning"], SCALING)
TRACKED = ("Average", "Sum")
"""Statistics that target tracking goes by."""


@dataclass(frozen=True)
class Annotation:
    """A horizontal line: its value in the graph's unit, what stands beside it, its colour as `#rrggbb`."""

    value: float
    label: str
    color: str


def horizontal(lines: Sequence[Line], unit: Unit, endpoint: ResolvedEndpoint) -> list[Annotation]:
    """All annotations of a graph with these lines; with several lines, each label has its line's name.

    Those of one value are one annotation, in the most severe of their colours: labels at one height would be
    printed over each other.
    """
    labels, colours = defaultdict[float, list[str]](list), defaultdict[float, list[str]](list)
    for line in lines:
        for value, text, colour in (
            *_counts(line, endpoint),
            *_targets(line, unit, endpoint),
            *_thresholds(line, unit, endpoint),
        ):
            labels[value].append(f"{line.label}: {text}" if len(lines) > 1 else text)
            colours[value].append(colour)
    return [
        Annotation(value, ", ".join(texts), min(colours[value], key=_SEVEREST_FIRST.index))
        for value, texts in labels.items()
    ]


def _thresholds(line: Line, unit: Unit, endpoint: ResolvedEndpoint) -> Iterator[tuple[float, str, str]]:
    for alarm in endpoint.alarms:
        if (alarm.measure, alarm.statistic) == (line.measure, line.statistic):
            text = f"{alarm.severity} {SIGNS[alarm.rings]} {_amount(alarm.drawn, unit)}"
            yield alarm.drawn, text, COLOURS[alarm.severity]


def _targets(line: Line, unit: Unit, endpoint: ResolvedEndpoint) -> Iterator[tuple[float, str, str]]:
    for target in endpoint.scaling.targets if endpoint.scaling else ():
        if target.measure == line.measure and line.statistic in TRACKED:
            value = target.value / summed_parts(target.measure, endpoint.instance)
            yield value, f"scaling target {_amount(value, unit)}", SCALING


def _counts(line: Line, endpoint: ResolvedEndpoint) -> Iterator[tuple[float, str, str]]:
    """How many instances there are to be."""
    if line != RUNNING:
        return
    if endpoint.scaling is None:
        yield endpoint.spec.instance.count, f"desired {endpoint.spec.instance.count}", SCALING
        return
    scaling = endpoint.scaling
    ends: list[tuple[str, int | None]] = [("min", scaling.min), ("max", scaling.max)]
    for schedule in scaling.schedules:
        ends += [(f"{schedule.name}: min", schedule.min), (f"{schedule.name}: max", schedule.max)]
    for name, value in ends:
        if value is not None:
            yield value, f"{name} {value}", SCALING


def _amount(value: float, unit: Unit) -> str:
    number = f"{value:.3f}".rstrip("0").rstrip(".")
    return f"{number}{unit}" if unit in (Unit.COUNT, Unit.PERCENT) else f"{number} {unit}"
