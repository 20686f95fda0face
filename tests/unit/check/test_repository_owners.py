"""A model repository has one owner: naming another team's folder makes nobody its reviewer."""

from __future__ import annotations

import pytest

from tests.support.fleet_folder import SPEC, FleetFolder
from triton_fleet.check.run import all_findings
from triton_fleet.findings import FindingsError
from triton_fleet.new.ci.codeowners import codeowners
from triton_fleet.project.project import open_project


def owner(team: str, *other_text: str) -> str:
    shared_text = f", shared_with: {[f'@org/{item}' for item in other_text]}" if other_text else ""
    return f'owner: {{team: {team}, contact: "@org/{team}"{shared_text}}}\n'


def spec(folder: FleetFolder, team: str, repository: str, more: str = "", *, shared_text: str = "") -> None:
    text = SPEC.replace("sentences", team).replace("../repository", repository)
    folder.write(f"model_specs/{team}/{team}.yaml", text + owner(team, *shared_text.split()) + more)


@pytest.fixture
def rank(folder: FleetFolder) -> FleetFolder:
    """The repository of the team rank."""
    (folder.root / "model_specs/sentences.yaml").unlink()
    folder.write("models/rank/ranker/config.pbtxt", "")
    spec(folder, "rank", "../../models/rank")
    return folder


def refusal_rows(folder: FleetFolder) -> list[tuple[str, str]]:
    """Who is refused by `fleet ci codeowners`, and that `fleet check` finds the same."""
    with pytest.raises(FindingsError) as error_info:
        codeowners(folder.root, folder.root)
    rows = {
        (finding.code, finding.file, finding.line, finding.message) for finding in error_info.value.findings
    }
    findings = all_findings(open_project(folder.root, "dev"), trusts_locks=True)
    assert rows == {
        (finding.code, finding.file, finding.line, finding.message)
        for finding in findings
        if finding.code in ("FL510", "FL572")
    }
    assert all(finding.hint for finding in error_info.value.findings)
    return sorted((finding.code, finding.file.stem) for finding in error_info.value.findings if finding.file)


@pytest.mark.parametrize(
    "repository",
    ["../../models/rank", "../../models/rank/ranker", "../../models", "../../models/./rank", "../../link"],
)
def test_a_folder_of_another_owner_inside_it_or_around_it_is_refused_for_both(
    rank: FleetFolder, repository: str
) -> None:
    (rank.root / "link").symlink_to("models/rank")
    spec(rank, "search", repository)
    assert refusal_rows(rank) == [("FL572", "rank"), ("FL572", "search")]


@pytest.mark.parametrize(
    "more", ["image: {build: ../../models/rank}\n", "image: {build: ../../models/rank/ranker}\n"]
)
def test_so_is_another_file_in_it(rank: FleetFolder, more: str) -> None:
    spec(rank, "search", "../../models/search", more)
    assert refusal_rows(rank) == [("FL572", "rank"), ("FL572", "search")]


def test_an_onnx_model_in_it_is_refused_too(rank: FleetFolder) -> None:
    text = SPEC.replace("sentences", "search").replace("../repository", "../../models/search")
    engines = "    engines: [{model: a, onnx: ../../models/rank/ranker/model.onnx, shapes: {}}]\n"
    models = text.replace(
        "  - {archive: search, repository: ../../models/search}",
        f"  - archive: search\n    repository: ../../models/search\n{engines.rstrip()}",
    )
    rank.write("model_specs/search/search.yaml", models + owner("search"))
    with pytest.raises(FindingsError, match=r"`models\[0\].engines\[0\].onnx` is .*, which is inside"):
        codeowners(rank.root, rank.root)


def engine_spec(folder: FleetFolder, team: str, onnx: str, *, shared_text: str = "") -> None:
    engine = f"{{model: a, onnx: {onnx}, shapes: {{}}}}"
    more = f"models: [{{archive: {team}, repository: ../../models/{team}, engines: [{engine}]}}]\n"
    text = SPEC.partition("models:")[0].replace("sentences", team) + more + owner(team, *shared_text.split())
    folder.write(f"model_specs/{team}/{team}.yaml", text)


def test_an_onnx_model_has_one_owner_unless_both_share_it(rank: FleetFolder) -> None:
    (rank.root / "model_specs/rank/rank.yaml").unlink()
    engine_spec(rank, "rank", "../../plans/a.onnx")
    engine_spec(rank, "search", "../../plans/a.onnx")
    assert refusal_rows(rank) == [("FL572", "rank"), ("FL572", "search")]
    engine_spec(rank, "rank", "../../plans/a.onnx", shared_text="search")
    engine_spec(rank, "search", "../../plans/a.onnx", shared_text="rank")
    assert "/plans/a.onnx @org/rank @org/search" in codeowners(rank.root, rank.root)


def test_an_onnx_model_in_a_folder_of_the_platform_is_refused(rank: FleetFolder) -> None:
    engine_spec(rank, "search", "../../policies/a.onnx")
    assert refusal_rows(rank) == [("FL510", "search")]


def test_a_repository_of_a_spec_without_an_owner_is_the_platforms(rank: FleetFolder) -> None:
    rank.write(
        "model_specs/rank/rank.yaml", SPEC.replace("sentences", "rank").replace("../", "../../models/")
    )
    spec(rank, "search", "../../models/repository")
    assert refusal_rows(rank) == [("FL572", "rank"), ("FL572", "search")]


def test_specs_of_one_owner_share_their_folders(rank: FleetFolder) -> None:
    text = SPEC.replace("sentences", "rank2").replace("../repository", "../../models/rank")
    rank.write("model_specs/rank/rank2.yaml", text + owner("rank"))
    assert "/models/rank/ @org/rank" in codeowners(rank.root, rank.root)


class TestASharedRepository:
    def test_is_listed_by_both_owners_and_has_both_as_reviewers(self, rank: FleetFolder) -> None:
        spec(rank, "rank", "../../models/rank", shared_text="search")
        spec(rank, "search", "../../models/rank", shared_text="rank")
        assert "/models/rank/ @org/rank @org/search" in codeowners(rank.root, rank.root)
        spec(rank, "search", "../../models/search", "image: {build: ../../models/rank}\n", shared_text="rank")
        assert "/models/rank/ @org/rank" in codeowners(rank.root, rank.root)

    @pytest.mark.parametrize("first_text", ["rank", "search"])
    def test_is_not_taken_by_one_owner_alone(self, rank: FleetFolder, first_text: str) -> None:
        spec(rank, "rank", "../../models/rank", shared_text="search" if first_text == "rank" else "")
        spec(rank, "search", "../../models/rank", shared_text="rank" if first_text == "search" else "")
        assert refusal_rows(rank) == [("FL572", "rank"), ("FL572", "search")]

    def test_is_not_shared_with_a_third_owner(self, rank: FleetFolder) -> None:
        spec(rank, "rank", "../../models/rank", shared_text="search")
        spec(rank, "search", "../../models/rank", shared_text="rank")
        spec(rank, "evil", "../../models/rank", shared_text="rank search")
        assert ("FL572", "evil") in refusal_rows(rank)

    def test_is_not_taken_by_the_name_of_its_team(self, rank: FleetFolder) -> None:
        text = SPEC.replace("sentences", "evil").replace("../repository", "../../models/rank")
        rank.write(
            "model_specs/evil.yaml", text.replace("../../", "../") + 'owner: {team: rank, contact: "@evil"}\n'
        )
        assert refusal_rows(rank) == [("FL572", "evil"), ("FL572", "rank")]

    @pytest.mark.parametrize("repository", ["../../models/rank/ranker", "../../models"])
    def test_is_the_same_folder_for_both(self, rank: FleetFolder, repository: str) -> None:
        spec(rank, "rank", "../../models/rank", shared_text="search")
        spec(rank, "search", repository, shared_text="rank")
        assert refusal_rows(rank) == [("FL572", "rank"), ("FL572", "search")]


@pytest.mark.parametrize(
    ("program", "repository"),
    [
        ("scripts/deploy.py", "../../scripts"),
        ("scripts/ci/deploy.sh", "../../scripts"),
        ("examples/sentences/make_weights.py", "../../examples"),
        ("examples/sentences/make_weights.py", "../../examples/sentences"),
        ("tools/Makefile", "../../tools"),
        ("tools/jobs/nightly/run.py", "../../tools"),
        ("tools/deploy", "../../tools"),
        ("tools/requirements.txt", "../../tools"),
        ("vendor/dependencies.txt", "../../vendor"),
        ("node_modules/.bin/cdk", "../../node_modules/.bin"),
    ],
)
def test_a_folder_with_programs_is_no_repository(rank: FleetFolder, program: str, repository: str) -> None:
    rank.write(program, "").chmod(0o755)
    spec(rank, "search", repository)
    assert refusal_rows(rank) == [("FL510", "search")]


def test_models_beside_a_program_are_a_repository(rank: FleetFolder) -> None:
    rank.write("examples/sentences/make_weights.py", "")
    rank.write("examples/sentences/models/a/1/model.py", "")
    rank.write("examples/sentences/models/a/convert.py", "")
    spec(rank, "search", "../../examples/sentences/models")
    assert "/examples/sentences/models/ @org/search" in codeowners(rank.root, rank.root)


def test_a_promoted_environment_has_no_findings_of_folders(rank: FleetFolder) -> None:
    spec(rank, "search", "../../models/rank")
    rank.environment("promoted_from: dev\n", "prod")
    findings = all_findings(open_project(rank.root, "prod"), trusts_locks=True)
    assert "FL572" not in {finding.code for finding in findings}
