"""Every mistake in a YAML file is a finding at its line that says what was found and what is allowed."""

from __future__ import annotations

import pytest

from fleet_folder import ENVIRONMENT, SPEC, FleetFolder


def said(folder: FleetFolder, *arguments: str) -> list[str]:
    return [
        f"{f.file.name if f.file else ''}:{f.line} {f.code} {f.message} | {f.hint}"
        for f in folder.findings(*arguments)
    ]


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("scalling: {}", "sentences.yaml:6 FL110 unknown key `scalling` | did you mean `scaling`?"),
        (
            "container: {thread_cuont: 2}",
            "sentences.yaml:6 FL110 unknown key `container.thread_cuont` | did you mean `thread_count`?",
        ),
        (
            "triton: '25.04'",
            "sentences.yaml:6 FL102 the key `triton` is given twice; it stands in line 2 already",
        ),
        ("environment: {A: &a b, C: *a}", "sentences.yaml:6 FL104 aliases are not read"),
        ("environment: {A: !!bool x}", "sentences.yaml:6 FL104 tags are not read: tag:yaml.org,2002:bool"),
        ("environment: !foo {A: b}", "sentences.yaml:6 FL104 tags are not read: !foo"),
        ("metrics: no", 'sentences.yaml:6 FL112 `metrics` is "no": it must be a mapping of keys'),
        (
            "container: {log_verbose: yes}",
            'sentences.yaml:6 FL112 `container.log_verbose` is "yes": input should',
        ),
        ("[a, b]: x", "sentences.yaml:6 FL103 a key must be text"),
        ("<<: {a: b}", "sentences.yaml:6 FL110 unknown key `<<`"),
        ("scaling: {min: 1}", "sentences.yaml:6 FL111 the key `scaling.max` is missing"),
        (
            "scaling: {min: 0, max: 2, gpu_utilization: 60}",
            "sentences.yaml:6 FL112 `scaling.min` is 0: input should be greater than or equal to 1",
        ),
        (
            "scaling: {min: 3, max: 2, gpu_utilization: 60}",
            "sentences.yaml:6 FL112 `scaling`: `min` is 3 and `max` is 2: `min` must not exceed `max`",
        ),
        ("scaling: {min: 1, max: 2}", "sentences.yaml:6 FL112 `scaling`: nothing to scale on"),
        (
            "scaling: {min: 1, max: 2, gpu_utilization: 60, scale_in: 600}",
            "sentences.yaml:6 FL112 `scaling.scale_in` is 600: write a whole number and a unit",
        ),
        (
            "timeouts: {startup: 2h}",
            'sentences.yaml:6 FL112 `timeouts.startup` is "2h": input should be less',
        ),
        ("container: {log_verbose: 'yes'}", "sentences.yaml:6 FL112 `container.log_verbose`"),
        ("environment: {A: 1}", "sentences.yaml:6 FL112 `environment.A` is 1: it must be text"),
        ("environment:\n  A: b\n  C: ''\n", "sentences.yaml:8 FL207 `environment` sets C, but to nothing"),
        ("environment: {1C: b}", 'FL112 `environment.1C` is "1C": it must match'),
        (
            "environment: {SAGEMAKER_TRITON_LOG_INFO: 'false --x'}",
            "FL207 `environment` sets SAGEMAKER_TRITON_LOG_INFO, with white space",
        ),
        ("environment: {SAGEMAKER_MULTI_MODEL: 'true'}", "choose `mode` instead"),
        ("container: {additional_args: ['--a b']}", "FL112 `container.additional_args[0]`"),
        ("mode: multi-model", "FL112 `mode` is \"multi-model\": input should be 'single'"),
        (
            "cloudformation: {Modell: {A: 1}}",
            "FL208 `cloudformation` names 'Modell', which no endpoint has | did",
        ),
        (
            "scaling: {min: 1, max: 2, invocations_per_instance: .inf}",
            'is ".inf": input should be a valid number',
        ),
        ("scaling: {min: 1, max: 2, invocations_per_instance: 1e999}", "input should be a finite number"),
        (
            "scaling: {min: 1, max: 9999999999, gpu_utilization: 60}",
            "`scaling.max` is 9999999999: input should",
        ),
        (
            "scaling: {min: 1, max: 2, gpu_utilization: true}",
            "`scaling.gpu_utilization` is true: input should",
        ),
        (
            "scaling: {min: 1, max: 2, gpu_utilization: '60'}",
            '`scaling.gpu_utilization` is "60": input should',
        ),
        (
            "container: {metrics_port: 8080}",
            "`container.metrics_port` is 8080: the container answers invocations",
        ),
        (
            "default_model: embedd",
            "FL206 `default_model` is 'embedd', which the locked archive does not hold",
        ),
    ],
)
def test_a_mistaken_key_is_told_at_its_line(folder: FleetFolder, keys: str, expected: str) -> None:
    folder.spec(keys)
    (found,) = said(folder)
    assert expected in found


def test_a_number_where_text_is_meant_says_to_quote_it(folder: FleetFolder) -> None:
    folder.spec(base=SPEC.replace('"25.04"', "25.04"))
    assert (
        'sentences.yaml:2 FL112 `triton` is 25.04: it must be text | put it in quotes, "25.04"'
        in said(folder)[0]
    )


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a: [1\nb: 2", "FL101"),
        ("- a\n- b", "FL101"),
        ("a: " + "[" * 50 + "]" * 50, "FL104"),
        ("a: b: c", "FL101"),
        ("a:\n\tx: 1", "FL101"),
        ("a: 1\n---\nb: 2", "FL101"),
        ("a: \x07", "FL101"),
        ("#" * (1 << 20) + "\n", "FL104"),
    ],
)
def test_a_file_that_is_no_mapping_of_plain_values_is_refused(
    folder: FleetFolder, text: str, code: str
) -> None:
    folder.write("model_specs/sentences.yaml", text)
    assert [finding.code for finding in folder.findings()] == [code]


def test_a_file_that_is_no_text_is_refused(folder: FleetFolder) -> None:
    (folder.root / "model_specs" / "sentences.yaml").write_bytes(b"\xff\xfe\x00")
    assert [finding.code for finding in folder.findings()] == ["FL101"]


def test_an_empty_file_is_told_as_such(folder: FleetFolder) -> None:
    folder.write("model_specs/sentences.yaml", "# nothing yet\n")
    assert said(folder) == ["sentences.yaml:None FL101 the file is empty | "]


def test_a_spec_lists_all_the_keys_it_needs(folder: FleetFolder) -> None:
    folder.write("model_specs/sentences.yaml", "metrics: {}\n")
    missing = {finding.message for finding in folder.findings()}
    assert missing == {f"the key `{key}` is missing" for key in ("endpoint", "triton", "instance", "models")}


def test_all_mistakes_of_all_files_come_in_one_run(folder: FleetFolder) -> None:
    folder.environment("regoin: x\n")
    folder.spec("scalling: {}\nmode: none\n")
    folder.spec("instanc: {}\n", name="other")
    folder.write("model_specs/third.yml", "")
    places = {(f.file.name, f.line, f.code) for f in folder.findings() if f.file}
    assert places == {
        ("dev.yaml", 4, "FL110"),
        ("sentences.yaml", 6, "FL110"),
        ("sentences.yaml", 7, "FL112"),
        ("other.yaml", 6, "FL110"),
        ("third.yml", None, "FL105"),
    }


def test_mistakes_of_one_spec_do_not_hide_what_another_resolves_to(folder: FleetFolder) -> None:
    folder.spec(base=SPEC.replace("25.04", "25.09"))
    folder.spec("scalling: {}\n", name="other")
    assert {finding.code for finding in folder.findings()} >= {"FL110", "FL204"}


def test_an_endpoint_is_called_as_its_file(folder: FleetFolder) -> None:
    folder.spec(name="others")
    assert (
        "FL113 `endpoint` is 'sentences' in a file called others.yaml | write `endpoint: others`"
        in said(folder)[0]
    )


def test_an_environment_is_called_as_its_file(folder: FleetFolder) -> None:
    folder.write("environments/prod.yaml", ENVIRONMENT)
    assert "FL113 `environment` is 'dev' in a file called prod.yaml" in said(folder, "prod")[0]


def test_an_unknown_environment_lists_the_known_ones(folder: FleetFolder) -> None:
    folder.environment(name="prod")
    assert "FL120 there is no environment 'qa' | known: dev, prod" in said(folder, "qa")[0]
    assert "FL120 there is no environment 'prd' | did you mean `prod`?" in said(folder, "prd")[0]
    assert "FL120 no environment was named | known: dev, prod" in said(folder, "")[0]


def test_an_unknown_endpoint_lists_the_known_ones(folder: FleetFolder) -> None:
    assert "FL120 there is no endpoint 'images' | known: sentences" in said(folder, "dev", "images")[0]


def test_overrides_of_an_endpoint_without_a_spec_are_told(folder: FleetFolder) -> None:
    folder.environment("overrides: {sentence: {triton: '24.09'}}\n")
    assert (
        "dev.yaml:4 FL120 `overrides` names an endpoint without a spec: 'sentence' | did" in said(folder)[0]
    )


def test_a_mistake_in_an_override_is_told_in_the_environments_file(folder: FleetFolder) -> None:
    folder.environment("overrides:\n  sentences:\n    instance: {count: 0}\n")
    assert said(folder)[0].startswith("dev.yaml:6 FL112 `instance.count` is 0")


def test_a_mistake_in_the_defaults_is_told_once_for_all_endpoints(folder: FleetFolder) -> None:
    folder.environment("defaults:\n  containr: {}\n")
    folder.spec(name="other", base=SPEC.replace("endpoint: sentences", "endpoint: other"))
    assert [line for line in said(folder) if "containr" in line] == [
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
    assert said(folder) == [
        'sentences.yaml:1 FL111 the key `triton` is missing | Container release, in quotes: `"25.04"`.'
    ]


def test_a_character_that_is_none_of_yaml_is_told_at_its_line(folder: FleetFolder) -> None:
    folder.write("model_specs/sentences.yaml", "a: 1\nb: \x07\n")
    (finding,) = folder.findings()
    assert (finding.line, finding.message) == (2, "the character '\\x07' does not belong into YAML")


@pytest.mark.parametrize("text", ["no", "10:00", "2026-11-20", "0x10", "1_000"])
def test_a_plain_value_that_editors_take_for_text_is_text(folder: FleetFolder, text: str) -> None:
    folder.spec(f"environment: {{A: {text}}}\n")
    assert folder.resolve().variables["A"] == text


@pytest.mark.parametrize("tag", ["aws:x", "triton-fleet:environment", ""])
def test_a_tag_that_is_reserved_or_empty_is_refused(folder: FleetFolder, tag: str) -> None:
    folder.environment(f'tags: {{"{tag}": x}}\n')
    assert said(folder)[0].startswith("dev.yaml:4 FL112 `tags.")


def test_a_name_of_more_than_63_characters_is_refused(folder: FleetFolder) -> None:
    name = f"s{'-' * 100}s"
    folder.spec(name=name, base=SPEC.replace("endpoint: sentences", f"endpoint: {name}"))
    assert any("should have at most 63 characters" in line for line in said(folder, "dev", name))


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
    assert message in said(folder)[0]


def test_a_byte_that_is_none_of_utf_8_is_told_at_its_line(folder: FleetFolder) -> None:
    (folder.root / "model_specs" / "sentences.yaml").write_bytes(b"a: 1\nb: \xe4\n")
    assert said(folder) == [
        "sentences.yaml:2 FL101 the byte 0xe4 does not belong into UTF-8 text | save the file as UTF-8"
    ]


def test_a_value_is_shown_as_it_was_written(folder: FleetFolder) -> None:
    folder.write("environments/dev.yaml", "environment: dev\naccount: 011122223333\nregion: us-east-1\n")
    assert said(folder)[0].startswith(
        "dev.yaml:2 FL112 `account` is 011122223333: it must be text | put it in quotes"
    )


def test_an_unknown_region_is_told_in_the_environment(folder: FleetFolder) -> None:
    folder.write("environments/dev.yaml", ENVIRONMENT.replace("us-east-1", "us-eastt-1"))
    assert said(folder) == [
        "dev.yaml:3 FL211 SageMaker has no image of Triton in a region 'us-eastt-1' | did you mean `us-east-1`?"
    ]


def test_an_override_that_contradicts_the_spec_is_told_where_it_stands(folder: FleetFolder) -> None:
    folder.environment("overrides:\n  sentences:\n    scaling:\n      min: 9\n")
    folder.spec("scaling: {min: 1, max: 8, gpu_utilization: 60}\n")
    assert said(folder)[0].startswith("dev.yaml:7 FL112 `scaling`: `min` is 9 and `max` is 8")


@pytest.mark.parametrize(
    ("models", "count"), [("[]", 0), ("[{archive: a, repository: a}, {archive: b, repository: b}]", 2)]
)
def test_other_than_one_repository_in_mode_single_is_told_at_models(
    folder: FleetFolder, models: str, count: int
) -> None:
    folder.write("model_specs/sentences.yaml", SPEC[: SPEC.index("models")] + f"models: {models}\n")
    assert said(folder)[0].startswith(
        f"sentences.yaml:4 FL112 `models` is a list: mode `single` serves one model repository, not {count}"
    )
