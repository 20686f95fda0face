"""No spec makes its owner the code owner of what the platform reviews."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.fleet_folder import SPEC, FleetFolder
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.new.ci.codeowners import codeowners

EVIL = 'owner: {team: evil, contact: "@attacker"}\nenvironments: []\n'


def spec(folder: FleetFolder, repository: str, file: str = "sentences") -> Path:
    text = SPEC.replace("sentences", Path(file).name).replace("../repository", repository)
    return folder.write(f"model_specs/{file}.yaml", text + EVIL)


def lines(folder: FleetFolder, top: Path | None = None) -> list[str]:
    return codeowners(folder.root, top or folder.root)


def refusal(folder: FleetFolder, top: Path | None = None) -> Finding:
    with pytest.raises(FindingsError) as error_info:
        lines(folder, top)
    (finding,) = error_info.value.findings
    assert finding.code == "FL510"
    assert finding.hint
    return finding


class TestARepositoryIsRefused:
    @pytest.mark.parametrize("name", ["environments", "policies", "locks", "profiles", ".github", ".gitlab"])
    def test_that_is_a_folder_of_the_platform(self, folder: FleetFolder, name: str) -> None:
        file = spec(folder, f"../{name}")
        finding = refusal(folder)
        assert (finding.file, finding.line) == (file, 5)
        assert f"`models[0].repository` is '../{name}', which is {name}/" in finding.message

    @pytest.mark.parametrize(
        "repository",
        ["../policies/models", "../locks/dev", "../.github/workflows", "../.gitlab-ci/jobs", "../.ci/x"],
    )
    def test_that_is_inside_one(self, folder: FleetFolder, repository: str) -> None:
        spec(folder, repository)
        assert "which is inside " in refusal(folder).message

    @pytest.mark.parametrize("repository", ["..", "../..", "../../..", "/"])
    def test_that_contains_the_fleet(self, folder: FleetFolder, repository: str) -> None:
        spec(folder, repository)
        assert "which contains the fleet" in refusal(folder).message
        assert "which contains the fleet" in refusal(folder, folder.root.parent).message

    def test_that_contains_a_codeowners_file(self, folder: FleetFolder) -> None:
        spec(folder, "../docs")
        assert "which contains docs/CODEOWNERS" in refusal(folder).message
        spec(folder, "../docs/models")
        assert "/docs/models/ @attacker" in lines(folder)

    def test_of_each_model_at_its_own_line(self, folder: FleetFolder) -> None:
        text = SPEC + "  - {archive: a, repository: ../policies}\n  - {archive: b, repository: ../locks}\n"
        file = folder.write("model_specs/sentences.yaml", text + EVIL)
        with pytest.raises(FindingsError) as error_info:
            lines(folder)
        assert [(finding.file, finding.line) for finding in error_info.value.findings] == [
            (file, 6),
            (file, 7),
        ]

    @pytest.mark.parametrize("target", ["policies", "environments", "model_specs", ".github"])
    def test_whose_link_leads_to_one(self, folder: FleetFolder, target: str) -> None:
        (folder.root / target).mkdir(exist_ok=True)
        (folder.root / "link").symlink_to(folder.root / target)
        spec(folder, "../link")
        assert refusal(folder).message.startswith("`models[0].repository` is '../link', which is ")

    def test_to_which_a_folder_or_file_of_the_platform_is_a_link(self, folder: FleetFolder) -> None:
        (folder.root / "shared/policies").mkdir(parents=True)
        (folder.root / "policies").symlink_to(folder.root / "shared/policies")
        folder.write("platform/prod.yaml", "")
        (folder.root / "environments/prod.yaml").symlink_to(folder.root / "platform/prod.yaml")
        spec(folder, "../shared")
        assert "which contains policies" in refusal(folder).message
        spec(folder, "../platform")
        assert "which contains environments/prod.yaml" in refusal(folder).message

    def test_in_a_folder_of_another_fleet(self, folder: FleetFolder) -> None:
        other_folder = FleetFolder(folder.root / "teams/other")
        other_folder.spec()
        other_folder.environment()
        for repository in ("policies", "model_specs", "environments/models"):
            spec(folder, f"../teams/other/{repository}")
            assert "teams/other/" in refusal(folder).message
        spec(folder, "../teams")
        assert "which contains the fleet teams/other" in refusal(folder).message
        spec(folder, "../teams/other")
        assert "which contains the fleet teams/other" in refusal(folder).message
        spec(folder, "../teams/other/models")
        assert "/teams/other/models/ @attacker" in lines(folder)

    def test_in_the_product_where_the_fleet_is_its_clone(self, folder: FleetFolder) -> None:
        spec(folder, "../stacks")
        assert "/stacks/ @attacker" in lines(folder)
        folder.write("triton_fleet/core/folders.py", "")
        assert "which is stacks/" in refusal(folder).message

    def test_in_which_a_path_cannot_be(self, folder: FleetFolder) -> None:
        spec(folder, '"../a\\0b"')
        assert "which is not a path" in refusal(folder).message


class TestARepositoryInTheFolderOfSpecs:
    def test_is_its_owners_below_the_folder_of_its_own_spec(self, folder: FleetFolder) -> None:
        spec(folder, "models/ranking", "search/ranking")
        assert "/model_specs/search/models/ranking/ @attacker" in lines(folder)

    @pytest.mark.parametrize("repository", [".", "..", "../ads", "../ads/models", "../models"])
    def test_is_refused_elsewhere(self, folder: FleetFolder, repository: str) -> None:
        file = spec(folder, repository, "search/ranking")
        finding = refusal(folder)
        assert (finding.file, finding.line) == (file, 5)
        assert "model_specs/" in finding.message

    @pytest.mark.parametrize("repository", ["search", "search/models", "search/models/x"])
    @pytest.mark.parametrize("other_text", ["search/one.yaml", "search/_folder.yaml"])
    def test_is_refused_in_the_folder_of_other_specs(
        self, folder: FleetFolder, repository: str, other_text: str
    ) -> None:
        folder.write(
            f"model_specs/{other_text}", SPEC.replace("sentences", "one") if "one" in other_text else ""
        )
        spec(folder, repository)
        assert "which overlaps model_specs/search/, the folder of other specs" in refusal(folder).message

    def test_is_refused_where_it_contains_the_folder_of_other_specs(self, folder: FleetFolder) -> None:
        text = SPEC.replace("sentences", "one").replace("../repository", "../../../models")
        folder.write("model_specs/a/b/one.yaml", text)
        spec(folder, "a")
        assert "which overlaps model_specs/a/b/, the folder of other specs" in refusal(folder).message


@pytest.mark.parametrize("name", ["*", "a*", "[a-z]", "a b", "a.b", "sentences."])
def test_a_file_whose_name_no_endpoint_can_have_is_refused(folder: FleetFolder, name: str) -> None:
    file = folder.write(f"model_specs/{name}.yaml", SPEC + EVIL)
    finding = refusal(folder)
    assert (finding.file, finding.line) == (file, 1)
    assert repr(name) in finding.message


def test_lines_of_policies_are_the_last_so_that_they_win(folder: FleetFolder) -> None:
    folder.write("policies/all.yaml", 'policy: all\nowner: {team: platform, contact: "@example/platform"}\n')
    folder.write("model_specs/_folder.yaml", 'owner: {team: all, contact: "@example/all"}\n')
    spec(folder, "../repository")
    assert lines(folder)[-1] == "/policies/all.yaml @example/platform"
    assert len(lines(folder)) == 4
