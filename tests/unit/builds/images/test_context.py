"""The build context is what .dockerignore leaves of a folder, the same on each machine."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.image_builds import ENVIRONMENT, START, TRITON, image_findings, image_folder
from triton_fleet.builds.images import context as context_module
from triton_fleet.builds.images.check import check_image
from triton_fleet.builds.images.context import BuildContext, ContextEntry, read_context
from triton_fleet.builds.images.dockerfile import read_dockerfile
from triton_fleet.builds.images.ignore_file import MAX_IGNORE_BYTES, parse_ignore_file
from triton_fleet.builds.images.inputs import ImageInputs
from triton_fleet.findings import Finding
from triton_fleet.spec.endpoint import Mode
from triton_fleet.spec.source import Mark

AS_OTHER_USER = """
import os, sys
from pathlib import Path
from triton_fleet.builds.images.context import read_context
os.setuid(65534)
for each in read_context(Path(sys.argv[1])).findings:
    print(each.code, each.file.name, "below" if "below" in each.message else "")
"""
FILES = {"a.txt": "", "b/c.py": "", "b/d/e.md": "", "README.md": "", "b/README.md": ""}


def context(folder: Path, ignore: str = "", files: Mapping[str, str | bytes] = FILES) -> BuildContext:
    return read_context(image_folder(folder, START, {**files, ".dockerignore": ignore}))


def paths(context: BuildContext) -> list[str]:
    return [path for path in context.copyable if not path.endswith("ockerfile") and path != ".dockerignore"]


def only_finding(context: BuildContext) -> Finding:
    (finding,) = context.findings
    return finding


class TestEntries:
    def test_files_have_their_size_their_digest_and_whether_they_are_executable(self, tmp_path: Path) -> None:
        actual_context = context(tmp_path, files={"run.sh": "hello"})
        (tmp_path / "run.sh").chmod(0o700)
        assert not actual_context.copyable["run.sh"].executable
        assert read_context(tmp_path).copyable["run.sh"] == ContextEntry(
            path="run.sh", size=5, executable=True, digest=f"sha256:{sha256(b'hello').hexdigest()}"
        )

    def test_they_are_sorted_by_their_paths(self, tmp_path: Path) -> None:
        actual_context = context(tmp_path)
        assert [entry.path for entry in actual_context.entries] == sorted(
            entry.path for entry in actual_context.entries
        )
        assert actual_context.folders == {"b", "b/d"}
        assert actual_context.size == len(START)

    def test_a_link_within_the_folder_stays_a_link(self, tmp_path: Path) -> None:
        image_folder(tmp_path, START, FILES)
        (tmp_path / "b/link").symlink_to("./../a.txt")
        (tmp_path / "nowhere").symlink_to("missing")
        context = read_context(tmp_path)
        assert context.findings == ()
        assert context.copyable["b/link"] == ContextEntry(path="b/link", target="./../a.txt")
        assert context.copyable["nowhere"].target == "missing"

    def test_empty_folders_are_left_out(self, tmp_path: Path) -> None:
        (tmp_path / "empty/folder").mkdir(parents=True)
        assert context(tmp_path, files={}).folders == frozenset()


class TestIgnoreFile:
    @pytest.mark.parametrize(
        ("ignore", "remaining_lines"),
        [
            ("", ["README.md", "a.txt", "b/README.md", "b/c.py", "b/d/e.md"]),
            ("# a.txt\n", ["README.md", "a.txt", "b/README.md", "b/c.py", "b/d/e.md"]),
            ("b\n", ["README.md", "a.txt"]),
            ("*.md\n", ["a.txt", "b/README.md", "b/c.py", "b/d/e.md"]),
            ("**/*.md\n", ["a.txt", "b/c.py"]),
            ("**/*.md\n!README.md\n", ["README.md", "a.txt", "b/c.py"]),
            ("!README.md\n**/*.md\n", ["a.txt", "b/c.py"]),
            ("*\n!b/d\n", ["b/d/e.md"]),
            ("*\n!b/d\nb/d/e.md\n", []),
            ("b\n!b/**/*.md\n", ["README.md", "a.txt", "b/README.md", "b/d/e.md"]),
            ("\ufeffa.txt\r\n\r\nb\r\n", ["README.md"]),
        ],
    )
    def test_the_last_line_that_matches_decides(
        self, tmp_path: Path, ignore: str, remaining_lines: list[str]
    ) -> None:
        assert paths(context(tmp_path, ignore)) == remaining_lines

    def test_the_dockerfile_and_the_file_itself_are_sent_but_not_copied(self, tmp_path: Path) -> None:
        actual_context = context(tmp_path, "*\n")
        assert [entry.path for entry in actual_context.entries] == [".dockerignore", "Dockerfile"]
        assert actual_context.copyable == {}
        assert {entry.ignored_by.text for entry in actual_context.entries if entry.ignored_by} == {"*"}

    def test_the_one_of_the_dockerfile_comes_before_the_one_of_the_folder(self, tmp_path: Path) -> None:
        actual_context = context(tmp_path, "*.md\n", {**FILES, "Dockerfile.dockerignore": "b\n"})
        assert actual_context.ignore_file.file == tmp_path / "Dockerfile.dockerignore"
        assert paths(actual_context) == ["Dockerfile.dockerignore", "README.md", "a.txt"]

    @pytest.mark.parametrize(("ignore", "is_opened"), [("b\n!other\n", False), ("b\n!b/d/x\n", True)])
    def test_a_folder_that_is_kept_out_is_opened_only_for_an_exception_in_it(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ignore: str, is_opened: bool
    ) -> None:
        at_the_root = len([*FILES, ".dockerignore", "Dockerfile"]) - 2
        monkeypatch.setattr(context_module, "MAX_FOLDER_ENTRIES", at_the_root)
        assert [finding.code for finding in context(tmp_path, ignore).findings] == ["FL939"] * is_opened

    @pytest.mark.parametrize(
        ("content", "line", "message"),
        [
            (b"a\n!\n", 2, "Docker refuses the pattern '!': `!` stands alone"),
            (b"a\n\xff\n", 2, "the file is not in UTF-8"),
            (b"a" * (MAX_IGNORE_BYTES + 1), None, "the file is larger than 64 KiB"),
        ],
    )
    def test_what_docker_refuses_is_found(
        self, tmp_path: Path, content: bytes, line: int | None, message: str
    ) -> None:
        finding = only_finding(read_context(image_folder(tmp_path, START, {".dockerignore": content})))
        assert (finding.code, finding.file, finding.line, finding.message) == (
            "FL940",
            tmp_path / ".dockerignore",
            line,
            message,
        )

    def test_a_link_in_its_place_is_found(self, tmp_path: Path) -> None:
        image_folder(tmp_path, START, {"other": "*\n"})
        (tmp_path / ".dockerignore").symlink_to("other")
        assert only_finding(read_context(tmp_path)).code == "FL940"

    @given(
        st.lists(st.text(alphabet="ab/*!", min_size=1, max_size=6), max_size=5).map("\n".join),
        st.lists(st.sampled_from("ab"), min_size=1, max_size=4),
    )
    def test_a_path_is_kept_out_as_a_walk_through_its_folders_finds(
        self, text: str, parts: list[str]
    ) -> None:
        ignore_file = parse_ignore_file(text.encode(), Path(".dockerignore"))
        expected_pattern = None
        for pattern in ignore_file.patterns:
            around = ("/".join(parts[: end + 1]) for end in range(len(parts)))
            if any(map(pattern.matches, around)):
                is_new = expected_pattern is None or pattern.is_exception
                expected_pattern = (None if pattern.is_exception else pattern) if is_new else expected_pattern
        assert ignore_file.ignored_by("/".join(parts)) == expected_pattern


class TestFindings:
    @pytest.mark.parametrize("target", ["/etc/passwd", "..", "../other", "b/../../x", "."])
    def test_a_link_that_leads_out_of_the_folder_is_found(self, tmp_path: Path, target: str) -> None:
        folder = image_folder(tmp_path / "folder", START, FILES)
        (folder / "link").symlink_to(target)
        codes = [(finding.code, finding.file) for finding in read_context(folder).findings]
        assert codes == ([] if target == "." else [("FL938", folder / "link")])

    def test_an_absolute_link_into_the_folder_is_found_as_it_leads_elsewhere_in_the_build(
        self, tmp_path: Path
    ) -> None:
        folder = image_folder(tmp_path / "folder", START, FILES)
        (folder / "link").symlink_to(folder / "a.txt")
        assert only_finding(read_context(folder)).file == folder / "link"

    def test_links_that_lead_out_together_are_found(self, tmp_path: Path) -> None:
        folder = image_folder(tmp_path / "folder", START, FILES)
        (folder / "b/here").symlink_to(".")
        (folder / "deep").symlink_to("b/here/../../x")
        assert only_finding(read_context(folder)).file == folder / "deep"

    def test_a_pipe_and_a_socket_are_found(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        image_folder(tmp_path, START)
        os.mkfifo(tmp_path / "pipe")
        monkeypatch.chdir(tmp_path)
        with socket.socket(socket.AF_UNIX) as file:
            file.bind("socket")
            findings = read_context(tmp_path).findings
        assert [(finding.code, finding.file) for finding in findings] == [
            ("FL938", tmp_path / "pipe"),
            ("FL938", tmp_path / "socket"),
        ]

    @pytest.mark.parametrize("name", [b"a\nb", b"a\xffb"])
    def test_a_name_that_is_no_text_is_found(self, tmp_path: Path, name: bytes) -> None:
        image_folder(tmp_path, START)
        (tmp_path / os.fsdecode(name)).touch()
        assert "control characters" in only_finding(read_context(tmp_path)).message

    def test_a_long_path_is_found_and_not_read(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        image_folder(tmp_path, START)
        monkeypatch.chdir(tmp_path)
        for _ in range(20):
            Path("n" * 250).mkdir()
            monkeypatch.chdir("n" * 250)
        finding = only_finding(read_context(tmp_path))
        assert (finding.code, finding.file) == ("FL938", tmp_path)
        assert finding.message.startswith("a path in it is longer than 1024 bytes: 'nnn")

    def test_a_link_to_a_name_that_is_no_text_is_found(self, tmp_path: Path) -> None:
        image_folder(tmp_path, START)
        (tmp_path / "in").symlink_to(os.fsdecode(b"x\xff"))
        (tmp_path / "out").symlink_to(os.fsdecode(b"/x\xff"))
        findings = read_context(tmp_path).findings
        assert [finding.code for finding in findings] == ["FL938", "FL938"]
        assert all(str(finding).encode() for finding in findings)

    def test_what_is_kept_out_may_be_anything(self, tmp_path: Path) -> None:
        image_folder(tmp_path, START, {".dockerignore": "x*\n"})
        os.mkfifo(tmp_path / "x1")
        (tmp_path / "x2").symlink_to("/etc")
        assert read_context(tmp_path).findings == ()

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
    def test_a_file_and_a_folder_that_cannot_be_read_are_found(self) -> None:
        with TemporaryDirectory() as name:
            folder = image_folder(Path(name), START, {"closed.txt": "x", "closed/file": ""})
            folder.chmod(0o755)
            (folder / "closed.txt").chmod(0)
            (folder / "closed").chmod(0)
            (folder / os.fsdecode(b"b\xff")).mkdir(0)
            process = subprocess.run(
                [sys.executable, "-c", AS_OTHER_USER, name], capture_output=True, text=True, check=True
            )
        assert [line.split()[:3] for line in process.stdout.splitlines()] == [
            ["FL938", Path(name).name, "below"],
            ["FL938", "closed"],
            ["FL938", "closed.txt"],
        ]

    def test_a_folder_that_does_not_exist_is_found(self, tmp_path: Path) -> None:
        assert only_finding(read_context(tmp_path / "missing")).code == "FL938"


class TestLimits:
    @pytest.mark.parametrize(
        ("name", "limit", "message"),
        [
            ("MAX_CONTEXT_FILES", 3, "it has more than 3 files"),
            ("MAX_CONTEXT_BYTES", 1, "it has more than 1 B"),
            ("MAX_FOLDER_ENTRIES", 2, "the folder contains more than 2 entries"),
            ("MAX_MATCH_STEPS", 10, "1 patterns are too many for so many files"),
        ],
    )
    def test_more_than_a_limit_is_not_read(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, limit: int, message: str
    ) -> None:
        monkeypatch.setattr(context_module, name, limit)
        finding = only_finding(context(tmp_path, "*.nothing\n"))
        assert finding.code == "FL939"
        assert finding.message == f"the build context is too large: {message}"


@pytest.mark.parametrize("name", [".git/config", ".git", ".fleet/local/keys.json", ".fleet-token"])
@pytest.mark.parametrize("below", ["", "app/", "app/.hidden/"])
@pytest.mark.parametrize("ignore", ["", "#\n!**/.git\n!**/.fleet*\n"])
def test_the_history_of_a_clone_and_the_keys_of_this_product_are_never_sent(
    tmp_path: Path, name: str, below: str, ignore: str
) -> None:
    actual_context = context(
        tmp_path, ignore, {f"{below}{name}": "secret", f"{below}.github/x": "", f"{below}.gitignore": ""}
    )
    paths = [
        entry.path for entry in actual_context.entries if entry.path not in ("Dockerfile", ".dockerignore")
    ]
    assert paths == [f"{below}.github/x", f"{below}.gitignore"]


@pytest.mark.parametrize("source", [".git", "app/.git/config", ".fleet-token"])
def test_a_copy_of_them_is_an_error(tmp_path: Path, source: str) -> None:
    folder = image_folder(
        tmp_path, f"{START}COPY {source} /\n", {source if "." in source[-7:] else f"{source}/x": ""}
    )
    assert [finding.code for finding in image_findings(folder)] == ["FL930"]


def test_a_dockerfile_that_changes_between_its_check_and_its_upload_is_an_error(tmp_path: Path) -> None:
    dockerfile = read_dockerfile(image_folder(tmp_path, START), triton_image=TRITON, arguments={})
    context = read_context(image_folder(tmp_path, f"{START}COPY --from=evil.example/x / /\n"))
    inputs = ImageInputs(
        dockerfile=dockerfile,
        context=context,
        release="25.04",
        environment=ENVIRONMENT,
        argument_mark=lambda _: Mark(tmp_path, 1, 1),
        mode=Mode.SINGLE,
    )
    (finding,) = check_image(inputs)
    assert (finding.code, finding.file) == ("FL305", tmp_path / "Dockerfile")
