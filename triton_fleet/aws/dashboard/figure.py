"""One graph as plotly draws it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from html import escape
from math import inf
from typing import Any

from triton_fleet.aws.dashboard.body import Annotation, Graph, Line

COLOURS = ("#2563eb", "#d97706", "#059669", "#9333ea", "#dc2626", "#0891b2", "#4b5563")
GRID, TEXT = "#e5e7eb", "#374151"
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"
SIDES = {"left": 0.0, "right": 1.0, "center": 0.5}
"""The ends and the middle of an annotation's line, by the anchor of its label there."""
CLOSE = 0.2
"""What part of the axis a label takes on the lowest of the page's graphs."""
CONFIG = {"displayModeBar": False, "responsive": True}


def draw_figure(graph: Graph, lines: Sequence[Line], start: datetime, end: datetime, id: str) -> str:
    """A graph with its legend as HTML, for a page that has plotly's JavaScript."""
    traces = [
        # A line on top of another one leaves it visible.
        _trace(
            line,
            COLOURS[number % len(COLOURS)],
            is_dashed=line.values in [line.values for line in lines[:number]],
        )
        for number, line in enumerate(lines)
    ]
    ends = _ends(graph, lines)
    beside = list(_beside(graph.annotations, ends))
    layout = {
        "margin": {"l": 56, "r": 16, "t": 14 if graph.annotations else 6, "b": 0},
        "font": {"family": FONT, "size": 12, "color": TEXT},
        "hovermode": "x unified",
        "showlegend": bool(lines) and [line.label for line in lines] != [graph.title],
        "legend": {"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "x": 0},
        "xaxis": {
            "type": "date",
            "range": [_moment(start.timestamp()), _moment(end.timestamp())],
            "gridcolor": GRID,
            "linecolor": GRID,
            "tickformat": "%H:%M",
            "hoverformat": "%d %b %H:%M UTC",
            "automargin": True,
            "nticks": 6,
            "ticklabelstandoff": 4,
        },
        "yaxis": {
            "range": ends,
            "gridcolor": GRID,
            "zeroline": False,
            "nticks": 5,
            "exponentformat": "none",
            "separatethousands": True,
            "automargin": True,
        },
        "shapes": [_horizontal(annotation) for annotation, _ in beside],
        "annotations": [_label(annotation, side) for annotation, side in beside],
    }
    arguments = ", ".join(map(_json, (id, traces, layout, CONFIG)))
    return f'<div id="{id}" class="figure"></div>\n<script>Plotly.newPlot({arguments});</script>'


def _json(value: object) -> str:
    """JSON within a script, which no text in it ends."""
    return json.dumps(value).replace("<", "\\u003c")


def _horizontal(annotation: Annotation) -> dict[str, Any]:
    line = {"color": annotation.colour, "width": 1.25, "dash": "dot"}
    ends = {"x0": 0, "x1": 1, "y0": annotation.value, "y1": annotation.value}
    return {"type": "line", "xref": "x domain", "yref": "y", **ends, "line": line}


def _label(annotation: Annotation, side: str) -> dict[str, Any]:
    return {
        # plotly takes a label for markup of its own.
        "text": escape(annotation.label, quote=False),
        "font": {"color": annotation.colour, "size": 11},
        "bgcolor": "rgba(255, 255, 255, 0.75)",
        "borderpad": 0,
        "showarrow": False,
        "xref": "x domain",
        "x": SIDES[side],
        "xanchor": side,
        "yref": "y",
        "y": annotation.value,
        "yanchor": "bottom",
    }


def _beside(annotations: Sequence[Annotation], ends: Sequence[float]) -> Iterator[tuple[Annotation, str]]:
    """Each with where along its line the label stands: not over that of a line close below."""
    before, side_index = -inf, 0
    for annotation in sorted(annotations, key=lambda annotation: annotation.value):
        close = annotation.value - before < (ends[1] - ends[0]) * CLOSE
        before, side_index = annotation.value, (side_index + 1) % len(SIDES) if close else 0
        yield annotation, list(SIDES)[side_index]


def _trace(line: Line, colour: str, *, is_dashed: bool) -> dict[str, Any]:
    times = _times(line)
    values = [line.values.get(time) for time in times]
    return {
        "type": "scatter",
        # A line without a value would have no place in the legend.
        "x": [_moment(time) for time in times] if times else [None],
        "y": values if times else [None],
        # plotly takes a label for markup of its own.
        "name": escape(_name(line), quote=False),
        "mode": "lines+markers",
        "line": {"color": colour, "width": 1.75, "dash": "dash" if is_dashed else "solid"},
        "marker": {"size": _sizes(values), "color": colour, "line": {"width": 0}, "opacity": 1},
        "cliponaxis": False,
        "hovertemplate": "%{y:,.4~r}",
    }


def _name(line: Line) -> str:
    if line.values:
        return line.label
    return f"{line.label} ({'no data' if line.measurable else 'not measured on this machine'})"


def _ends(graph: Graph, lines: Sequence[Line]) -> list[float]:
    """Both ends of the axis; a line at its lower end, as of errors that do not happen, is on the axis."""
    values = [value for line in lines for value in line.values.values()]
    # As CloudWatch does, it shows all annotations, however far they are from the values.
    values += [annotation.value for annotation in graph.annotations]
    lowest = min(values) if graph.minimum is None else graph.minimum
    highest = lowest + (max(values) - lowest) * 1.08
    return [
        lowest,
        graph.maximum if graph.maximum is not None else highest if highest > lowest else lowest + 1,
    ]


def _times(line: Line) -> Sequence[int]:
    """Every period from the first value to the last, so that one without a value interrupts the line."""
    return range(min(line.values), max(line.values) + 1, line.period) if line.values else ()


def _sizes(values: Sequence[float | None]) -> list[int]:
    """A value without neighbours has no line and needs a dot to be seen."""
    around = [None, *values, None]
    return [
        6 if before is None and after is None else 0
        for before, after in zip(around, around[2:], strict=False)
    ]


def _moment(time: float) -> str:
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%dT%H:%M:%S")
