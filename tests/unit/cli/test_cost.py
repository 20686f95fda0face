"""`fleet cost`: the table, what is said under it, and JSON."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from rich.text import Text
from typer.testing import CliRunner

from tests.support.fleet_folder import SPEC, FleetFolder
from triton_fleet.catalog.prices import price_list
from triton_fleet.cli.commands import app
from triton_fleet.findings import CannotRunError, FindingsError

UNPRICED_TYPE = "ml.p6-b200.48xlarge"
ENSEMBLES = """\
endpoint: two-ensembles
mode: multi-model
triton: "24.09"
instance: {type: ml.g4dn.4xlarge}
models:
  - {archive: dali, repository: ../repository}
  - {archive: bert, repository: ../repository}
"""


def cost_output(folder: FleetFolder, *arguments: str, width: int | None = None) -> str:
    """The output of the command; with a width, to a terminal."""
    terminal = {"FORCE_COLOR": "1", "TERM": "xterm", "COLUMNS": str(width)} if width else {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder.root)
        result = CliRunner().invoke(
            app, ["cost", "--env", "dev", *arguments], env=terminal, catch_exceptions=False
        )
    assert result.exit_code == 0
    return Text.from_ansi(result.output).plain


def of_region(folder: FleetFolder, region: str) -> None:
    file = folder.root / "environments/dev.yaml"
    file.write_text(file.read_text().replace("us-east-1", region))


@pytest.fixture
def sources(folder: FleetFolder) -> FleetFolder:
    """Three models in one container, and two ensembles on one endpoint."""
    (folder.root / "model_specs/sentences.yaml").unlink()
    folder.spec(name="two-ensembles", base=ENSEMBLES)
    base = SPEC.replace("sentences", "three-models").replace("ml.g5.xlarge", "ml.g4dn.2xlarge")
    folder.spec("scaling: {min: 1, max: 3, gpu_utilization: 60}\n", "three-models", base=base)
    return folder


def test_the_page_shows_what_the_command_prints(root: Path, sources: FleetFolder) -> None:
    """Folded as a terminal of 120 columns does it."""
    page = (root / "docs/cost.md").read_text()
    (match,) = re.findall(r"```console\n\$ fleet cost --env dev\n(.*?)```", page, re.DOTALL)
    lines = [line.rstrip() for line in cost_output(sources, width=120).splitlines()]
    assert match.splitlines() == lines


def test_the_page_shows_a_spec_that_is_told_so(root: Path) -> None:
    assert ENSEMBLES.partition("models:")[0] in (root / "docs/cost.md").read_text()


def test_a_page_states_what_all_that_is_shipped_costs(root: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        result = CliRunner().invoke(app, ["cost", "--env", "dev"], catch_exceptions=False)
    hour, month = re.findall(r"^total +([\d.,]+) +([\d.,]+)", result.output, re.MULTILINE)[0]
    page = " ".join((root / "docs/first-spec.md").read_text().split())
    assert f"{hour.rstrip('0')} USD an hour at min, {month} a month" in page


def test_the_readme_states_what_its_first_deploy_costs(root: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        result = CliRunner().invoke(app, ["cost", "--env", "dev", "resnet50"], catch_exceptions=False)
    (hour,) = re.findall(r"^resnet50 .*?ml\.g5\.xlarge +1 +([\d.]+)", result.output, re.MULTILINE)
    assert f"One `ml.g5.xlarge` costs {float(hour):.2f} USD an hour" in (root / "README.md").read_text()


def test_one_endpoint_has_no_sum(sources: FleetFolder) -> None:
    output = cost_output(sources, "three-models")
    assert "676.80" in output
    assert "total" not in output
    assert "two-ensembles" not in output


def test_a_computed_price_is_that_of_the_region_with_its_formula(folder: FleetFolder) -> None:
    of_region(folder, "eu-west-1")
    output = cost_output(folder)
    row = next(line for line in output.splitlines() if line.startswith("sentences"))
    assert row.split() == ["sentences", "ml.g5.xlarge", *["1", "~1.5722", "~1,131.98"] * 2]  # 1.123 x 1.4
    formula = (
        "computed from EC2's price of the same size and region times 1.2 (cpu), 1.25 (g), 1.4 (g.xlarge)"
    )
    assert f"~ ml.g5.xlarge: {formula}" in output
    assert "stated:" not in output


def test_an_unknown_price_is_in_no_sum_and_the_line_to_write_is_named(folder: FleetFolder) -> None:
    folder.spec(name="new", base=SPEC.replace("sentences", "new").replace("ml.g5.xlarge", UNPRICED_TYPE))
    output = cost_output(folder)
    rows = {line.split("  ")[0]: line.split() for line in output.splitlines()}
    assert rows["new"] == ["new", UNPRICED_TYPE, *["1", "unknown", "unknown"] * 2]
    assert rows["total, and 1 unknown"][-2:] == ["1.4080", "1,013.76"]
    assert (
        f"new: unknown; not in the totals: the catalog has no price of {UNPRICED_TYPE} in us-east-1; write its price per"
        f" hour into prices.yaml at the top of the fleet, with a `date` and `prices: {{us-east-1: {{{UNPRICED_TYPE}: PRICE}}}}`"
    ) in " ".join(output.split())


def test_a_fleets_own_prices_and_currency_are_those_of_the_table(folder: FleetFolder) -> None:
    folder.spec(name="large", base=SPEC.replace("sentences", "large").replace("g5.x", "g5.4x"))
    own = "date: 2026-11-01\ncurrency: EUR\nprices: {us-east-1: {ml.g5.xlarge: 1}}\n"
    folder.write("prices.yaml", own)
    output = cost_output(folder)
    assert output.startswith("dev: account 111122223333, us-east-1; EUR")
    rows = {line.split("  ")[0]: line.split() for line in output.splitlines()}
    assert rows["sentences"][-2:] == ["1.0000", "720.00"]
    assert rows["large"][-2:] == ["unknown", "unknown"]  # dollars are in no sum of euros
    assert "in USD only; write `usd_rate`, the EUR for one dollar, into prices.yaml" in output
    assert "prices.yaml of 2026-11-01, else no others" in output
    folder.write("prices.yaml", f"{own}usd_rate: 0.9\ndiscount: 10%\n")
    document = json.loads(cost_output(folder, "--format", "json"))
    (large, _), currency = document["endpoints"], document["currency"]
    assert (currency, large["price_per_hour"], large["usd_per_hour"]) == (
        "EUR",
        "1.6443",
        None,
    )  # 2.03 x 0.81
    assert document["own_prices"]["discount"] == "10%"


def test_a_mistake_in_the_fleets_prices_is_one_of_the_command(folder: FleetFolder) -> None:
    folder.write("prices.yaml", "date: 2026-11-01\nprices: {us-east-1: {ml.g5.xlarg: 1}}\n")
    with pytest.raises(FindingsError) as refusal:
        cost_output(folder)
    (finding,) = refusal.value.findings
    assert (finding.file, finding.line) == (folder.root / "prices.yaml", 2)
    assert finding.hint == "did you mean `ml.g5.xlarge`?"


def test_a_schedule_is_said(folder: FleetFolder) -> None:
    folder.spec("scaling: {min: 1, max: 2, schedules: [{name: day, at: rate(1 day), max: 5}]}\n")
    assert "sentences: schedules change the range" in cost_output(folder)


def test_as_many_instances_as_archives_save_nothing(sources: FleetFolder) -> None:
    sources.spec(name="two-ensembles", base=ENSEMBLES.replace("4xlarge", "4xlarge, count: 2"))
    assert "each (3.0100 an hour) save nothing at min" in cost_output(sources)


def test_a_program_gets_money_as_text_and_null_for_what_is_not_known(sources: FleetFolder) -> None:
    sources.spec(name="new", base=SPEC.replace("sentences", "new").replace("ml.g5.xlarge", UNPRICED_TYPE))
    document = json.loads(cost_output(sources, "--format", "json"))
    new, three, two = document["endpoints"]
    assert (new["usd_per_hour"], new["min"]["monthly"], document["not_in_total"]) == (None, None, ["new"])
    assert three["min"] == {"instances": 1, "hourly": "0.9400", "monthly": "676.80"}
    assert two["saving"] == {"apart_hourly": "3.0100", "percent": "50.00", "yearly": "13183.80"}
    assert document["total"]["min"] == {"hourly": "2.4450", "monthly": "1760.40"}
    assert document["prices"]["date"] == price_list().date
    assert document["dashboards"] == {"count": 3, "monthly": "9.00"}


def test_nothing_is_paid_for_on_this_machine(folder: FleetFolder) -> None:
    folder.environment(name="local")
    with pytest.raises(CannotRunError, match="instances cost nothing"):
        cost_output(folder, "--env", "local")


def test_mistakes_of_all_specs_are_told(sources: FleetFolder) -> None:
    for name in ("two-ensembles", "three-models"):
        sources.spec("scalling: {}\n", name, base=SPEC.replace("sentences", name))
    with pytest.raises(FindingsError) as caught:
        cost_output(sources)
    assert [finding.code for finding in caught.value.findings] == ["FL110", "FL110"]


def test_a_fleet_without_specs_is_told(folder: FleetFolder) -> None:
    (folder.root / "model_specs/sentences.yaml").unlink()
    assert cost_output(folder).strip() == "dev: no specs"
    document = json.loads(cost_output(folder, "--format", "json"))
    assert (document["endpoints"], document["total"]["min"]["hourly"]) == ([], None)


class TestOwnersAndGroups:
    def test_a_column_tells_the_owners_where_there_are_any(self, sources: FleetFolder) -> None:
        assert "owner" not in cost_output(sources)
        sources.environment("overrides: {three-models: {owner: {team: search}}}\n")
        lines = [line.split() for line in cost_output(sources).splitlines()]
        assert ["three-models", "search", "ml.g4dn.2xlarge"] in [line[:3] for line in lines]
        assert ["two-ensembles", "-", "ml.g4dn.4xlarge"] in [line[:3] for line in lines]

    def test_groups_are_sums_the_most_expensive_first(self, sources: FleetFolder) -> None:
        sources.environment("overrides: {three-models: {owner: {team: search}}}\n")
        lines = [line.split() for line in cost_output(sources, "--by", "owner").splitlines()]
        assert ["search", "1", "0.9400", "676.80", "2.8200", "2,030.40"] in lines
        assert ["(none)", "1", "1.5050", "1,083.60", "1.5050", "1,083.60"] in lines

    def test_several_environments_are_added_up(self, sources: FleetFolder) -> None:
        sources.environment(name="prod")
        text = cost_output(sources, "--env", "prod", "--by", "environment")
        assert text.startswith("dev, prod: by environment; USD")
        document = json.loads(cost_output(sources, "--env", "prod", "--by", "owner", "--format", "json"))
        assert [(group["name"], len(group["endpoints"])) for group in document["groups"]] == [("(none)", 4)]

    def test_a_program_is_told_which_endpoints_of_which_environments_a_group_has(
        self, sources: FleetFolder
    ) -> None:
        sources.environment(name="prod")
        sources.spec(name="new", base=SPEC.replace("sentences", "new").replace("ml.g5.xlarge", UNPRICED_TYPE))
        document = json.loads(
            cost_output(sources, "--env", "prod", "new", "--by", "owner", "--format", "json")
        )
        (group,) = document["groups"]
        pair = [{"environment": name, "endpoint": "new"} for name in ("dev", "prod")]
        assert (group["endpoints"], group["not_in_sums"]) == (pair, pair)

    def test_a_last_row_adds_up_all_and_each_sum_counts_what_is_unknown(self, sources: FleetFolder) -> None:
        sources.spec(name="new", base=SPEC.replace("sentences", "new").replace("ml.g5.xlarge", UNPRICED_TYPE))
        sources.environment("overrides: {three-models: {owner: {team: search}}}\n")
        text = cost_output(sources, "--by", "owner")
        lines = [line.split() for line in text.splitlines()]
        assert ["search", "1", "0.9400", "676.80", "2.8200", "2,030.40"] in lines
        assert ["(none),", "and", "1", "unknown", "2", "1.5050", "1,083.60", "1.5050", "1,083.60"] in lines
        assert ["total,", "and", "1", "unknown", "3", "2.4450", "1,760.40", "4.3250", "3,114.00"] in lines
        assert "unknown; not in the totals: new (dev); run without --by to see why" in text

    def test_an_endpoint_of_two_profiles_is_once_in_the_total(self, sources: FleetFolder) -> None:
        for name in ("one", "two"):
            sources.write(f"profiles/{name}.yaml", "tags: {}\n")
        sources.environment("overrides: {three-models: {profile: [one, two, one]}}\n")
        text = cost_output(sources, "--by", "profile")
        lines = [line.split() for line in text.splitlines()]
        counts = {line[0]: line[1] for line in lines if len(line) == 6}
        assert counts == {"one": "1", "two": "1", "(none)": "1", "total": "2"}
        assert "once in the total" in text

    def test_without_groups_each_environment_has_its_table(self, sources: FleetFolder) -> None:
        sources.environment(name="prod")
        text = cost_output(sources, "--env", "prod")
        assert text.count("two-ensembles ") >= 2
        assert len(json.loads(cost_output(sources, "--env", "prod", "--format", "json"))) == 2
