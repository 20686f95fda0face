"""SageMaker starts the image with `serve` as root, and finds the labels that it asks for; arguments arrive."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.fleet_folder import ROOT
from tests.support.image_builds import START, image_findings, image_folder, short_rows
from triton_fleet.findings import Finding
from triton_fleet.spec.endpoint import Mode

PREFIX = "com.amazonaws.sagemaker.capabilities."


def findings(
    tmp_path: Path, text: str, arguments: Mapping[str, str] | None = None, *, mode: Mode = Mode.SINGLE
) -> list[Finding]:
    folder = image_folder(tmp_path, f"{START}{text}\n")
    return image_findings(folder, arguments=arguments, mode=mode)


def finding_rows(tmp_path: Path, text: str, *, mode: Mode = Mode.SINGLE) -> list[tuple[str, int | None, str]]:
    return short_rows(findings(tmp_path, text, mode=mode))


class TestEntrypoint:
    @pytest.mark.parametrize("text", ["ENTRYPOINT serve", "ENTRYPOINT exec /opt/start.sh"])
    def test_a_shell_command_is_an_error(self, tmp_path: Path, text: str) -> None:
        (finding,) = findings(tmp_path, text)
        assert (finding.code, finding.line, finding.severity) == ("FL934", 3, "error")
        assert finding.message == (
            "ENTRYPOINT is a shell command, which gets neither the argument `serve` nor SIGTERM"
        )

    @pytest.mark.parametrize("program", ["python3", "/opt/start.sh"])
    def test_another_program_is_a_warning(self, tmp_path: Path, program: str) -> None:
        assert finding_rows(tmp_path, f'ENTRYPOINT ["{program}"]') == [("FL934", 3, "warning")]

    def test_none_leaves_the_argument_as_the_program(self, tmp_path: Path) -> None:
        assert finding_rows(tmp_path, "ENTRYPOINT []") == []

    @pytest.mark.parametrize(
        "end", ['exec "$@"', 'exec "${@}"\n\n', "exec serve", "exec /usr/bin/serve;", 'set -e && exec "$@"']
    )
    @pytest.mark.parametrize("start", ['"/opt/start.sh"', '"/bin/bash", "/opt/start.sh"'])
    def test_a_script_that_runs_its_arguments_is_taken(self, tmp_path: Path, end: str, start: str) -> None:
        image_folder(tmp_path, "", {"bin/start.sh": f"#!/bin/sh\nexport A=b\n{end}"})
        assert finding_rows(tmp_path, f"COPY bin/start.sh /opt/\nENTRYPOINT [{start}]") == []

    @pytest.mark.parametrize("end", ["tritonserver", 'echo exec "$@"', '# exec "$@"', 'exec "$@" &\nwait'])
    def test_a_script_that_ends_otherwise_is_a_warning(self, tmp_path: Path, end: str) -> None:
        image_folder(tmp_path, "", {"bin/start.sh": f"#!/bin/sh\n{end}\n"})
        text = 'COPY bin/start.sh /opt/\nENTRYPOINT ["/opt/start.sh"]'
        assert finding_rows(tmp_path, text) == [("FL934", 4, "warning")]

    def test_arguments_behind_a_script_would_come_before_serve(self, tmp_path: Path) -> None:
        image_folder(tmp_path, "", {"start.sh": 'exec "$@"\n'})
        text = 'COPY start.sh /\nENTRYPOINT ["/start.sh", "--debug"]'
        assert finding_rows(tmp_path, text) == [("FL934", 4, "warning")]

    def test_the_one_of_the_release_is_taken(self, tmp_path: Path) -> None:
        assert finding_rows(tmp_path, 'ENTRYPOINT ["/opt/nvidia/nvidia_entrypoint.sh"]') == []

    def test_the_last_one_of_the_image_counts(self, tmp_path: Path) -> None:
        text = 'ENTRYPOINT a\nENTRYPOINT ["/opt/nvidia/nvidia_entrypoint.sh"]'
        assert finding_rows(tmp_path, text) == []

    def test_one_of_a_stage_that_the_image_is_not_based_on_does_not_count(self, tmp_path: Path) -> None:
        assert finding_rows(tmp_path, f"ENTRYPOINT a\nCMD b\nUSER c\n{START.splitlines()[1]}") == []

    def test_one_of_a_stage_below_counts(self, tmp_path: Path) -> None:
        text = START.replace("}\n", "} AS base\n") + "ENTRYPOINT a\nFROM base\n"
        assert short_rows(image_findings(image_folder(tmp_path, text))) == [("FL934", 3, "error")]


class TestCommandAndUser:
    def test_a_command_has_no_effect(self, tmp_path: Path) -> None:
        assert finding_rows(tmp_path, 'CMD ["tritonserver"]') == [("FL935", 3, "warning")]

    @pytest.mark.parametrize("user", ["triton-server", "1000", "1000:0"])
    def test_another_user_than_root_is_a_warning(self, tmp_path: Path, user: str) -> None:
        assert finding_rows(tmp_path, f"USER {user}") == [("FL936", 3, "warning")]

    @pytest.mark.parametrize(
        ("commands", "hint"),
        [
            ("", "write `USER root` in its place"),
            (
                "ENV A=b\nRUN apt-get install -y curl\nRUN true",
                "write `USER root` in its place; then RUN in line 5 runs as root too",
            ),
        ],
    )
    def test_root_is_proposed_above_the_commands_that_may_need_it(
        self, tmp_path: Path, commands: str, hint: str
    ) -> None:
        (finding,) = findings(tmp_path, f"USER triton-server\n{commands}")
        assert (finding.code, finding.line, finding.hint) == ("FL936", 3, hint)

    @pytest.mark.parametrize("user", ["root", "0", "0:0", "root:root", "$USER"])
    def test_root_is_taken(self, tmp_path: Path, user: str) -> None:
        assert finding_rows(tmp_path, f"USER other\nUSER {user}") == []

    def test_no_port_has_to_be_exposed(self, tmp_path: Path) -> None:
        assert finding_rows(tmp_path, "RUN true") == []


class TestLabels:
    @pytest.mark.parametrize("name", ["multi-models", "accept-bind-to-port"])
    @pytest.mark.parametrize("label", ["{}=false", '"{}"="false"', "{} false", "a=b {}="])
    def test_another_value_is_an_error_for_a_multi_model_endpoint(
        self, tmp_path: Path, name: str, label: str
    ) -> None:
        text = f"LABEL {label.format(PREFIX + name)}"
        assert finding_rows(tmp_path, text, mode=Mode.MULTI_MODEL) == [("FL937", 3, "error")]
        assert finding_rows(tmp_path, text) == []

    @pytest.mark.parametrize("value", ["true", '"true"', "$FROM_BASE"])
    def test_the_same_value_is_taken(self, tmp_path: Path, value: str) -> None:
        assert finding_rows(tmp_path, f"LABEL {PREFIX}multi-models={value}", mode=Mode.MULTI_MODEL) == []

    def test_the_last_one_counts(self, tmp_path: Path) -> None:
        text = f"LABEL {PREFIX}multi-models=false\nLABEL {PREFIX}multi-models=true"
        assert finding_rows(tmp_path, text, mode=Mode.MULTI_MODEL) == []


def test_findings_are_sorted_by_file_and_line(tmp_path: Path) -> None:
    text = "USER a\nCOPY gone /\nCMD b\n"
    assert [line for _, line, _ in finding_rows(tmp_path, text)] == [3, 4, 5]


class TestSharedContainer:
    @pytest.mark.parametrize(
        "text", ["", 'ENTRYPOINT ["python3", "serve"]', "ENTRYPOINT python3 -m shared_container"]
    )
    def test_an_image_that_does_not_start_the_router_is_an_error(self, tmp_path: Path, text: str) -> None:
        (finding,) = image_findings(image_folder(tmp_path, f"{START}{text}\n"), mode=Mode.SHARED_CONTAINER)
        assert (finding.code, finding.severity) == ("FL984", "error")

    def test_the_image_that_the_product_brings_passes_every_check(self) -> None:
        assert image_findings(ROOT / "containers" / "shared", mode=Mode.SHARED_CONTAINER) == []

    def test_packages_are_a_build_argument_that_its_dockerfile_uses(self) -> None:
        arguments = {"PACKAGES": "pillow==13.0.0"}
        assert (
            image_findings(ROOT / "containers" / "shared", arguments=arguments, mode=Mode.SHARED_CONTAINER)
            == []
        )
