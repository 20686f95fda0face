"""Which endpoints an environment has, and what names one that it does not have."""

from __future__ import annotations

import os

import pytest

from tests.support.fleet_folder import SPEC, FleetFolder
from triton_fleet.findings import FindingsError
from triton_fleet.project.project import Fleet, open_project
from triton_fleet.selection.selector import Selector

OTHER_SPEC = SPEC.replace("endpoint: sentences", "endpoint: ranking")


@pytest.fixture
def fleet(folder: FleetFolder) -> FleetFolder:
    """Two endpoints, three environments."""
    for name in ("dev", "staging", "prod", "local"):
        folder.environment(name=name)
    folder.spec()
    folder.write("model_specs/ranking.yaml", OTHER_SPEC)
    return folder


def members(fleet: FleetFolder, environment: str) -> tuple[str, ...]:
    return open_project(fleet.root, environment).endpoints


def refusal(fleet: FleetFolder, environment: str, *endpoints: str) -> str:
    with pytest.raises(FindingsError) as refusal_info:
        open_project(fleet.root, environment, endpoints)
    (finding,) = refusal_info.value.findings
    assert finding.file is not None
    return f"{finding.file.name}:{finding.line} {finding.code} {finding.message} | {finding.hint}"


def test_an_environment_has_every_endpoint_unless_a_file_leaves_one_out(fleet: FleetFolder) -> None:
    assert members(fleet, "prod") == ("ranking", "sentences")


@pytest.mark.parametrize("location", ["spec", "profile", "folder"])
def test_a_spec_a_profile_or_a_folder_names_its_environments(fleet: FleetFolder, location: str) -> None:
    key = "environments: [dev]\n"
    if location == "spec":
        fleet.write("model_specs/ranking.yaml", OTHER_SPEC + key)
    elif location == "profile":
        fleet.write("profiles/young.yaml", key)
        fleet.write("model_specs/ranking.yaml", f"{OTHER_SPEC}profile: young\n")
    else:
        (fleet.root / "model_specs/ranking.yaml").unlink()
        fleet.write("model_specs/new/_folder.yaml", key)
        fleet.write("model_specs/new/ranking.yaml", OTHER_SPEC)
    assert members(fleet, "dev") == ("ranking", "sentences")
    assert members(fleet, "prod") == ("sentences",)


def test_the_spec_has_the_last_word_over_its_folder(fleet: FleetFolder) -> None:
    fleet.write("model_specs/_folder.yaml", "environments: [dev]\n")
    fleet.write("model_specs/ranking.yaml", OTHER_SPEC + "environments: [dev, prod]\n")
    assert members(fleet, "prod") == ("ranking",)


@pytest.mark.parametrize("place", ["profiles/pipe.yaml", "model_specs/pipe.yaml"])
def test_a_pipe_does_not_block_a_command(fleet: FleetFolder, place: str) -> None:
    (fleet.root / "profiles").mkdir()
    os.mkfifo(fleet.root / place)
    assert "sentences" in members(fleet, "dev")


def test_this_machine_has_every_endpoint(fleet: FleetFolder) -> None:
    fleet.write("model_specs/ranking.yaml", OTHER_SPEC + "environments: [dev]\n")
    assert members(fleet, "local") == ("ranking", "sentences")


def test_an_environment_chooses_its_endpoints_by_name_and_glob(fleet: FleetFolder) -> None:
    fleet.environment("endpoints: [rank*]\n", "prod")
    assert members(fleet, "prod") == ("ranking",)


def test_both_have_to_agree(fleet: FleetFolder) -> None:
    fleet.environment("endpoints: ['*']\n", "prod")
    fleet.write("model_specs/ranking.yaml", OTHER_SPEC + "environments: []\n")
    assert members(fleet, "prod") == ("sentences",)


def test_an_endpoint_that_is_named_and_absent_is_refused_with_the_line_that_leaves_it_out(
    fleet: FleetFolder,
) -> None:
    fleet.write("model_specs/ranking.yaml", OTHER_SPEC + "environments: [dev, staging]\n")
    assert refusal(fleet, "prod", "ranking") == (
        "ranking.yaml:6 FL511 'ranking' is not in prod: its `environments` has dev, staging"
        " | add prod there, or name another environment"
    )


def test_a_glob_selects_members_only(fleet: FleetFolder) -> None:
    fleet.write("model_specs/ranking.yaml", OTHER_SPEC + "environments: [dev]\n")
    assert Selector(Fleet(fleet.root), "prod").select(["*"]).endpoints == ["sentences"]
    assert Selector(Fleet(fleet.root), "prod").select([]).endpoints == ["sentences"]


def test_a_file_of_an_absent_endpoint_selects_nothing_and_tells_why(fleet: FleetFolder) -> None:
    fleet.write("model_specs/ranking.yaml", OTHER_SPEC + "environments: [dev]\n")
    selection = Selector(Fleet(fleet.root), "prod").select([str(fleet.root / "model_specs/ranking.yaml")])
    assert (selection.endpoints, selection.former_names) == ([], [])
    assert selection.reasons == [
        "model_specs/ranking.yaml: 'ranking' is not in prod: its `environments` has dev"
    ]


@pytest.mark.parametrize(
    ("file", "text", "line", "hint"),
    [
        ("model_specs/ranking.yaml", OTHER_SPEC + "environments: [prd]\n", "ranking.yaml:6 FL120", "`prod`"),
        ("environments/prod.yaml", "defaults: {environments: [dev]}\n", "prod.yaml:4 FL112", "`endpoints`"),
        ("environments/prod.yaml", "endpoints: [rankin]\n", "prod.yaml:4 FL120", "`ranking`"),
    ],
)
def test_a_wrong_name_or_place_is_shown_where_it_is_written(
    fleet: FleetFolder, file: str, text: str, line: str, hint: str
) -> None:
    own = (fleet.root / file).read_text() if file.startswith("env") else ""
    fleet.write(file, own + text)
    lines = [item for item in fleet.finding_lines("prod") if item.startswith(line)]
    assert lines
    assert hint in lines[0]


@pytest.mark.parametrize("key", ["promoted_from: dev", "endpoints: [ranking]"])
def test_this_machine_takes_no_choice(fleet: FleetFolder, key: str) -> None:
    fleet.environment(f"{key}\n", "local")
    assert any(
        "on this machine there is every endpoint of main" in line for line in fleet.finding_lines("local")
    )


def test_an_absent_endpoint_is_not_among_the_files_of_the_environment(fleet: FleetFolder) -> None:
    fleet.write("model_specs/ranking.yaml", OTHER_SPEC + "environments: [dev]\n")
    assert list(open_project(fleet.root, "prod").spec_files) == ["sentences"]


class TestPromoted:
    """prod, promoted from staging, has `sentences` alone."""

    @pytest.fixture(autouse=True)
    def promote_production(self, fleet: FleetFolder) -> None:
        fleet.environment("promoted_from: staging\n", "prod")
        fleet.write("locks/prod/sentences.spec.yaml", SPEC.replace("../repo", "../../repo"))
        fleet.write("locks/prod/sentences.lock.yaml", "endpoint: sentences\narchives: {}\n")

    def test_it_has_what_was_promoted(self, fleet: FleetFolder) -> None:
        project = open_project(fleet.root, "prod")
        assert (project.endpoints, project.unpromoted_names) == (("sentences",), ("ranking",))

    def test_an_endpoint_stays_when_its_spec_is_removed_from_main(self, fleet: FleetFolder) -> None:
        (fleet.root / "model_specs/sentences.yaml").unlink()
        assert members(fleet, "prod") == ("sentences",)

    def test_one_that_was_not_promoted_is_refused_with_the_command_that_does(
        self, fleet: FleetFolder
    ) -> None:
        assert refusal(fleet, "prod", "ranking") == (
            "prod.yaml:4 FL511 'ranking' was not promoted to prod yet"
            " | run `fleet promote --from staging --to prod ranking`"
        )

    def test_one_that_is_not_meant_for_it_is_not_waiting_for_a_promotion(self, fleet: FleetFolder) -> None:
        fleet.write("model_specs/ranking.yaml", OTHER_SPEC + "environments: [dev]\n")
        assert open_project(fleet.root, "prod").unpromoted_names == ()

    def test_a_changed_spec_concerns_it_only_by_a_promotion(self, fleet: FleetFolder) -> None:
        selection = Selector(Fleet(fleet.root), "prod").select(
            [str(fleet.root / "model_specs/sentences.yaml")]
        )
        assert selection.reasons == ["model_specs/sentences.yaml: prod gets it by `fleet promote`"]

    def test_its_own_spec_selects_it(self, fleet: FleetFolder) -> None:
        file = str(fleet.root / "locks/prod/sentences.spec.yaml")
        assert Selector(Fleet(fleet.root), "prod").select([file]).endpoints == ["sentences"]

    def test_a_lock_without_a_spec_is_an_error_that_names_the_command(self, fleet: FleetFolder) -> None:
        fleet.write("locks/prod/ranking.lock.yaml", "endpoint: ranking\narchives: {}\n")
        assert any(
            line.startswith("ranking.lock.yaml:1 FL841") and "fleet promote --to prod --adopt" in line
            for line in fleet.finding_lines("prod")
        )

    def test_its_own_file_names_no_profile(self, fleet: FleetFolder) -> None:
        fleet.write("profiles/gpu.yaml", "instance: {count: 2}\n")
        fleet.environment("promoted_from: staging\noverrides: {sentences: {profile: gpu}}\n", "prod")
        assert any(line.startswith("prod.yaml:5 FL512") for line in fleet.finding_lines("prod"))

    @pytest.mark.parametrize("value", ["null", "[]"])
    def test_its_own_file_may_say_that_it_names_none(self, fleet: FleetFolder, value: str) -> None:
        fleet.environment(f"promoted_from: staging\ndefaults: {{profile: {value}}}\n", "prod")
        assert not any("FL512" in line for line in fleet.finding_lines("prod"))

    def test_no_profile_is_hidden_in_the_overrides_of_its_defaults(self, fleet: FleetFolder) -> None:
        fleet.write("profiles/gpu.yaml", "instance: {count: 2}\n")
        fleet.environment("promoted_from: staging\ndefaults: {overrides: {prod: {profile: gpu}}}\n", "prod")
        assert any(line.startswith("prod.yaml:5 FL512") for line in fleet.finding_lines("prod"))

    def test_its_own_choice_leaves_a_promoted_one_out(self, fleet: FleetFolder) -> None:
        fleet.environment("promoted_from: staging\nendpoints: [ranking]\n", "prod")
        project = open_project(fleet.root, "prod")
        assert (project.endpoints, project.unpromoted_names) == ((), ("ranking",))

    def test_its_choice_may_name_what_main_has_no_more(self, fleet: FleetFolder) -> None:
        fleet.environment("promoted_from: staging\nendpoints: [sentences]\n", "prod")
        (fleet.root / "model_specs/sentences.yaml").unlink()
        assert open_project(fleet.root, "prod").findings == ()

    @pytest.mark.parametrize(
        ("origin", "message"),
        [
            ("stagin", "there is no environment 'stagin'"),
            ("local", "nothing is promoted from 'local', which is this machine"),
            ("prod", "no environment would follow the specs: prod → prod"),
        ],
    )
    def test_it_is_promoted_from_an_environment_that_follows_main_in_the_end(
        self, fleet: FleetFolder, origin: str, message: str
    ) -> None:
        fleet.environment(f"promoted_from: {origin}\n", "prod")
        assert any(f"prod.yaml:4 FL515 {message}" in line for line in fleet.finding_lines("prod"))
