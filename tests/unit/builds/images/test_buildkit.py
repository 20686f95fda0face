"""An image is built by Docker's own frontend, without what builds do not have."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.image_builds import DIGEST, SPEC, START, image_findings, image_folder, short_rows
from triton_fleet.findings import Finding


def findings(tmp_path: Path, text: str, arguments: Mapping[str, str] | None = None) -> list[Finding]:
    return image_findings(image_folder(tmp_path, text), arguments=arguments)


class TestFrontend:
    @pytest.mark.parametrize(
        "above",
        [
            "# syntax=evil/frontend:latest",
            f"#SYNTAX = evil/frontend@{DIGEST}",
            "# syntax=evil.example/docker/dockerfile:1",
            "# syntax=docker/dockerfile-upstream:master",
            "# syntax=evil docker/dockerfile:1",
        ],
    )
    def test_another_one_is_an_error(self, tmp_path: Path, above: str) -> None:
        assert short_rows(findings(tmp_path, f"{above}\n{START}")) == [("FL982", 1, "error")]

    def test_the_message_names_it_and_the_hint_what_to_write(self, tmp_path: Path) -> None:
        (finding,) = findings(tmp_path, f"# syntax=evil/frontend:latest\n{START}")
        assert finding.message == (
            "the directive `syntax` lets 'evil/frontend:latest' read the Dockerfile in place of Docker"
        )
        assert finding.hint == "remove the directive, or write `# syntax=docker/dockerfile:1`"

    def test_below_a_shebang_and_other_directives_it_counts_too(self, tmp_path: Path) -> None:
        text = f"#!/bin/x\n# escape=`\n# syntax=evil/frontend\n{START}RUN a \\\n b\n"
        assert short_rows(findings(tmp_path, text)) == [("FL982", 3, "error")]

    @pytest.mark.parametrize("above", ["// syntax=evil/frontend\n", '{"syntax": "evil/frontend"}\n'])
    def test_in_another_form_it_is_an_error(self, tmp_path: Path, above: str) -> None:
        assert ("FL923", 1, "error") in short_rows(findings(tmp_path, f"{above}{START}"))

    @pytest.mark.parametrize("image", ["docker/dockerfile:1", "docker.io/docker/dockerfile:1.7"])
    def test_a_stable_release_of_docker_is_taken(self, tmp_path: Path, image: str) -> None:
        assert findings(tmp_path, f"# syntax={image}\n{START}") == []

    @pytest.mark.parametrize("image", ["docker/dockerfile:1-labs", "docker.io/docker/dockerfile"])
    def test_another_one_of_docker_without_a_digest_is_a_warning(self, tmp_path: Path, image: str) -> None:
        assert short_rows(findings(tmp_path, f"# syntax={image}\n{START}")) == [("FL926", 1, "warning")]

    def test_that_of_docker_with_a_digest_is_taken(self, tmp_path: Path) -> None:
        assert findings(tmp_path, f"# syntax=docker/dockerfile:1@{DIGEST}\n{START}") == []


class TestArguments:
    def test_one_that_no_arg_takes_is_a_warning_at_its_line(self, tmp_path: Path) -> None:
        (finding,) = findings(tmp_path, f"{START}ARG VERSION\n", {"VERSION": "1", "VERSON": "2"})
        assert (finding.code, finding.file, finding.line, finding.severity) == ("FL941", SPEC, 2, "warning")
        assert finding.hint == "did you mean `VERSION`?"

    @pytest.mark.parametrize("name", ["https_proxy", "NO_PROXY"])
    def test_proxies_need_no_arg(self, tmp_path: Path, name: str) -> None:
        assert findings(tmp_path, START, {name: "x"}) == []

    @pytest.mark.parametrize("name", ["BUILDKIT_SYNTAX", "BUILDKIT_CONTEXT_KEEP_GIT_DIR", "BUILDKIT_NEW"])
    @pytest.mark.parametrize("declared_text", ["", "ARG {}\n"])
    def test_one_that_controls_the_build_is_an_error(
        self, tmp_path: Path, name: str, declared_text: str
    ) -> None:
        (finding,) = findings(tmp_path, f"{START}{declared_text.format(name)}", {name: "evil/frontend"})
        assert (finding.code, finding.file, finding.line, finding.severity) == ("FL942", SPEC, 1, "error")


class TestAccess:
    @pytest.mark.parametrize(
        ("run", "message"),
        [
            ("RUN --mount=type=secret,id=token x", "RUN mounts a secret, which builds do not have"),
            ("RUN --mount=Type=Secret,id=a,target=/a x", "RUN mounts a secret, which builds do not have"),
            ("RUN --mount=type=ssh x", "RUN mounts an SSH agent, which builds do not have"),
            ("ARG KIND=ssh\nRUN --mount=type=$KIND x", "RUN mounts an SSH agent, which builds do not have"),
            ("RUN --network=host x", "RUN needs the network of the host, which builds do not have"),
            ("RUN --security=insecure x", "RUN needs a privileged container, which builds do not have"),
            ("RUN --device=nvidia.com/gpu=all x", "RUN needs a device, which builds do not have"),
            ("RUN --device=vendor.com/a,required x", "RUN needs a device, which builds do not have"),
            ("ONBUILD RUN --network=host x", "RUN needs the network of the host, which builds do not have"),
            ("onbuild run --device=a/b=c x", "RUN needs a device, which builds do not have"),
            ("ONBUILD RUN --mount=type=secret,id=a x", "RUN mounts a secret, which builds do not have"),
            ("ONBUILD RUN --mount=type=ssh \\\n  x", "RUN mounts an SSH agent, which builds do not have"),
        ],
    )
    def test_what_builds_do_not_have_is_an_error(self, tmp_path: Path, run: str, message: str) -> None:
        (finding,) = findings(tmp_path, f"{START}{run}\n")
        assert (finding.code, finding.severity, finding.message) == ("FL983", "error", message)

    @pytest.mark.parametrize(
        "run",
        [
            "RUN --network=none x",
            "RUN --network=default --security=sandbox x",
            "RUN --mount=type=cache,target=/root/.cache x",
            "RUN --mount=type=tmpfs,target=/tmp x",
            "RUN x --network=host --mount=type=secret",
            "RUN x --device=nvidia.com/gpu=all",
            "ONBUILD RUN --network=none x",
            "ONBUILD RUN x --network=host",
        ],
    )
    def test_what_they_have_is_taken(self, tmp_path: Path, run: str) -> None:
        assert findings(tmp_path, f"{START}{run}\n") == []

    def test_the_hint_names_the_flag(self, tmp_path: Path) -> None:
        (finding,) = findings(tmp_path, f"{START}RUN --device=nvidia.com/gpu=all x\n")
        assert finding.hint == "remove `--device=nvidia.com/gpu=all`"

    def test_a_long_chain_of_onbuild_is_no_recursion(self, tmp_path: Path) -> None:
        findings(tmp_path, START + "ONBUILD\t" * 100_000 + "RUN x\n")
