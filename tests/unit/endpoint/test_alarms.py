"""Alarms of the keys of `alarms`, and which of them do not go together."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.fleet_folder import ROOT, SPEC, FleetFolder
from triton_fleet.catalog.data_file import data_file
from triton_fleet.catalog.metrics import endpoint_metric, triton_metric
from triton_fleet.context.alarms import RECORDS, AlarmRecord
from triton_fleet.endpoint.resolve import resolve_project
from triton_fleet.findings import Finding, Severity
from triton_fleet.project.project import open_project
from triton_fleet.spec.alarms import Alarms

MULTI = SPEC.replace('triton: "25.04"', 'mode: multi-model\ntriton: "25.04"')
SCALING_KEYS = "scaling: {min: 1, max: 4, gpu_utilization: 60}\n"
LONGEST_NAME = "e" * 63
DESCRIPTION = 1024
"""Characters; source: CloudWatch API reference, PutMetricAlarm."""


def finding_rows(folder: FleetFolder, keys: str, base: str = SPEC) -> list[tuple[str, Severity]]:
    folder.spec(keys, base=base)
    findings: list[Finding] = folder.findings()
    if not findings:
        findings = list(resolve_project(open_project(folder.root, "dev")).warnings)
    return [(finding.code, finding.severity) for finding in findings]


def texts(folder: FleetFolder, keys: str, base: str = SPEC) -> dict[str, str]:
    folder.spec(keys, base=base)
    return {f"{alarm.key} {alarm.severity}": alarm.text for alarm in folder.resolve().alarms}


class TestRecords:
    def test_every_key_with_a_threshold_has_one(self) -> None:
        assert [record.key for record in RECORDS] == [key for key in Alarms.model_fields if key != "calls"]

    @pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.key)
    def test_each_is_of_a_metric_of_the_catalog_which_such_an_endpoint_has(self, record: AlarmRecord) -> None:
        if record.needs == "triton":
            assert triton_metric(record.measure)
            return
        kinds = set(endpoint_metric(record.measure).kinds)
        assert kinds == ({record.needs} if record.needs in ("gpu", "multi-model") else {"all"})

    @pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.key)
    def test_each_has_a_section_of_the_runbook(self, record: AlarmRecord) -> None:
        titles = re.findall(r"^## (.+)$", (ROOT / "docs/runbook.md").read_text(), re.MULTILINE)
        assert record.runbook in {title.lower().replace(" ", "-") for title in titles}

    @pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.key)
    def test_each_is_in_the_table_of_the_docs_with_its_metric_and_its_default(
        self, record: AlarmRecord
    ) -> None:
        page = Path(ROOT / "docs/alarms.md").read_text()
        (row,) = [line for line in page.splitlines() if line.startswith(f"| `{record.key}` ")]
        _, metric, default, severity, calls, minutes = (cell.strip() for cell in row.strip("|").split("|"))
        name = (
            triton_metric(record.measure)
            if record.needs == "triton"
            else endpoint_metric(record.measure).name
        )
        assert metric == f"{record.statistic} of {name}"
        values = Alarms().thresholds(record.key, record.severity)
        assert default == ", ".join(f"{value:g}% {severity}" for severity, value in values.items())
        assert severity == record.severity
        assert calls == (str(record.calls) if record.calls else "")
        assert minutes == ("its own time" if record.lasts else f"{record.datapoints} of {record.minutes}")


class TestText:
    def test_it_says_what_rings_when_and_where_to_read_on(self, folder: FleetFolder) -> None:
        assert texts(folder, "alarms: {latency_p99: {critical: 2s}}\n")["latency_p99 critical"] == (
            "sentences in dev: p99 of ModelLatency above 2000 ms in 3 of 5 minutes. The container answers "
            "calls slowly. Only minutes with at least 20 calls count. A minute without data is not a breach. "
            "Runbook: docs/runbook.md#latency"
        )

    def test_of_a_machine_it_says_percent_of_one_part(self, folder: FleetFolder) -> None:
        base = SPEC.replace("ml.g5.xlarge", "ml.g5.12xlarge")
        text = texts(folder, "alarms: {gpu_memory: 90%}\n", base)["gpu_memory warning"]
        assert "Maximum of GPUMemoryUtilization above 90% in 3 of 5 minutes" in text
        assert "Without data the alarm's state is INSUFFICIENT_DATA." in text
        assert "calls or more" not in text

    @pytest.mark.parametrize("written_text", ["https://wiki.example/triton", "https://wiki.example/triton#"])
    def test_it_links_to_the_environments_own_runbook(self, folder: FleetFolder, written_text: str) -> None:
        folder.environment(f'runbook: "{written_text}"\n')
        assert texts(folder, "")["disk warning"].endswith("Runbook: https://wiki.example/triton#disk")

    def test_the_longest_is_one_that_cloudwatch_takes(self, folder: FleetFolder) -> None:
        folder.environment(f"runbook: https://{'w' * 390}\n")
        thresholds = ", ".join(f"{record.key}: null" for record in RECORDS)
        assert texts(folder, f"alarms: {{{thresholds}}}\n") == {}
        keys = (
            "latency_p99: 999999999s, model_load: 999999999s, cache_hits: 0.123456789%, pending_requests: 9"
        )
        base = MULTI.replace("endpoint: sentences", f"endpoint: {LONGEST_NAME}")
        (folder.root / "model_specs/sentences.yaml").unlink()
        folder.spec(f"alarms: {{{keys}, calls: 2147483647}}\n", LONGEST_NAME, base=base)
        lock = (folder.root / "locks/dev/sentences.lock.yaml").read_text()
        folder.write(
            f"locks/dev/{LONGEST_NAME}.lock.yaml", lock.replace("t: sentences", f"t: {LONGEST_NAME}")
        )
        lengths = [len(alarm.text) for alarm in folder.resolve().alarms]
        assert len(lengths) == 6
        assert max(lengths) <= DESCRIPTION


class TestMistakes:
    @pytest.mark.parametrize(
        ("keys", "base"),
        [
            ("alarms: {gpu_memory: 90%}\n", SPEC.replace("g5", "c5")),
            ("alarms: {gpu_utilization: 90%}\n", SPEC.replace("g5", "c5")),
            ("alarms: {cache_hits: 80%}\n", SPEC),
            ("alarms: {model_load: 20s}\n", SPEC),
            ("alarms: {loading_wait: 20s}\n", SPEC),
            ("alarms: {at_capacity: 15m}\n", SPEC),
            ("alarms: {pending_requests: 20}\nmetrics: {triton: false}\n", SPEC),
        ],
    )
    def test_an_alarm_without_its_metric_is_an_error(self, folder: FleetFolder, keys: str, base: str) -> None:
        assert finding_rows(folder, keys, base) == [("FL311", Severity.ERROR)]

    def test_one_that_an_environment_gives_to_all_is_left_out_and_told(self, folder: FleetFolder) -> None:
        folder.environment("defaults: {alarms: {gpu_memory: 90%}}\n")
        base = SPEC.replace("g5", "c5")
        assert finding_rows(folder, "", base) == [("FL311", Severity.WARNING)]
        assert "gpu_memory" not in {alarm.key for alarm in folder.resolve().alarms}
        assert finding_rows(folder, "alarms: {gpu_memory: null}\n", base) == []

    @pytest.mark.parametrize(
        ("keys", "base"),
        [
            ("latency_p99: {warning: 1s, critical: 200ms}", SPEC),
            ("memory: {warning: 90%, critical: 90%}", SPEC),
            ("cache_hits: {warning: 50%, critical: 80%}", MULTI),
        ],
    )
    def test_a_warning_that_comes_too_late_is_told(self, folder: FleetFolder, keys: str, base: str) -> None:
        assert finding_rows(folder, f"alarms: {{{keys}}}\n", base) == [("FL312", Severity.WARNING)]

    @pytest.mark.parametrize(
        "keys", ["latency_p99: 60s", "errors: 100%", "disk: {warning: 80%, critical: 100%}"]
    )
    def test_a_threshold_that_nothing_exceeds_is_told(self, folder: FleetFolder, keys: str) -> None:
        assert finding_rows(folder, f"alarms: {{{keys}}}\n") == [("FL288", Severity.WARNING)]

    @pytest.mark.parametrize(("latency", "codes"), [("479s", []), ("480s", ["FL288"])])
    def test_a_streamed_answer_may_take_eight_minutes(
        self, folder: FleetFolder, latency: str, codes: list[str]
    ) -> None:
        keys = f"container: {{inference_type: generate_stream}}\nalarms: {{latency_p99: {latency}}}\n"
        assert [code for code, _ in finding_rows(folder, keys)] == codes

    @pytest.mark.parametrize(
        "keys", ["gpu_utilization: 60%", "gpu_utilization: {warning: 50%, critical: 90%}"]
    )
    def test_an_alarm_on_what_scaling_holds_is_told(self, folder: FleetFolder, keys: str) -> None:
        assert finding_rows(folder, f"{SCALING_KEYS}alarms: {{{keys}}}\n") == [("FL314", Severity.WARNING)]

    def test_a_floor_and_a_ceiling_that_fit_are_not(self, folder: FleetFolder) -> None:
        keys = "cache_hits: {warning: 80%, critical: 50%}, gpu_utilization: 90%, at_capacity: 15m"
        assert finding_rows(folder, f"{SCALING_KEYS}alarms: {{{keys}}}\n", MULTI) == []

    @pytest.mark.parametrize(
        ("keys", "message"),
        [
            ("latency_p99: 200", "`alarms.latency_p99` is 200: write a whole number and a unit"),
            (
                "latency_p99: {warning: 1}",
                "`alarms.latency_p99.warning` is 1: write a whole number and a unit",
            ),
            ("errors: {worse: 1%}", "unknown key `alarms.errors.worse`"),
            ("errors: {}", "`alarms.errors`: it has no threshold"),
            ("at_capacity: 90s", '`alarms.at_capacity` is "90s": alarms evaluate whole minutes'),
            (
                "gpu_memory: 90",
                "`alarms.gpu_memory` is 90: write a number above 0 and up to 100 with its sign",
            ),
        ],
    )
    def test_what_is_no_threshold_is_told_at_its_key(
        self, folder: FleetFolder, keys: str, message: str
    ) -> None:
        folder.spec(f"alarms: {{{keys}}}\n")
        (finding,) = folder.findings()
        assert finding.message.startswith(message)
        assert finding.line == 6


def test_the_catalog_has_no_triton_metric_under_the_name_of_an_endpoints() -> None:
    """An alarm names its metric by the measure alone."""
    metrics = data_file("metrics.yaml")
    measures = {record.measure for record in RECORDS if record.needs == "triton"}
    assert not measures & metrics["metrics"].keys()
