"""Policy files: every mistake with its line, what was meant, and names that lead nowhere."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from tests.support.fleet_folder import ROOT
from tests.support.policy_fleet import HEAD, PolicyFleet
from triton_fleet.findings import Severity
from triton_fleet.spec.schema import policy_schema, schemas

GOOD = HEAD + "    max_instances: 5\n"
EXCEPTION = "exceptions:\n  - {statement: affordable, endpoints: a, reason: a test, until: 2027-03-31}\n"


def problems(fleet: PolicyFleet, text: str) -> list[str]:
    fleet.folder.write("policies/platform.yaml", text)
    return [
        f"{finding.line} {finding.code} {finding.message} | {finding.hint}" for finding in fleet.findings()
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GOOD.replace("max_instances", "max_instance"), "5 FL110 unknown key `statements[0].max_instance`"),
        (
            GOOD.replace("policy: platform", "policy: security"),
            "1 FL113 `policy` is 'security' in a file called platform.yaml | rename the file to security.yaml, or",
        ),
        (GOOD.replace("statements", "statement"), "3 FL110 unknown key `statement`"),
        (GOOD.replace("5", "0"), "5 FL112 `statements[0].max_instances` is 0: it must be at least 1"),
        (GOOD.replace("5", "many"), "it must be a whole number"),
        (HEAD, "4 FL112 `statements[0]`: the statement limits nothing"),
        (HEAD + "    instances: []\n", "5 FL112 `statements[0].instances`"),
        (HEAD + "    when: {environment: []}\n    max_instances: 1\n", "5 FL112"),
        (HEAD + "    monthly_cost: {}\n", "it limits no cost"),
        (
            HEAD + "    require: {}\n",
            "5 FL112 `statements[0].require`: it requires nothing | write one of owner, ",
        ),
        (GOOD.partition("  - ")[0].replace("statements:", "statements: []"), "3 FL112 `statements`"),
        (HEAD + "    require: {rollout: [cannary]}\n", "it must be 'all-at-once', 'canary', 'linear' or"),
        (HEAD + "    triton: {releases: {25.4: null}}\n", "5 FL112"),
        (HEAD + '    triton: {releases: {"25.04": soon}}\n', "it is not a day | write a day as `2027-03-31`"),
        (GOOD + "  - {name: affordable, gpus: {max: 1}}\n", "two statements are named 'affordable'"),
        (GOOD + EXCEPTION.replace("03-31", "02-30"), "7 FL112 `exceptions[0].until`"),
        (GOOD + EXCEPTION.replace("2027-03-31", "never"), "it is not a day"),
        (GOOD + EXCEPTION.replace(", until: 2027-03-31", ""), "the key `exceptions[0].until` is missing"),
        (GOOD + EXCEPTION.replace(", reason: a test", ""), "the key `exceptions[0].reason` is missing"),
        (GOOD + EXCEPTION.replace("affordable", "afordable"), "did you mean `affordable`?"),
        (GOOD + EXCEPTION.replace("}", ", allows: [instance]}"), "did you mean `instances`?"),
        (GOOD + EXCEPTION.replace("}", ", allows: []}"), "7 FL112"),
    ],
)
def test_a_mistake_is_refused_with_its_line(fleet: PolicyFleet, text: str, message: str) -> None:
    assert any(message in problem for problem in problems(fleet, text)), problems(fleet, text)


def test_all_mistakes_of_all_files_are_reported_and_the_other_policies_hold(fleet: PolicyFleet) -> None:
    fleet.folder.write("policies/a.yaml", GOOD.replace("platform", "a", 1).replace("max_", "mx_"))
    fleet.folder.write("policies/b.yaml", "policy: b\nowner: {}\nstatements: 5\n")
    fleet.policy("instances: ml.p3.*")
    assert fleet.codes() == ["FL110", "FL111", "FL112", "FL950"]


def test_a_file_that_would_be_overlooked_is_refused(fleet: PolicyFleet) -> None:
    fleet.folder.write("policies/platform.yml", GOOD)
    assert fleet.codes() == ["FL105"]


@pytest.mark.parametrize(
    ("moment", "code", "hint"),
    [
        ("{environment: devv}", "FL120", "did you mean `dev`?"),
        ("{environment: [dev, 'prod']}", "FL120", "known: dev"),
        ("{profile: gpus}", "FL504", "did you mean `gpu`?"),
    ],
)
def test_an_environment_or_profile_without_a_file_is_refused_as_the_statement_would_hold_nowhere(
    fleet: PolicyFleet, moment: str, code: str, hint: str
) -> None:
    fleet.folder.write("profiles/gpu.yaml", "logs: {retention_days: 7}\n")
    fleet.policy(f"max_instances: 5\nwhen: {moment}")
    (refused_finding,) = fleet.findings()
    assert (refused_finding.code, refused_finding.line, refused_finding.severity) == (code, 6, Severity.ERROR)
    assert hint in refused_finding.hint


@pytest.mark.parametrize(
    ("moment", "what"), [("environment: prd*", "environment"), ("profile: gpx-*", "profile")]
)
def test_a_pattern_that_nothing_matches_yet_is_a_warning(fleet: PolicyFleet, moment: str, what: str) -> None:
    fleet.policy(f"max_instances: 5\nwhen: {{{moment}}}")
    (finding,) = fleet.findings()
    assert (finding.code, finding.line, finding.severity) == ("FL995", 6, Severity.WARNING)
    assert finding.message.startswith(f"the statement `affordable` names an unknown {what}: ")


def test_a_team_may_own_endpoints_later(fleet: PolicyFleet) -> None:
    fleet.policy("max_instances: 5\nwhen: {owner: nobody}")
    assert fleet.finding_lines() == []


def test_an_exception_for_an_environment_without_a_file_is_refused(fleet: PolicyFleet) -> None:
    exception = (
        "{statement: affordable, endpoints: '*', reason: a test, until: 2027-03-31, environment: devv}"
    )
    fleet.policy("max_instances: 5", f"exceptions:\n  - {exception}\n")
    (refused_finding,) = fleet.findings()
    assert (refused_finding.code, refused_finding.line, refused_finding.severity) == (
        "FL120",
        7,
        Severity.ERROR,
    )
    assert refused_finding.message == "the exception from `affordable` names an unknown environment: 'devv'"
    assert refused_finding.hint.startswith("did you mean `dev`?")


def test_policies_may_be_in_folders(fleet: PolicyFleet) -> None:
    fleet.folder.write("policies/team/platform.yaml", f"{HEAD}    instances: ml.p3.*\n")
    (refused_finding,) = fleet.findings()
    assert "; policies/team/platform.yaml:5 allows ml.p3.* (" in refused_finding.message


def test_policies_in_a_linked_folder_are_refused_and_not_overlooked(
    fleet: PolicyFleet, tmp_path: Path
) -> None:
    fleet.policy("max_instances: 5")
    (tmp_path / "elsewhere").mkdir()
    (fleet.folder.root / "policies/linked").symlink_to(tmp_path / "elsewhere")
    (refused_finding,) = fleet.findings()
    assert (refused_finding.code, refused_finding.severity) == ("FL105", Severity.ERROR)
    assert refused_finding.message == "this folder is a link, so no policy in it is read"


def test_policies_that_are_a_file_are_refused(fleet: PolicyFleet) -> None:
    fleet.folder.write("policies", GOOD)
    (refused_finding,) = fleet.findings()
    assert (refused_finding.code, refused_finding.severity) == ("FL101", Severity.ERROR)
    assert refused_finding.message == "this is not a folder, so no policy is read"


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("instances: [ml.g5.*, ml.g55.*]", "`instances` of the statement `affordable` allows 'ml.g55.*'"),
        ("regions: [us-*, eu-wset-1]", "`regions` of the statement `affordable` allows 'eu-wset-1'"),
        (
            'triton: {releases: {"25.04": null, "25.40": null}}',
            "`triton.releases` of the statement `affordable` allows '25.40'",
        ),
    ],
)
def test_what_matches_nothing_that_exists_is_a_warning(fleet: PolicyFleet, keys: str, message: str) -> None:
    fleet.policy(keys)
    (finding,) = fleet.findings()
    assert (finding.code, finding.line, finding.severity) == ("FL995", 5, Severity.WARNING)
    assert finding.message == f"{message}, which is unknown"


class TestSchema:
    def test_the_shipped_policy_is_valid(self) -> None:
        schema = json.loads((ROOT / "policies/policy.schema.json").read_text())
        Draft202012Validator.check_schema(schema)
        shipped_policy = yaml.load((ROOT / "policies/platform.yaml").read_text(), yaml.BaseLoader)
        shipped_policy["statements"][0] |= {"max_instances": 100, "monthly_cost": {"endpoint": 100000}}
        assert list(Draft202012Validator(schema).iter_errors(shipped_policy)) == []

    @pytest.mark.parametrize(
        "text",
        [
            HEAD,
            f"{HEAD}    instances: []\n",
            f"{HEAD}    monthly_cost: {{}}\n",
            f"{HEAD}    triton: {{releases: {{'25.4': null}}}}\n",
            GOOD + EXCEPTION.replace("}", ", allows: [nonsense]}"),
        ],
    )
    def test_editors_refuse_what_the_command_refuses(self, text: str) -> None:
        assert list(Draft202012Validator(policy_schema()).iter_errors(yaml.load(text, yaml.BaseLoader)))

    def test_the_example_in_the_shipped_policy_is_one(self, fleet: PolicyFleet) -> None:
        _, _, text = (ROOT / "policies/platform.yaml").read_text().partition("policy:")
        lines = re.sub("^( *)# ", r"\1", f"policy:{text}", flags=re.MULTILINE)
        fleet.folder.write("policies/platform.yaml", lines)
        fleet.folder.environment(name="prod")
        assert fleet.codes() == []
        assert set(fleet.codes(environment="prod")) == {"FL959", "FL990", "FL993", "FL996"}

    def test_every_key_is_explained(self) -> None:
        schema = policy_schema()
        for entry in (schema, *schema["$defs"].values()):
            for key, value in entry.get("properties", {}).items():
                assert value.get("description") or "$ref" in str(value) or key in ("gpus", "triton"), key

    def test_it_is_written_where_there_is_a_folder_for_policies(self, fleet: PolicyFleet) -> None:
        file = fleet.folder.root / "policies/policy.schema.json"
        assert file not in schemas(fleet.folder.root)
        fleet.policy("max_instances: 5")
        assert file in schemas(fleet.folder.root)
