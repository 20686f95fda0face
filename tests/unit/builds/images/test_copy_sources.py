"""Sources of COPY and ADD exist in the build context, in a stage, or are pinned."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.image_builds import DIGEST, START, image_findings, image_folder, short_rows
from triton_fleet.builds.images import context as context_module
from triton_fleet.findings import Finding

FILES = {
    "app/main.py": "",
    "app/data/x.bin": "",
    "requirements.txt": "",
    "notes.md": "",
    ".dockerignore": "#\n*.md\n",
}


def findings(tmp_path: Path, text: str, files: Mapping[str, str] = FILES, **arguments: str) -> list[Finding]:
    return image_findings(image_folder(tmp_path, f"{START}{text}\n", files), arguments=arguments)


def finding_rows(tmp_path: Path, text: str, **arguments: str) -> list[tuple[str, int | None, str]]:
    return short_rows(findings(tmp_path, text, FILES, **arguments))


@pytest.mark.parametrize(
    "text",
    [
        "COPY . /app",
        "COPY / /app",
        "COPY app /app",
        "COPY app/ /app",
        "COPY /app/main.py ./app/data/ /app",
        "COPY app/../requirements.txt /",
        "COPY requirements.txt missing* /",
        "COPY *.txt app/*/x.* /",
        'COPY ["app/main.py", "/"]',
        "COPY --chown=1:1 app /app",
        "ARG NAME=main\nCOPY app/${NAME}.py /",
        "ENV NAME main\nCOPY app/$NAME.py /",
        "COPY ${FROM_THE_BASE_IMAGE}/x /",
        "COPY ${FROM_THE_BASE_IMAGE} gone*.whl /",
        "COPY --parents ./app/./**/x.bin /",
        "ADD requirements.txt /",
    ],
)
def test_what_exists_is_taken(tmp_path: Path, text: str) -> None:
    assert finding_rows(tmp_path, text) == []


def test_the_spec_gives_an_argument_its_value(tmp_path: Path) -> None:
    assert finding_rows(tmp_path, "ARG NAME=gone\nCOPY app/${NAME}.py /", NAME="main") == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("COPY gone.py /", "'gone.py' does not exist in the build context"),
        ("COPY requirements.txt/x /", "'requirements.txt/x' does not exist in the build context"),
        ("COPY app gone /", "'gone' does not exist in the build context"),
        ("ADD gone.tar.gz /", "'gone.tar.gz' does not exist in the build context"),
        ("ARG A=gone\nCOPY $A/b /", "'gone/b' does not exist in the build context"),
    ],
)
def test_what_does_not_exist_is_an_error(tmp_path: Path, text: str, message: str) -> None:
    (finding,) = findings(tmp_path, text)
    assert (finding.code, finding.severity, finding.message) == ("FL929", "error", message)


def test_a_file_of_that_name_elsewhere_is_the_hint(tmp_path: Path) -> None:
    (finding,) = findings(tmp_path, "COPY main.py /")
    assert finding.hint == "did you mean `app/main.py`?"


def test_a_file_that_is_kept_out_is_an_error_with_the_pattern_and_its_line(tmp_path: Path) -> None:
    (finding,) = findings(tmp_path, "COPY notes.md /")
    assert (finding.code, finding.line) == ("FL930", 3)
    assert finding.message == "'notes.md' is not in the build context: '*.md' excludes it"
    assert finding.hint == f"add `!notes.md` below {tmp_path}/.dockerignore:2"


def test_a_folder_whose_files_are_all_kept_out_is_an_error(tmp_path: Path) -> None:
    (finding,) = findings(tmp_path, "COPY docs /", {"docs/a.md": "", ".dockerignore": "**/*.md\n"})
    assert finding.message == "the folder 'docs' is empty, or .dockerignore excludes its content"


def test_what_cannot_be_sent_is_reported_once(tmp_path: Path) -> None:
    image_folder(tmp_path, START, FILES)
    (tmp_path / "link").symlink_to("/etc/passwd")
    assert [code for code, _, _ in finding_rows(tmp_path, "COPY link /")] == ["FL938"]


def test_a_wildcard_that_copies_nothing_is_a_warning(tmp_path: Path) -> None:
    assert finding_rows(tmp_path, "COPY *.whl gone* /") == [("FL929", 3, "warning")]


@pytest.mark.parametrize(
    ("source", "inside"), [("../x", "x"), ("app/../../x", "x"), ("..", "."), ("../../a/b", "a/b")]
)
def test_a_path_that_leads_out_is_an_error_that_names_what_docker_would_copy(
    tmp_path: Path, source: str, inside: str
) -> None:
    (finding,) = findings(tmp_path, f"COPY {source} /")
    assert finding.code == "FL928"
    assert finding.message == f"{source!r} leads out of the build context, so Docker would copy {inside!r}"


def test_a_path_behind_a_link_is_taken(tmp_path: Path) -> None:
    image_folder(tmp_path, START, FILES)
    (tmp_path / "link").symlink_to("app")
    assert finding_rows(tmp_path, "COPY link/main.py link /") == []


def test_a_copy_without_a_destination_is_an_error(tmp_path: Path) -> None:
    assert finding_rows(tmp_path, "COPY app") == [("FL921", 3, "error")]


def test_a_pattern_that_docker_refuses_is_an_error(tmp_path: Path) -> None:
    assert finding_rows(tmp_path, "COPY a[ /") == [("FL921", 3, "error")]


def test_of_a_context_that_is_not_read_to_its_end_no_file_is_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(context_module, "MAX_CONTEXT_FILES", 1)
    assert [code for code, _, _ in finding_rows(tmp_path, "COPY requirements.txt /")] == ["FL939"]


class TestMounts:
    @pytest.mark.parametrize(
        "mount",
        [
            "type=bind,target=/x",
            "type=bind,source=.,target=/x",
            "type=bind,source=/app,target=/x",
            "source=app/main.py,target=/x",
            "type=bind,source=${FROM_THE_BASE_IMAGE},target=/x",
            "type=$ANY,source=gone,target=/x",
            "type=cache,source=gone,target=/x",
            f"type=bind,from=a@sha256:{'0' * 64},source=gone,target=/x",
        ],
    )
    def test_what_exists_is_taken(self, tmp_path: Path, mount: str) -> None:
        assert finding_rows(tmp_path, f"RUN --mount={mount} ls") == []

    @pytest.mark.parametrize(
        ("mount", "code", "message"),
        [
            (
                "type=bind,source=../../secrets,target=/x",
                "FL928",
                "'../../secrets' leads out of the build context, so Docker would mount 'secrets'",
            ),
            ("src=gone,target=/x", "FL929", "'gone' does not exist in the build context"),
            ("Type=Bind,Source=gone,target=/x", "FL929", "'gone' does not exist in the build context"),
            ("source=app*,target=/x", "FL929", "'app*' does not exist in the build context"),
            (
                "source=notes.md,target=/x",
                "FL930",
                "'notes.md' is not in the build context: '*.md' excludes it",
            ),
        ],
    )
    def test_one_of_the_context_is_checked_as_a_copy_is(
        self, tmp_path: Path, mount: str, code: str, message: str
    ) -> None:
        (finding,) = findings(tmp_path, f"RUN --mount={mount} ls")
        assert (finding.code, finding.line, finding.severity, finding.message) == (code, 3, "error", message)


class TestStages:
    ABOVE = "FROM scratch AS Tool\n"

    @pytest.mark.parametrize("origin", ["tool", "TOOL", "0", "1"])
    def test_a_stage_is_named_or_counted(self, tmp_path: Path, origin: str) -> None:
        text = f"{self.ABOVE}{START.splitlines()[1]}\nCOPY --from={origin} missing /\n"
        assert finding_rows(tmp_path, text) == []

    @pytest.mark.parametrize(
        ("origin", "message"),
        [
            ("2", "there is no stage 2 before this one, which is stage 2"),
            ("tol", "there is no stage 'tol', so Docker would download an image of that name"),
            ("last", "the stage 'last' copies from itself"),
        ],
    )
    @pytest.mark.parametrize("copy", ["COPY --from={} a /", "RUN --mount=type=bind,from={},target=/x ls"])
    def test_one_that_does_not_exist_is_an_error(
        self, tmp_path: Path, origin: str, message: str, copy: str
    ) -> None:
        text = f"{self.ABOVE}{START.splitlines()[1]} AS last\n{copy.format(origin)}"
        (finding,) = findings(tmp_path, text)
        assert (finding.code, finding.line, finding.message) == ("FL931", 5, message)
        assert origin != "tol" or "did you mean `tool`?" in finding.hint


class TestTriggers:
    """ONBUILD: a later stage carries the instruction out."""

    @pytest.mark.parametrize(
        ("trigger", "code", "severity"),
        [
            ("COPY --from=alpine:3 /a /b", "FL926", "warning"),
            ("RUN --mount=type=bind,from=alpine:3,target=/a x", "FL926", "warning"),
            ("COPY --from=nothing /a /b", "FL931", "error"),
            ("ADD https://example.com/a /a", "FL932", "warning"),
        ],
    )
    def test_what_it_reads_elsewhere_is_checked(
        self, tmp_path: Path, trigger: str, code: str, severity: str
    ) -> None:
        assert finding_rows(tmp_path, f"ONBUILD {trigger}") == [(code, 3, severity)]

    @pytest.mark.parametrize(
        "trigger",
        ["COPY --from=0 /a /b", "COPY missing /b", f"COPY --from=alpine@{DIGEST} /a /b", "ENV A=1"],
    )
    def test_stages_and_paths_are_those_of_the_later_stage(self, tmp_path: Path, trigger: str) -> None:
        assert finding_rows(tmp_path, f"ONBUILD {trigger}") == []


class TestDownloads:
    def test_one_without_a_checksum_is_a_warning_without_its_password(self, tmp_path: Path) -> None:
        finding, *_ = findings(tmp_path, "ADD https://host/x.tar.gz?key=1 /")
        assert (finding.code, finding.severity) == ("FL932", "warning")
        assert finding.message == (
            "ADD downloads 'https://host/x.tar.gz' without a checksum, and its content may change"
        )

    def test_one_with_a_checksum_is_taken(self, tmp_path: Path) -> None:
        assert finding_rows(tmp_path, f"ADD --checksum=sha256:{'0' * 64} https://host/x /") == []

    def test_a_git_repository_is_one(self, tmp_path: Path) -> None:
        assert finding_rows(tmp_path, "ADD git@github.com:a/b.git /") == [("FL932", 3, "warning")]
