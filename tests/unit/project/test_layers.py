"""A spec is laid over its folders' files and the environment's defaults, and overrides over it."""

from __future__ import annotations

import pytest

from tests.support.fleet_folder import SPEC, FleetFolder
from tests.support.layered_spec import origins, spec


class TestFolders:
    def move(self, folder: FleetFolder, place: str) -> None:
        (folder.root / "model_specs/sentences.yaml").unlink()
        folder.write(
            f"model_specs/{place}/sentences.yaml",
            SPEC.replace("../repository", "../" * (place.count("/") + 2) + "repository"),
        )

    def test_a_spec_in_a_folder_is_read_and_called_as_its_file(self, folder: FleetFolder) -> None:
        self.move(folder, "search/ranking")
        assert folder.finding_lines() == []
        assert folder.resolve().spec.endpoint == "sentences"

    def test_the_files_of_folders_lie_below_the_spec_the_inner_above_the_outer(
        self, folder: FleetFolder
    ) -> None:
        self.move(folder, "search/ranking")
        folder.write("model_specs/_folder.yaml", "tags: {a: all, b: all, c: all}\n")
        folder.write(
            "model_specs/search/_folder.yaml", "owner: {team: search}\ntags: {b: search, c: search}\n"
        )
        folder.write("model_specs/search/ranking/_folder.yaml", "tags: {c: ranking}\n")
        actual_spec = spec(folder)
        assert actual_spec.tags == {"a": "all", "b": "search", "c": "ranking"}
        assert actual_spec.owner is not None
        assert actual_spec.owner.team == "search"

    def test_a_name_in_two_folders_is_told(self, folder: FleetFolder) -> None:
        folder.write("model_specs/search/sentences.yaml", SPEC)
        assert (
            folder.finding_lines()[0].startswith(
                "sentences.yaml:1 FL123 the endpoint 'sentences' is in model_specs/search/sentences.yaml already"
            )
            or "FL123 the endpoint 'sentences' is in model_specs/sentences.yaml already"
            in folder.finding_lines()[0]
        )

    def test_a_file_of_another_suffix_is_told_in_any_folder(self, folder: FleetFolder) -> None:
        folder.write("model_specs/search/other.yml", SPEC)
        assert "other.yml:None FL105" in folder.finding_lines()[0]

    @pytest.mark.parametrize("kind", ["link", "folder"])
    def test_a_folder_file_that_cannot_be_read_is_reported(self, folder: FleetFolder, kind: str) -> None:
        file = folder.root / "model_specs/_folder.yaml"
        file.unlink()
        if kind == "link":
            file.symlink_to("nowhere.yaml")
        else:
            file.mkdir()
        problem = {"link": "FL105 this file is a link", "folder": "FL101 this is not a regular file"}[kind]
        assert f"_folder.yaml:None {problem}" in folder.finding_lines()[0]

    def test_a_folder_that_is_a_link_is_reported_and_not_read(self, folder: FleetFolder) -> None:
        outside = folder.root.parent / "outside"
        outside.mkdir()
        (outside / "other.yaml").write_text("a: [")
        (folder.root / "model_specs/team").symlink_to(outside)
        assert folder.finding_lines() == [
            "team:None FL105 this folder is a link, so no spec in it is read | replace the link with the folder"
        ]

    def test_hidden_folders_are_not_read(self, folder: FleetFolder) -> None:
        folder.write("model_specs/.cache/other.yaml", "a: [")
        assert folder.finding_lines() == []


class TestOverrides:
    def test_overrides_of_a_spec_hold_in_their_environment_alone(self, folder: FleetFolder) -> None:
        folder.environment(name="prod")
        folder.spec("overrides: {prod: {instance: {count: 4}}}\n")
        assert spec(folder).instance.count == 1
        assert spec(folder, "prod").instance.count == 4

    def test_those_of_the_environment_lie_above_those_of_the_spec(self, folder: FleetFolder) -> None:
        folder.environment("overrides: {sentences: {tags: {b: environment}}}\n")
        folder.spec("tags: {a: spec, b: spec}\noverrides: {dev: {tags: {a: dev, b: dev}}}\n")
        assert spec(folder).tags == {"a": "dev", "b": "environment"}

    def test_a_spec_wins_over_the_overrides_of_its_profile(self, folder: FleetFolder) -> None:
        folder.write(
            "profiles/base.yaml", "tags: {a: base, b: base}\noverrides: {dev: {tags: {a: dev, b: dev}}}\n"
        )
        folder.spec("profile: base\ntags: {b: spec}\n")
        assert spec(folder).tags == {"a": "dev", "b": "spec"}

    def test_overrides_may_name_a_profile(self, folder: FleetFolder) -> None:
        folder.write("profiles/big.yaml", "instance: {type: ml.g5.12xlarge}\n")
        folder.spec("overrides: {dev: {profile: big}}\n")
        assert spec(folder).instance.type == "ml.g5.12xlarge"

    def test_an_unknown_environment_is_told(self, folder: FleetFolder) -> None:
        folder.environment(name="prod")
        folder.spec("overrides: {prd: {}}\n")
        assert folder.finding_lines()[0] == (
            "sentences.yaml:6 FL120 `overrides` names an environment that has no file: 'prd'"
            " | did you mean `prod`? known: dev, prod"
        )

    def test_overrides_have_no_overrides(self, folder: FleetFolder) -> None:
        folder.spec("overrides: {dev: {overrides: {dev: {}}}}\n")
        assert "sentences.yaml:6 FL112 `overrides` of an environment cannot have" in folder.finding_lines()[0]


def test_each_value_has_the_file_the_line_and_the_layer_that_it_came_from(folder: FleetFolder) -> None:
    folder.write("profiles/base.yaml", "tags:\n  a: base\n  b: base\n  c: base\n")
    folder.write("model_specs/_folder.yaml", "tags: {d: folder}\n")
    folder.environment("defaults: {tags: {e: defaults}}\noverrides: {sentences: {tags: {f: overrides}}}\n")
    folder.spec("profile: base\ntags:\n  b: spec\noverrides: {dev: {tags: {c: dev}}}\n")
    places = {key: place for key, place in origins(folder).items() if key.startswith("tags")}
    assert places == {
        "tags.a": "profiles/base.yaml:2 profile",
        "tags.b": "model_specs/sentences.yaml:8 spec",
        "tags.c": "model_specs/sentences.yaml:9 overrides",
        "tags.d": "model_specs/_folder.yaml:1 folder",
        "tags.e": "environments/dev.yaml:4 defaults",
        "tags.f": "environments/dev.yaml:5 overrides",
    }


def test_a_profile_without_brackets_has_its_line(folder: FleetFolder) -> None:
    folder.write("profiles/base.yaml", "tags: {a: base}\n")
    folder.spec("profile: base\n")
    assert origins(folder)["profile.0"] == "model_specs/sentences.yaml:6 spec"


@pytest.mark.parametrize("name", ["folder", "_folders", "_Folder"])
def test_a_file_without_an_endpoint_that_is_called_like_that_of_a_folder_is_to_be_renamed(
    folder: FleetFolder, name: str
) -> None:
    file = folder.write(f"model_specs/search/{name}.yaml", 'triton: "25.04"\n')
    assert [line for line in folder.finding_lines() if line.startswith(file.name)] == [
        f"{file.name}:1 FL111 the key `endpoint` is missing; a file for all specs of its folder is called"
        " _folder.yaml | rename it to _folder.yaml"
    ]


def test_an_endpoint_may_be_called_folder(folder: FleetFolder) -> None:
    folder.spec(name="folder", base=SPEC.replace("sentences", "folder"))
    folder.lock()
    assert folder.finding_lines() == []
