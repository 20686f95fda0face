"""`fleet dashboard` draws the deployed dashboard with what was measured, as a browser shows it."""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.browser import Browser, find_browser
from tests.support.dashboard_fleet import DashboardFleet, dashboard_fleet
from tests.support.endpoint_ids import endpoint_id
from tests.support.fleet_folder import LOCK, FleetFolder
from tests.support.metrics_server import counter, metrics_server
from triton_fleet.context.alarms import Alarm
from triton_fleet.spec.endpoint import Mode

pytestmark = pytest.mark.nightly

PAGE = ".fleet/local/dashboards/sentences.html"
TITLES = [
    "Calls",
    "Invocations a minute",
    "Model latency, ms",
    "SageMaker's overhead, ms",
    "Failed invocations a minute",
    "Failed invocations, %",
    "Requests in progress and waiting, per instance",
    "Instances",
    "Instances running and desired",
    "Instances added or removed",
    "GPU, %",
    "Host, %",
    "Triton",
    "Triton: requests served a minute",
    "Triton: requests failed a minute, by reason",
    "Triton: requests waiting",
    "Triton: mean batch",
    "Triton: queue time a request, ms",
    "Triton: compute time a request, ms",
    "Triton: GPU power, W",
    "Triton: GPU memory, %",
    "Last errors in the log",
]
ALARM = Alarm(
    key="latency_p99",
    severity="critical",
    measure="model_latency",
    statistic="p99",
    threshold=2e5,
    graph_threshold=200,
)


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DashboardFleet]:
    folder = FleetFolder(tmp_path_factory.mktemp("dashboard") / "fleet")
    folder.spec()
    for name in ("others", "zoo"):
        folder.spec(name=name, base=f"endpoint: {name}\n", text='triton: "25.04"\n')
    folder.environment()
    folder.write("locks/dev/sentences.lock.yaml", LOCK)
    with dashboard_fleet(folder) as fleet, metrics_server() as triton:
        fleet.deploy(replace(folder.resolve("local", "sentences"), alarms=(ALARM,)))
        for latency in range(1, 101):
            fleet.record_invocation(latency=latency * 1000.0, has_failed=latency == 100)
        triton.text = counter(300) + counter(100, name="nv_inference_exec_count")
        triton.text += counter(4000, name="nv_inference_queue_duration_us")
        triton.text += counter(2, name="nv_inference_request_success")
        fleet.sources = [triton.source()]
        yield fleet


@pytest.fixture(scope="module")
def page(fleet: DashboardFleet) -> Path:
    process = fleet.fleet("dashboard", "sentences")
    assert (process.returncode, process.stdout.strip()) == (0, str(fleet.folder.root / PAGE)), process.stderr
    return fleet.folder.root / PAGE


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Browser:
    browser = find_browser(tmp_path_factory.mktemp("browser"))
    if browser is None:
        pytest.skip("neither chromium nor google-chrome is on PATH")
    return browser


@pytest.fixture(scope="module")
def sections(page: Path, browser: Browser) -> list[tuple[str, str]]:
    """The panels that the browser made of widgets, each with its heading."""
    matches = re.findall(r"<section.*?</section>", browser.load(page).dom, re.DOTALL)
    return [(re.findall(r"<h2>(.*?)</h2>", section)[0], section) for section in matches]


@pytest.fixture(scope="module")
def graphs(sections: list[tuple[str, str]]) -> dict[str, str]:
    return dict(sections)


def lines_of(section: str) -> dict[str, list[float | None]]:
    """The values that plotly was given for a graph, by line."""
    names = re.findall(r'"name": "([^"]*)"', section)
    values = [json.loads(match) for match in re.findall(r'"y": (\[[^]]*\])', section)]
    return dict(zip(names, values, strict=True))


def test_every_widget_of_the_deployed_dashboard_is_on_the_page(sections: list[tuple[str, str]]) -> None:
    assert [title for title, _ in sections] == TITLES


def test_the_threshold_of_an_alarm_is_drawn(graphs: dict[str, str]) -> None:
    latency = graphs["Model latency, ms"]
    assert re.findall(r'<text class="annotation-text"[^>]*>([^<]*)<', latency) == [
        "p99: critical &gt; 200 ms"
    ]
    assert len(re.findall(r'<path data-index="0"', latency)) == 1


@pytest.mark.parametrize(
    ("title", "lines"),
    [
        ("Invocations a minute", {"all": 100, "per instance (no data)": None}),
        ("Failed invocations a minute", {"4XX (no data)": None, "5XX": 1, "model (no data)": None}),
        ("Model latency, ms", {"p50": 50, "p90": 90, "p99": 99}),
        ("Failed invocations, %", {"4XX (no data)": None, "5XX": 1, "model (no data)": None}),
        ("Triton: mean batch", {"Triton: mean batch": 3}),
        ("Triton: requests served a minute", {"embed 1": 2}),
        ("Triton: queue time a request, ms", {"Triton: queue time a request, ms": 2}),
    ],
)
def test_a_graph_has_a_drawn_line_for_what_was_measured(
    graphs: dict[str, str], title: str, lines: dict[str, float | None]
) -> None:
    assert lines_of(graphs[title]) == {name: [value] for name, value in lines.items()}
    matches = re.findall(r'<path class="point" ', graphs[title])
    assert len(matches) == len([value for value in lines.values() if value is not None])


def test_a_multi_model_endpoint_has_graphs_of_its_models(fleet: DashboardFleet) -> None:
    endpoint = fleet.folder.resolve("local", "sentences")
    spec = endpoint.spec.model_copy(update={"endpoint": "zoo", "mode": Mode.MULTI_MODEL})
    fleet.deploy(replace(endpoint, spec=spec))
    for measure, values in {
        "model_cache_hit": [1, 1, 1, 0],
        "loaded_model_count": [3],
        "model_loading_time": [2_000_000, 4_000_000],
        "model_unloading_time": [1000, 2000, 3000],
    }.items():
        for value in values:
            fleet.recorder.record(endpoint_id("zoo"), "AllTraffic", measure, value)
    assert fleet.fleet("dashboard", "zoo").returncode == 0
    text = (fleet.folder.root / ".fleet/local/dashboards/zoo.html").read_text()
    sections = {
        html.unescape(re.findall(r"<h2>(.*?)</h2>", section)[0]): section
        for section in re.findall(r"<section.*?</section>", text, re.DOTALL)
    }
    assert {title: lines_of(section) for title, section in sections.items() if title not in TITLES} == {
        "Models": {},
        "Models loaded": {"on all instances": [3], "per instance": [3]},
        "Invocations whose model was already loaded, %": {"cache hits": [75]},
        "Loading and unloading a model, ms on average": {
            "wait of an invocation (no data)": [None],
            "download (no data)": [None],
            "load": [3000],
            "unload": [2],
        },
        "Models unloaded a minute": {"unloaded": [3]},
    }


def test_a_legend_names_every_line_unless_the_title_does(graphs: dict[str, str]) -> None:
    legend = re.compile(r'class="legendtext"[^>]*>([^<]*)<')
    assert legend.findall(graphs["Failed invocations a minute"]) == [
        "4XX (no data)",
        "5XX",
        "model (no data)",
    ]
    assert legend.findall(graphs["Triton: mean batch"]) == []


def test_a_graph_without_data_says_whether_any_may_come(graphs: dict[str, str]) -> None:
    empty = {title for title, section in graphs.items() if "No data in this period" in section}
    assert empty == {
        "SageMaker's overhead, ms",
        "Instances running and desired",
        "Triton: requests failed a minute, by reason",
        "Triton: requests waiting",
    }
    titles = {title for title, section in graphs.items() if "Not measured on this machine" in section}
    assert titles == {
        "Requests in progress and waiting, per instance",
        "Instances added or removed",
        "GPU, %",
        "Host, %",
        "Triton: GPU power, W",
        "Triton: GPU memory, %",
    }
    drawn_titles = {title for title in empty | titles if "js-plotly-plot" in graphs[title]}
    assert drawn_titles == {"Instances running and desired"}
    assert "desired 1" in graphs["Instances running and desired"]


def test_no_request_leaves_the_page_even_without_the_policy_that_forbids_it(
    page: Path, browser: Browser, tmp_path: Path
) -> None:
    policy = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
    text = page.read_text()
    assert len(policy.findall(text)) == 1
    free, folder = tmp_path / "free.html", tmp_path / "asking.html"
    free.write_text(policy.sub("", text))
    folder.write_text('<img src="http://example.test/pixel.png">')
    assert browser.load(free).hosts == set()
    assert browser.load(folder).hosts == {"example.test"}


def test_the_page_says_whose_it_is_and_of_when(page: Path) -> None:
    text = page.read_text()
    assert "<h1>sentences</h1>" in text
    assert re.search(r"<p>The last 3 hours; the first data is of (\d+ \w+ )?\d\d:\d\d UTC</p>", text)
    assert re.search(r"account 111122223333, us-east-1;\ndrawn on \d\d \w+ \d{4} at \d\d:\d\d:\d\d UTC", text)


def test_it_goes_where_it_is_told_and_as_far_back(fleet: DashboardFleet) -> None:
    process = fleet.fleet("dashboard", "sentences", "--file", "pages/mine.html", "--hours", "1")
    assert (process.returncode, process.stdout.strip()) == (0, "pages/mine.html")
    assert "The last hour; the first data is of" in (fleet.folder.root / "pages/mine.html").read_text()


def test_an_endpoint_that_is_not_deployed_is_told(fleet: DashboardFleet) -> None:
    process = fleet.fleet("dashboard", "others")
    assert process.returncode == 2
    assert "the stack triton-fleet-local-others is not deployed on this machine" in process.stderr
    assert "remedy: run `fleet local up` first" in process.stderr


def test_an_unknown_endpoint_and_an_unknown_environment_are_findings(fleet: DashboardFleet) -> None:
    endpoint = fleet.fleet("dashboard", "sentence")
    assert (endpoint.returncode, "there is no endpoint 'sentence'" in endpoint.stderr) == (1, True)
    environment = fleet.fleet("dashboard", "sentences", "--env", "nowhere")
    assert (environment.returncode, "there is no environment 'nowhere'" in environment.stderr) == (1, True)


def test_a_page_has_less_than_two_megabytes(page: Path) -> None:
    assert page.stat().st_size < 2_000_000


def test_without_dashboards_it_says_what_to_write(fleet: DashboardFleet) -> None:
    fleet.folder.environment("dashboards: false\n", name="local")
    process = fleet.fleet("dashboard", "sentences")
    fleet.folder.environment(name="local")
    assert process.returncode == 2
    assert "sentences has no dashboard: environments/local.yaml has `dashboards: false`" in process.stderr
    assert "remedy: write `dashboards: true` there, then run `fleet local up`" in process.stderr


@pytest.mark.parametrize("hours", ["0", "-1", "361", "nan", "x"])
def test_hours_that_cloudwatch_does_not_keep_are_refused(fleet: DashboardFleet, hours: str) -> None:
    process = fleet.fleet("dashboard", "sentences", "--hours", hours)
    assert (process.returncode, process.stdout) == (2, "")


def test_a_supervisor_that_does_not_publish_is_told(fleet: DashboardFleet) -> None:
    fleet.publishes = False
    process = fleet.fleet("dashboard", "sentences")
    fleet.publishes = True
    assert process.returncode == 2
    assert re.search(
        r"the local fleet \(process \d+\) does not publish its metrics: it answered 503", process.stderr
    )
    assert "remedy: run `fleet local down`, then `fleet local up`" in process.stderr


def test_where_nothing_runs_it_says_how_to_start_it(folder: FleetFolder) -> None:
    folder.environment(name="local")
    command = [str(Path(sys.executable).parent / "fleet"), "dashboard", "sentences"]
    process = subprocess.run(command, cwd=folder.root, capture_output=True, text=True, check=False)
    assert (process.returncode, "Traceback" in process.stderr) == (2, False)
    assert "remedy: run `fleet local up` first" in process.stderr
