"""Each mistake is told in the file and at the line where it stands, among specs, environments and overrides."""

from __future__ import annotations

import pytest

from tests.support.fleet_folder import ENVIRONMENT, SPEC, FleetFolder


def test_an_endpoint_is_called_as_its_file(folder: FleetFolder) -> None:
    folder.spec(name="others")
    assert (
        "FL113 `endpoint` is 'sentences' in a file called others.yaml | write `endpoint: others`"
        in folder.finding_lines()[0]
    )


def test_an_environment_is_called_as_its_file(folder: FleetFolder) -> None:
    folder.write("environments/prod.yaml", ENVIRONMENT)
    assert "FL113 `environment` is 'dev' in a file called prod.yaml" in folder.finding_lines("prod")[0]


def test_an_unknown_environment_lists_the_known_ones(folder: FleetFolder) -> None:
    folder.environment(name="prod")
    assert "FL120 there is no environment 'qa' | known: dev, prod" in folder.finding_lines("qa")[0]
    assert (
        "FL120 there is no environment 'prd' | did you mean `prod`? known: dev, prod"
        in folder.finding_lines("prd")[0]
    )
    assert "FL120 no environment was named | known: dev, prod" in folder.finding_lines("")[0]


def test_an_unknown_endpoint_lists_the_known_ones(folder: FleetFolder) -> None:
    assert (
        "FL120 there is no endpoint 'images' | known: sentences" in folder.finding_lines("dev", "images")[0]
    )


def test_overrides_of_an_endpoint_without_a_spec_are_told(folder: FleetFolder) -> None:
    folder.environment("overrides: {sentence: {triton: '24.09'}}\n")
    assert (
        "dev.yaml:4 FL120 `overrides` names an endpoint that has no spec: 'sentence' | did"
        in folder.finding_lines()[0]
    )


def test_what_overrides_could_mean_is_listed_once_each(folder: FleetFolder) -> None:
    folder.lock()
    folder.environment("overrides: {images: {triton: '24.09'}}\n")
    assert folder.finding_lines()[0].endswith(" 'images' | known: sentences")


def test_a_mistake_in_an_override_is_told_in_the_environments_file(folder: FleetFolder) -> None:
    folder.environment("overrides:\n  sentences:\n    instance: {count: 0}\n")
    assert folder.finding_lines()[0].startswith("dev.yaml:6 FL112 `instance.count` is 0")


def test_a_mistake_in_the_defaults_is_told_once_for_all_endpoints(folder: FleetFolder) -> None:
    folder.environment("defaults:\n  containr: {}\n")
    folder.spec(name="other", base=SPEC.replace("endpoint: sentences", "endpoint: other"))
    assert [line for line in folder.finding_lines() if "containr" in line] == [
        "dev.yaml:5 FL110 unknown key `containr` | did you mean `container`?"
    ]


def test_only_the_selected_endpoints_are_read(folder: FleetFolder) -> None:
    folder.write("model_specs/broken.yaml", "a: [")
    assert folder.findings("dev", "sentences") == []
    assert [finding.code for finding in folder.findings()] == ["FL101"]


def test_a_missing_key_is_told_in_the_spec_even_where_the_environment_has_defaults(
    folder: FleetFolder,
) -> None:
    folder.environment("defaults: {container: {thread_count: 4}}\n")
    folder.spec(base=SPEC.replace('triton: "25.04"\n', ""))
    assert folder.finding_lines() == [
        'sentences.yaml:1 FL111 the key `triton` is missing | Container release, in quotes: `"25.04"`.'
    ]


def test_a_character_that_is_none_of_yaml_is_told_at_its_line(folder: FleetFolder) -> None:
    folder.write("model_specs/sentences.yaml", "a: 1\nb: \x07\n")
    (finding,) = folder.findings()
    assert (finding.line, finding.message) == (2, "the character '\\x07' is not valid in YAML")


@pytest.mark.parametrize("text", ["no", "10:00", "2026-11-20", "1_000"])
def test_a_plain_value_that_editors_take_for_text_is_text(folder: FleetFolder, text: str) -> None:
    folder.spec(f"environment: {{A: {text}}}\n")
    assert folder.resolve().variables["A"] == text


@pytest.mark.parametrize("tag", ["aws:x", "triton-fleet:environment", ""])
def test_a_tag_that_is_reserved_or_empty_is_refused(folder: FleetFolder, tag: str) -> None:
    folder.environment(f'tags: {{"{tag}": x}}\n')
    assert folder.finding_lines()[0].startswith("dev.yaml:4 FL112 `tags.")


def test_a_name_of_more_than_63_characters_is_refused(folder: FleetFolder) -> None:
    name = f"s{'-' * 100}s"
    folder.spec(name=name, base=SPEC.replace("endpoint: sentences", f"endpoint: {name}"))
    assert any("it must have at most 63 characters" in line for line in folder.finding_lines("dev", name))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: {b: 1\nc: 2\n", "while parsing a flow mapping that begins in line 1, expected ',' or '}'"),
        (
            "a: 1\n---\nb: 2\n",
            "expected a single document in the stream that begins in line 1, but found another",
        ),
    ],
)
def test_a_syntax_error_names_where_what_is_broken_begins(
    folder: FleetFolder, text: str, message: str
) -> None:
    folder.write("model_specs/sentences.yaml", text)
    assert message in folder.finding_lines()[0]


def test_a_byte_that_is_none_of_utf_8_is_told_at_its_line(folder: FleetFolder) -> None:
    (folder.root / "model_specs" / "sentences.yaml").write_bytes(b"a: 1\nb: \xe4\n")
    assert folder.finding_lines() == [
        "sentences.yaml:2 FL101 the byte 0xe4 is not valid in UTF-8 text | save the file as UTF-8"
    ]


def test_a_value_is_shown_as_it_was_written(folder: FleetFolder) -> None:
    folder.write("environments/dev.yaml", "environment: dev\naccount: 011122223333\nregion: us-east-1\n")
    assert folder.finding_lines()[0].startswith(
        "dev.yaml:2 FL112 `account` is 011122223333: it must be text | put it in quotes"
    )


def test_an_unknown_region_is_told_in_the_environment(folder: FleetFolder) -> None:
    folder.write("environments/dev.yaml", ENVIRONMENT.replace("us-east-1", "us-eastt-1"))
    assert folder.finding_lines() == [
        "dev.yaml:3 FL211 SageMaker has no image of Triton in a region 'us-eastt-1' | did you mean `us-east-1`?"
    ]


def test_an_override_that_contradicts_the_spec_is_told_where_it_stands(folder: FleetFolder) -> None:
    folder.environment("overrides:\n  sentences:\n    scaling:\n      min: 9\n")
    folder.spec("scaling: {min: 1, max: 8, gpu_utilization: 60}\n")
    assert folder.finding_lines()[0].startswith("dev.yaml:7 FL112 `scaling`: `min` is 9 and `max` is 8")


@pytest.mark.parametrize(
    ("models", "count"), [("[]", 0), ("[{archive: a, repository: a}, {archive: b, repository: b}]", 2)]
)
def test_other_than_one_repository_in_mode_single_is_told_at_models(
    folder: FleetFolder, models: str, count: int
) -> None:
    folder.write("model_specs/sentences.yaml", SPEC[: SPEC.index("models")] + f"models: {models}\n")
    assert folder.finding_lines()[0].startswith(
        f"sentences.yaml:4 FL112 `models` is a list: mode `single` serves one model repository, not {count}"
    )
