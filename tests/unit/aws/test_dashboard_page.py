"""The page shows what there is and no more, whatever its names hold."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html import escape
from typing import Any

import pytest

from tests.support.fleet_folder import ROOT
from triton_fleet.aws.dashboard.body import Annotation, Box, Graph, Line, LogTable, Text, Widget
from triton_fleet.aws.dashboard.page import Page, draw_page

PLOTLY_FILE = ROOT / "node_modules/plotly.js-basic-dist-min/plotly-basic.min.js"
END = datetime(2026, 8, 21, 12, 0, 30, tzinfo=UTC)
MINUTE = int(END.timestamp()) // 60 * 60
HOSTILE = "</script><script>alert(1)</script><b>&'\""


def draw(
    *lines: Line,
    title: str = "Latency",
    endpoint: str = "sentences",
    hours: float = 3,
    minimum: float | None = 0,
    maximum: float | None = None,
    annotations: tuple[Annotation, ...] = (),
    widget: Widget | None = None,
) -> str:
    graph = Graph(title, Box(12, 6, 12, 6), minimum, maximum, (), annotations)
    start = END - timedelta(hours=hours)
    page = Page(
        endpoint, "D-1", "account 1", True, [(widget or graph, lines)], start, END, PLOTLY_FILE.read_text()
    )
    return draw_page(page)


def section(page: str) -> str:
    return page[page.index("<section") : page.index("</section>")]


def plotted_metrics(page: str) -> tuple[list[Any], dict[str, Any]]:
    """The input of plotly: traces and layout."""
    text, read = section(page), json.JSONDecoder().raw_decode
    traces, end = read(text, text.index("[", text.index("Plotly.newPlot")))
    layout, _ = read(text, text.index("{", end))
    return traces, layout


def line(*values: float | None, label: str = "p50", period: int = 60) -> Line:
    """A line whose last value is of the last minute."""
    first = MINUTE - (len(values) - 1) * period
    points = {first + number * period: value for number, value in enumerate(values) if value is not None}
    return Line(label, period, points)


def test_a_period_without_a_value_interrupts_the_line() -> None:
    (trace,), _ = plotted_metrics(draw(line(1, 2, None, 4)))
    assert trace["y"] == [1, 2, None, 4]
    assert trace["x"][2] == "2026-08-21T11:59:00"


def test_a_value_without_neighbours_is_a_dot() -> None:
    (trace,), _ = plotted_metrics(draw(line(1, 2, None, 4)))
    assert [size > 0 for size in trace["marker"]["size"]] == [False, False, False, True]


def test_a_line_that_lies_on_another_one_lets_it_be_seen() -> None:
    traces, _ = plotted_metrics(
        draw(line(1, 2, label="5XX"), line(1, 3, label="4XX"), line(1, 2, label="model"))
    )
    dashes = {trace["name"]: trace["line"]["dash"] for trace in traces}
    assert dashes == {"5XX": "solid", "4XX": "solid", "model": "dash"}


@pytest.mark.parametrize(
    ("values", "minimum", "maximum", "ends"),
    [
        ((100, 200), 0, None, (0, 216)),
        ((0, 0), 0, None, (0, 1)),
        ((100, 200), None, None, (100, 208)),
        ((100, 200), 0, 500, (0, 500)),
        ((0.5,), 0, 0.1, (0, 0.1)),
    ],
)
def test_the_axis_begins_where_the_dashboard_says_and_holds_all_values(
    values: tuple[float, ...], minimum: float | None, maximum: float | None, ends: tuple[float, float]
) -> None:
    _, layout = plotted_metrics(draw(line(*values), minimum=minimum, maximum=maximum))
    assert layout["yaxis"]["range"] == pytest.approx(ends)


def test_the_time_axis_begins_with_the_first_data_but_shows_ten_minutes() -> None:
    _, short = plotted_metrics(draw(line(1, 2)))
    assert short["xaxis"]["range"] == ["2026-08-21T11:50:30", "2026-08-21T12:00:30"]
    page = draw(line(*range(31)))
    _, long = plotted_metrics(page)
    assert long["xaxis"]["range"] == ["2026-08-21T11:29:00", "2026-08-21T12:00:30"]
    assert "<p>The last 3 hours; the first data is of 11:30 UTC</p>" in page


def test_data_of_the_whole_time_is_told_with_both_ends() -> None:
    assert "<p>The last 3 hours: 09:00 to 12:00 UTC</p>" in draw(line(*range(181)))
    assert "<p>The last hour: 11:00 to 12:00 UTC</p>" in draw(line(*range(61)), hours=1)
    day = draw(line(*range(24 * 60 - 2)), hours=24)
    assert "<p>The last 24 hours; the first data is of 20 August 12:03 UTC</p>" in day


def test_without_any_data_the_page_says_so() -> None:
    page = draw(line(), hours=2.5)
    assert "<p>The last 2.5 hours: no data</p>" in page
    assert "No data in this period" in section(page)


def test_a_graph_lies_where_the_dashboard_says() -> None:
    assert 'style="grid-area: 7 / 13 / span 6 / span 12"' in draw(line(1))


def test_an_annotation_is_a_line_with_its_label_inside_of_the_axis() -> None:
    limit = Annotation(500, "critical > 500 ms", "#d62728")
    _, layout = plotted_metrics(draw(line(100, 200), annotations=(limit,)))
    (shape,), (label,) = layout["shapes"], layout["annotations"]
    assert (shape["y0"], shape["y1"], shape["line"]["color"]) == (500, 500, "#d62728")
    assert (label["text"], label["y"]) == ("critical &gt; 500 ms", 500)
    assert layout["yaxis"]["range"][1] > 500


def test_labels_of_annotations_that_are_close_stand_beside_each_other() -> None:
    values = (90, 1, 85, 88, 40)
    _, layout = plotted_metrics(
        draw(line(100), annotations=tuple(Annotation(value, "", "#d62728") for value in values))
    )
    assert [(annotation["y"], annotation["xanchor"]) for annotation in layout["annotations"]] == [
        (1, "left"),
        (40, "left"),
        (85, "left"),
        (88, "right"),
        (90, "center"),
    ]


def test_annotations_are_drawn_where_nothing_was_measured() -> None:
    page = draw(line(), annotations=(Annotation(500, "critical > 500 ms", "#d62728"),))
    traces, layout = plotted_metrics(page)
    assert traces == []
    assert [annotation["y"] for annotation in layout["annotations"]] == [500]
    assert '<p class="absent">No data in this period</p>' in section(page)


@pytest.mark.parametrize("annotations", [(), (Annotation(90, "warning > 90%", "#ff7f0e"),)])
def test_what_can_never_be_measured_here_is_told_from_what_may_come(
    annotations: tuple[Annotation, ...],
) -> None:
    immeasurable_line = replace(line(), measurable=False)
    assert "Not measured on this machine<" in section(draw(immeasurable_line, annotations=annotations))
    assert "No data in this period<" in section(draw(immeasurable_line, line(), annotations=annotations))
    traces, _ = plotted_metrics(draw(immeasurable_line, line(), line(1), annotations=annotations))
    assert [trace["name"] for trace in traces] == [
        "p50 (not measured on this machine)",
        "p50 (no data)",
        "p50",
    ]


def test_a_text_is_drawn_as_markdown_without_its_markup() -> None:
    page = draw(widget=Text(Box(0, 0, 24, 2), f"## Calls\nOf `all` callers {HOSTILE}"))
    assert "<h2>Calls</h2>\n<p>Of <code>all</code> callers &lt;/script&gt;" in section(page)
    assert "alert(1)</script>" not in page


def test_a_table_of_the_log_says_what_prints_the_log() -> None:
    text = section(draw(widget=LogTable("Last errors", Box(0, 0, 24, 8))))
    assert "<h2>Last errors</h2>" in text
    command = "<code>fleet local logs sentences</code>"
    assert f"<span>Logs are not kept in the embedded AWS: {command} prints them</span>" in text


def test_names_are_text_and_never_markup() -> None:
    hostile = Annotation(1, HOSTILE, "#d62728")
    assert "alert(1)</script>" not in draw(line(1), annotations=(hostile,))
    page = draw(line(1, label=HOSTILE), line(2), title=HOSTILE, endpoint=HOSTILE)
    assert "<b>" not in page.split("</script>", 1)[1]
    assert "alert(1)</script>" not in page
    assert f"<h1>{escape(HOSTILE)}</h1>" in page
    # plotly reads a label as markup of its own, which does not know quotation marks.
    assert plotted_metrics(page)[0][0]["name"] == escape(HOSTILE, quote=False)
