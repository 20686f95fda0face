"""Every mistake in a YAML file is a finding at its line that says what was found and what is allowed."""

from __future__ import annotations

import pytest

from tests.support.fleet_folder import SPEC, FleetFolder


@pytest.mark.parametrize(
    ("keys", "expected_text"),
    [
        ("scalling: {}", "sentences.yaml:6 FL110 unknown key `scalling` | did you mean `scaling`?"),
        (
            "container: {thread_cuont: 2}",
            "sentences.yaml:6 FL110 unknown key `container.thread_cuont` | did you mean `thread_count`?",
        ),
        (
            "triton: '25.04'",
            "sentences.yaml:6 FL102 the key `triton` is given twice; it is already in line 2",
        ),
        ("environment: {A: &a b}", "sentences.yaml:6 FL104 anchors are not read"),
        ("environment: {C: *a}", "sentences.yaml:6 FL104 aliases are not read"),
        ("environment: {A: 0x10}", "sentences.yaml:6 FL106 0x10 is not a decimal number"),
        ("cloudformation: {Model: {A: 1e999}}", "sentences.yaml:6 FL106 1e999 is not a decimal number"),
        ("environment: {A: !!bool x}", "sentences.yaml:6 FL104 tags are not read: tag:yaml.org,2002:bool"),
        ("environment: !foo {A: b}", "sentences.yaml:6 FL104 tags are not read: !foo"),
        ("metrics: no", 'sentences.yaml:6 FL112 `metrics` is "no": it must be a mapping of keys'),
        (
            "container: {log_verbose: yes}",
            'sentences.yaml:6 FL112 `container.log_verbose` is "yes": it must be true or false | write `true`',
        ),
        ("[a, b]: x", "sentences.yaml:6 FL103 a key must be text"),
        ("<<: {a: b}", "sentences.yaml:6 FL110 unknown key `<<`"),
        ("warm: [{}]", "sentences.yaml:6 FL112 `warm[0]`: it must be text"),
        ("warm: [null]", "sentences.yaml:6 FL112 `warm[0]` is empty: it must be text"),
        ("scaling: {min: 1}", "sentences.yaml:6 FL111 the key `scaling.max` is missing"),
        (
            "scaling: {min: 0, max: 2, gpu_utilization: 60}",
            "sentences.yaml:6 FL270 `min` is 0: an endpoint without instances has no metric",
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
            'sentences.yaml:6 FL112 `timeouts.startup` is "2h": it must be at most 3600s',
        ),
        (
            "language: 2",
            "sentences.yaml:6 FL112 `language` is 2: this triton-fleet reads version 1 of the spec language |"
            " another version of triton-fleet reads it: see `fleet upgrade-check`",
        ),
        ("language: 0", "write the spec in version 1, which `fleet docs spec` describes"),
        ("container: {log_verbose: 'yes'}", "sentences.yaml:6 FL112 `container.log_verbose`"),
        ("environment: {A: 1}", "sentences.yaml:6 FL112 `environment.A` is 1: it must be text"),
        ("environment:\n  A: b\n  C: ''\n", "sentences.yaml:8 FL234 `environment` sets C to an empty value"),
        ("environment: {1C: b}", 'FL112 `environment.1C` is "1C": it must match'),
        (
            "environment: {SAGEMAKER_TRITON_LOG_INFO: 'false --x'}",
            "FL235 `environment` sets SAGEMAKER_TRITON_LOG_INFO with white space",
        ),
        ("environment: {SAGEMAKER_MULTI_MODEL: 'true'}", "choose `mode` instead"),
        ("container: {additional_args: ['--a b']}", "FL112 `container.additional_args[0]`"),
        (
            "mode: serverless",
            "FL112 `mode` is \"serverless\": it must be 'single', 'multi-model' or 'shared-container'",
        ),
        (
            "cloudformation: {Modell: {A: 1}}",
            "FL208 `cloudformation` names 'Modell', which is not a resource of an endpoint's stack | did",
        ),
        (
            "scaling: {min: 1, max: 2, invocations_per_instance: .inf}",
            "FL106 .inf is not a decimal number",
        ),
        ("scaling: {min: 1, max: 2, invocations_per_instance: 1e999}", "FL106 1e999 is not a decimal number"),
        (
            "scaling: {min: 1, max: 9999999999, gpu_utilization: 60}",
            "`scaling.max` is 9999999999: it must be at most 2147483647",
        ),
        (
            "scaling: {min: 1, max: 2, gpu_utilization: true}",
            "`scaling.gpu_utilization` is true: it must be a number",
        ),
        (
            "scaling: {min: 1, max: 2, gpu_utilization: '60'}",
            '`scaling.gpu_utilization` is "60": it must be a number | write `60`, without quotes',
        ),
        (
            "container: {metrics_port: 8080}",
            "`container.metrics_port` is 8080: the container answers invocations",
        ),
        ("logs: {retention_days: 30d}", '"30d": it must be a whole number | write `30`, without a unit'),
        (
            "container: {shm_default_byte_size: 64MiB}",
            '`container.shm_default_byte_size` is "64MiB": it must be a whole number | ',
        ),
        ("container: {model_load_gpu_limit: -1}", "is -1: it must be at least 0 | "),
        ("kms_key: a", "FL110 unknown key `kms_key` | it is a key of environments/ENV.yaml, at the top"),
        ("dashboards: false", "unknown key `dashboards` | it is a key of environments/ENV.yaml, at the top"),
        (
            "default_model: embedd",
            "FL206 `default_model` is 'embedd', which is not in the repository",
        ),
    ],
)
def test_a_mistaken_key_is_told_at_its_line(folder: FleetFolder, keys: str, expected_text: str) -> None:
    folder.spec(keys)
    (line,) = folder.finding_lines()
    assert expected_text in line


def test_a_number_where_text_is_meant_says_to_quote_it(folder: FleetFolder) -> None:
    folder.spec(base=SPEC.replace('"25.04"', "25.04"))
    assert (
        'sentences.yaml:2 FL112 `triton` is 25.04: it must be text | put it in quotes, "25.04"'
        in folder.finding_lines()[0]
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
    assert folder.finding_lines() == ["sentences.yaml:None FL101 the file is empty | "]


def test_a_spec_lists_all_the_keys_it_needs(folder: FleetFolder) -> None:
    folder.write("model_specs/sentences.yaml", "metrics: {}\n")
    missing_messages = {finding.message for finding in folder.findings()}
    assert missing_messages == {
        f"the key `{key}` is missing" for key in ("endpoint", "triton", "instance", "models")
    }


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
    folder.spec(base=SPEC.replace("ml.g5.xlarge", "ml.g7e.2xlarge"))
    folder.spec("scalling: {}\n", name="other")
    assert {finding.code for finding in folder.findings()} >= {"FL110", "FL204"}
