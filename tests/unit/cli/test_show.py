"""`fleet show`: the effective spec with the origin of each key, for people and for machines."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.text import Text
from typer.testing import CliRunner

from tests.support.fleet_folder import ROOT, SPEC, FleetFolder
from triton_fleet.cli.show.command import show
from triton_fleet.cli.show.spec import spec_lines
from triton_fleet.explain.effective_spec import HIDDEN_VALUE, EffectiveSpec, effective_spec
from triton_fleet.findings import FindingsError
from triton_fleet.project.fleet_files import environment_names
from triton_fleet.project.project import open_project
from triton_fleet.project.reader import RESERVED_NAMES, read_source
from triton_fleet.project.spec_files import spec_files
from triton_fleet.spec.endpoint import EndpointSpec
from triton_fleet.spec.environment import LOCAL

APP = typer.Typer()
APP.command()(show)
SHIPPED_SPECS = [
    pytest.param(name, env, marks=() if env == "dev" else pytest.mark.nightly)
    for name in spec_files(ROOT).by_endpoint
    for env in environment_names(ROOT)
    if env != LOCAL
]


def show_output(root: Path, *arguments: str, width: int | None = None) -> str:
    """The output of the command; with a width, to a terminal."""
    terminal = {"FORCE_COLOR": "1", "TERM": "xterm", "COLUMNS": str(width)} if width else {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        result = CliRunner().invoke(APP, list(arguments), env=terminal, catch_exceptions=False)
    return Text.from_ansi(result.output).plain


def document(root: Path, name: str = "sentences", env: str = "dev") -> dict[str, Any]:
    parsed_document = json.loads(show_output(root, name, "--env", env, "--format", "json"))
    assert isinstance(parsed_document, dict)
    return parsed_document


def spec_of(output: str) -> str:
    """The YAML of what a person is shown."""
    return output.partition("\n\n")[2].partition("\n\nImage\n")[0]


def comments(folder: FleetFolder) -> dict[str, str]:
    """The origin of each key that is on one line with its value, by that line."""
    lines = spec_of(show_output(folder.root, "sentences", "--env", "dev")).splitlines()
    pairs = [line.partition("# ") for line in lines]
    return {line.strip(" -"): comment for line, _, comment in pairs}


# The reader refuses what CloudFormation would put a value in place of, and Hypothesis takes texts from the code.
TEXTS = st.text().filter(lambda text: "{{resolve:" not in text)
KEYS = TEXTS.filter(lambda text: text not in {"", *RESERVED_NAMES})


class TestEffectiveSpec:
    @pytest.mark.parametrize(("name", "env"), SHIPPED_SPECS)
    @pytest.mark.parametrize("width", [None, 80, 140])
    def test_what_is_shown_reads_back_as_the_spec_that_holds(
        self, tmp_path: Path, name: str, env: str, width: int | None
    ) -> None:
        file = tmp_path / "shown.yaml"
        file.write_text(spec_of(show_output(ROOT, name, "--env", env, width=width)))
        spec = open_project(ROOT, env, [name]).load(name)
        expected_value = spec.spec.model_copy(update={"profile": spec.profiles})
        assert EndpointSpec.model_validate(read_source(file).data) == expected_value

    @pytest.mark.parametrize(("name", "env"), SHIPPED_SPECS)
    def test_each_value_has_an_origin_and_its_key_stands_there(self, name: str, env: str) -> None:
        project = open_project(ROOT, env, [name])
        spec = effective_spec(project.load(name))
        origins = {path: origin for path, origin in spec.origins.items() if origin.file}
        assert ("endpoint",) in origins
        for path, origin in origins.items():
            assert origin.file is not None
            assert origin.line is not None
            key = [part for part in path if isinstance(part, str)][-1]
            assert key in origin.file.read_text().splitlines()[origin.line - 1]

    def test_the_last_layer_that_speaks_of_a_key_is_named_with_its_line(self, folder: FleetFolder) -> None:
        folder.environment(
            """\
            defaults:
              timeouts: {startup: 5m}
              metrics: {triton: true}
            overrides:
              sentences:
                instance: {count: 3}
            """
        )
        folder.spec("metrics: {triton: false}\n")
        said_comments = comments(folder)
        assert said_comments["type: ml.g5.xlarge"] == "model_specs/sentences.yaml:3"
        assert said_comments["count: 3"] == "environments/dev.yaml:9 (overrides)"
        assert said_comments["startup: 300s"] == "environments/dev.yaml:5 (defaults)"
        assert said_comments["triton: false"] == "model_specs/sentences.yaml:6"
        assert said_comments["model_download: 600s"] == "default"

    def test_each_profile_that_applies_has_the_place_that_names_it(self, folder: FleetFolder) -> None:
        folder.write("profiles/base.yaml", "tags: {a: base}\n")
        folder.write("profiles/gpu.yaml", "# of GPUs\nprofile: base\n")
        folder.write("profiles/big.yaml", "instance: {count: 2}\n")
        folder.write("model_specs/_folder.yaml", "tags: {b: folder}\nprofile: [gpu]\n")
        folder.environment("overrides:\n  sentences: {profile: big}\n")
        said_comments = comments(folder)
        assert (said_comments["base"], said_comments["gpu"], said_comments["big"]) == (
            "profiles/gpu.yaml:2 (profile)",
            "model_specs/_folder.yaml:2 (folder)",
            "environments/dev.yaml:5 (overrides)",
        )
        parsed_document = document(folder.root)
        assert parsed_document["spec"]["profile"] == ["base", "gpu", "big"]
        assert parsed_document["origins"]["/profile/2"] == {
            "layer": "overrides",
            "file": "environments/dev.yaml",
            "line": 5,
        }

    def test_without_profiles_the_list_is_empty_by_default(self, folder: FleetFolder) -> None:
        assert comments(folder)["profile: []"] == "default"

    def test_the_order_is_the_contracts(self, folder: FleetFolder) -> None:
        assert list(document(folder.root)["spec"]) == [
            key for key, field in EndpointSpec.model_fields.items() if not field.exclude
        ]

    def test_values_have_the_units_in_which_specs_are_written(self, folder: FleetFolder) -> None:
        folder.spec(
            "rollout: {strategy: canary, canary: 50%, bake: 10m}\nalarms: {latency_p99: 2s}\n"
            "scaling: {min: 1, max: 2, gpu_utilization: 60}\n"
        )
        said_comments = comments(folder)
        assert {"canary: 50%", "bake: 600s", "latency_p99: 2000ms", "gpu_utilization: 60"} <= set(
            said_comments
        )

    def test_a_key_set_to_what_would_hold_anyway_is_the_users(self, folder: FleetFolder) -> None:
        folder.spec(base=SPEC.replace("xlarge", "xlarge, ami: null"))
        assert comments(folder)["ami: null"] == "model_specs/sentences.yaml:3"

    def test_a_severity_that_is_left_out_beside_another_one_is_no_default(self, folder: FleetFolder) -> None:
        folder.spec("alarms: {errors: {critical: 2%}}\n")
        text = show_output(folder.root, "sentences", "--env", "dev", width=200)
        [line] = re.findall(r"errors:\n +warning: null +# (.*)", text)
        assert line.strip() == "not given"
        assert "disk:\n    warning: 85%" in text

    @settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        st.dictionaries(
            KEYS,
            st.recursive(
                TEXTS | st.integers() | st.booleans() | st.floats(-1e286, 1e286),  # the reader's range
                lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner),
                max_leaves=6,
            ),
            min_size=1,
        )
    )
    def test_whatever_stands_in_it_reads_back(self, tmp_path: Path, data: dict[str, object]) -> None:
        file = tmp_path / "shown.yaml"
        lines = [
            line.text.plain for line in spec_lines(EffectiveSpec({"cloudformation": data}, {}), tmp_path)
        ]
        file.write_text("\n".join(lines), encoding="utf-8")
        assert read_source(file).data == {"cloudformation": data}


class TestSecrets:
    SPEC = """\
        environment: {HF_TOKEN: s3cret, OTHER: hf_abcdefghijklmnopqrstuvwx, TOKEN_ARN: "arn:aws:x"}
        cloudformation:
          Model:
            PrimaryContainer.Environment.API_KEY: s3cret
            Containers: [{Environment: {DB_PASSWORD: s3cret}}]
        """

    @pytest.mark.parametrize("format", ["human", "json"])
    def test_are_shown_nowhere(self, folder: FleetFolder, format: str) -> None:
        folder.spec(self.SPEC)
        output = show_output(folder.root, "sentences", "--env", "dev", "--format", format)
        assert "HF_TOKEN" in output
        assert "s3cret" not in output
        assert "hf_abc" not in output
        assert output.count(HIDDEN_VALUE) == 6

    def test_the_name_of_a_secret_is_none(self, folder: FleetFolder) -> None:
        folder.spec(self.SPEC)
        assert document(folder.root)["spec"]["environment"]["TOKEN_ARN"] == "arn:aws:x"

    def test_what_a_model_calls_its_inputs_is_none(self, folder: FleetFolder) -> None:
        engines = "engines: [{model: m, onnx: m.onnx, shapes: {input_token: [1x1, 2x2, 3x3]}}]"
        folder.spec(base=SPEC.replace("../repository", f"../repository, {engines}"))
        (model,) = document(folder.root)["spec"]["models"]
        assert model["engines"][0]["shapes"] == {"input_token": ["1x1", "2x2", "3x3"]}


class TestForAPerson:
    @pytest.mark.parametrize("width", [80, 140])
    @pytest.mark.parametrize(("name", "env"), SHIPPED_SPECS)
    def test_nothing_is_cut(self, name: str, env: str, width: int) -> None:
        output = squeeze_spaces(show_output(ROOT, name, "--env", env, width=width))
        said_document = document(ROOT, name, env)
        places = [
            f"{origin['file']}:{origin['line']}"
            for origin in said_document["origins"].values()
            if origin["file"]
        ]
        decisions = [
            decision[part] for decision in said_document["decisions"] for part in ("what", "value", "reason")
        ]
        assert len(decisions) > 60
        assert [
            deployment for deployment in places + decisions if squeeze_spaces(deployment) not in output
        ] == []

    @pytest.mark.parametrize("width", [80, 140])
    def test_no_comment_is_wider_than_the_terminal(self, width: int) -> None:
        lines = show_output(ROOT, "model-zoo", "--env", "prod", width=width).splitlines()
        assert [line for line in lines if "# " in line and len(line) > width] == []

    def test_a_pipe_gets_each_decision_on_one_line(self, folder: FleetFolder) -> None:
        output = show_output(folder.root, "sentences", "--env", "dev")
        (host,) = (line for line in output.splitlines() if "host image:" in line)
        assert host.endswith(")")
        assert not any(line.endswith(" ") for line in output.splitlines())

    def test_what_a_user_has_named_is_no_markup_and_drives_no_terminal(self, folder: FleetFolder) -> None:
        folder.spec('environment: {A: "[red]x[/red]", B: "a\\e[31mb\\u202Ec"}\n')
        output = show_output(folder.root, "sentences", "--env", "dev", width=80)
        assert output.count("[red]x[/red]") == 2
        assert output.count(r"a\x1b[31mb\u202ec") == 2


class TestForAMachine:
    @pytest.mark.parametrize(("name", "env"), SHIPPED_SPECS)
    def test_each_origin_points_at_a_value(self, name: str, env: str) -> None:
        said_document = document(ROOT, name, env)
        assert set(said_document) == {
            "version",
            "endpoint",
            "environment",
            "account",
            "region",
            "spec",
            "origins",
            "decisions",
        }
        for pointer, origin in said_document["origins"].items():
            value = said_document["spec"]
            for part in pointer.split("/")[1:]:
                key = part.replace("~1", "/").replace("~0", "~")  # RFC 6901
                value = value[int(key) if isinstance(value, list) else key]
            assert not isinstance(value, dict | list) or not value
            assert set(origin) == {"layer", "file", "line"}

    def test_a_key_with_a_slash_is_escaped_in_its_pointer(self, folder: FleetFolder) -> None:
        folder.spec("cloudformation: {Endpoint: {a/b~c: 1}}\n")
        origin = document(folder.root)["origins"]["/cloudformation/Endpoint/a~1b~0c"]
        assert origin == {"layer": "spec", "file": "model_specs/sentences.yaml", "line": 6}

    def test_each_decision_has_the_same_fields_and_dated_facts(self) -> None:
        for decision in document(ROOT, "sentence-embeddings")["decisions"]:
            assert set(decision) == {"group", "what", "value", "reason", "facts", "certain"}
            assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", fact["date"]) for fact in decision["facts"])


class TestMistakes:
    def test_a_spec_that_does_not_validate_is_told_with_its_findings(self, folder: FleetFolder) -> None:
        folder.spec("timeout: 10m\n")
        with pytest.raises(FindingsError, match="FL110: unknown key `timeout`"):
            show_output(folder.root, "sentences", "--env", "dev")

    def test_an_endpoint_without_a_spec_is_refused_with_those_that_have_one(
        self, folder: FleetFolder
    ) -> None:
        with pytest.raises(FindingsError, match="known: sentences"):
            show_output(folder.root, "nothing", "--env", "dev")


def squeeze_spaces(text: str) -> str:
    """Without what folding adds."""
    return re.sub(r"[\s#]", "", text)
