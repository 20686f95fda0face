"""A Dockerfile is read as Docker reads it: directives, continued lines, stages."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.image_builds import START, TRITON, image_folder, parse_sample
from triton_fleet.builds.images.dockerfile import MAX_DOCKERFILE_BYTES, read_dockerfile
from triton_fleet.builds.images.instruction import Instruction, assignments
from triton_fleet.builds.images.lines import Directive
from triton_fleet.findings import FindingsError
from triton_fleet.spec.image import TRITON_IMAGE


def last_instruction(text: str) -> Instruction:
    """The last instruction of a text."""
    return parse_sample(f"FROM a\n{text}").instructions[-1]


def refusal(folder: Path) -> FindingsError:
    with pytest.raises(FindingsError) as caught:
        read_dockerfile(folder, triton_image=TRITON, arguments={})
    return caught.value


class TestLines:
    def test_an_instruction_has_the_line_where_it_begins(self) -> None:
        text = "# comment\n\nFROM a\nRUN one && \\\n    # in between\n\n  two\n\nENV A=1\n"
        rows = [(instruction.keyword, instruction.line) for instruction in parse_sample(text).instructions]
        assert rows == [("FROM", 3), ("RUN", 4), ("ENV", 9)]

    def test_continued_lines_are_joined_without_comments_and_empty_lines(self) -> None:
        assert last_instruction("RUN one && \\\n    # in between\n\n  two").raw == "one &&   two"

    def test_an_escaped_backslash_at_the_end_continues_nothing(self) -> None:
        assert [
            instruction.keyword for instruction in parse_sample("FROM a\nRUN dir C:\\\\\nUSER b").instructions
        ] == [
            "FROM",
            "RUN",
            "USER",
        ]

    def test_white_space_may_follow_the_sign_that_continues_a_line(self) -> None:
        assert last_instruction("RUN a \\  \t\n b").raw == "a  b"

    def test_lines_may_end_as_on_windows(self) -> None:
        assert last_instruction("RUN a \\\r\n b\r\n").raw == "a  b"

    def test_keywords_are_in_any_case_and_may_be_indented(self) -> None:
        assert last_instruction("  copy a b").keyword == "COPY"

    def test_a_byte_order_mark_is_left_out(self, tmp_path: Path) -> None:
        image_folder(tmp_path, "\ufeffFROM a")
        dockerfile = read_dockerfile(tmp_path, triton_image=TRITON, arguments={})
        assert [stage.base for stage in dockerfile.stages] == ["a"]


class TestDirectives:
    def test_syntax_and_escape_are_read_at_the_top(self) -> None:
        dockerfile = parse_sample("# syntax=docker/dockerfile:1\n# Escape = `\nFROM a\nRUN x `\n y\n")
        assert dockerfile.directives == {
            "syntax": Directive("docker/dockerfile:1", 1),
            "escape": Directive("`", 2),
        }
        assert dockerfile.instructions[-1].raw == "x  y"

    @pytest.mark.parametrize("above", ["# a comment\n", "\n", "FROM a\n"])
    def test_below_anything_else_a_directive_is_a_comment(self, above: str) -> None:
        assert parse_sample(f"{above}# escape=`\n").directives == {}

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("# escape=x\nFROM a", "the directive `escape` is 'x'"),
            ("# syntax=a\n# syntax=b\nFROM a", "the directive `syntax` is given twice"),
        ],
    )
    def test_what_docker_refuses_is_found(self, text: str, message: str) -> None:
        assert [finding.message for finding in parse_sample(text).findings] == [message]


class TestInstructions:
    @pytest.mark.parametrize(
        ("text", "arguments", "exec_form"),
        [
            ('ENTRYPOINT ["a", "b c"]', ("a", "b c"), True),
            ("ENTRYPOINT a  b", ("a  b",), False),
            ("CMD [not json", ("[not json",), False),
            ("RUN [1]", ("[1]",), False),
            ('COPY ["a b", "c"]', ("a b", "c"), True),
            ("COPY a b  c", ("a", "b", "c"), False),
            ("USER root", ("root",), False),
        ],
    )
    def test_arguments_are_in_exec_or_in_shell_form(
        self, text: str, arguments: tuple[str, ...], exec_form: bool
    ) -> None:
        instruction = last_instruction(text)
        assert (instruction.arguments, instruction.exec_form) == (arguments, exec_form)

    def test_flags_come_before_the_arguments(self) -> None:
        instruction = last_instruction('COPY --from=build --chown="a:b" --link x --y z')
        assert instruction.flags == (("from", "build"), ("chown", "a:b"), ("link", ""))
        assert instruction.arguments == ("x", "--y", "z")
        assert (instruction.flag("from"), instruction.flag("none")) == ("build", None)

    def test_two_hyphens_end_the_flags(self) -> None:
        instruction = last_instruction("COPY --link -- --a b")
        assert (instruction.flags, instruction.arguments) == ((("link", ""),), ("--a", "b"))

    @pytest.mark.parametrize(
        ("text", "pairs"),
        [
            ("ENV A=1 B='x y' C=", [("A", "1"), ("B", "'x y'"), ("C", "")]),
            ("ENV A the rest = all", [("A", "the rest = all")]),
            ("ARG A B=2", [("A", None), ("B", "2")]),
            ('LABEL "a.b"="c" d=e\\ f', [('"a.b"', '"c"'), ("d", "e\\ f")]),
        ],
    )
    def test_assignments_are_names_and_raw_values(
        self, text: str, pairs: list[tuple[str, str | None]]
    ) -> None:
        assert list(assignments(last_instruction(text))) == pairs


class TestHeredocs:
    @pytest.mark.parametrize(
        "text", ["RUN <<EOF", "COPY <<a <<-'b' /dest/", "ONBUILD RUN <<EOF", "ADD 3<<x /"]
    )
    def test_one_is_refused_and_no_line_below_it_is_read(self, text: str) -> None:
        dockerfile = parse_sample(f"FROM a\n{text}\nCOPY --from=x y\nEOF\nUSER b\n")
        assert [instruction.keyword for instruction in dockerfile.instructions] == ["FROM"]
        (finding,) = dockerfile.findings
        assert (finding.code, finding.line) == ("FL921", 2)
        assert "has a here-document, which is not read" in finding.message

    @pytest.mark.parametrize(
        "text", ['RUN echo "<<EOF"', "RUN x=$((1<<2))", "RUN cat <<<word", 'RUN ["<<EOF"]', "ENV A=<<EOF"]
    )
    def test_what_only_looks_like_one_is_none(self, text: str) -> None:
        assert [instruction.keyword for instruction in parse_sample(f"FROM a\n{text}\nUSER b").instructions][
            -1
        ] == "USER"


class TestStages:
    def test_each_from_begins_one(self) -> None:
        first, second = parse_sample(
            "FROM --platform=linux/amd64 a:1 AS Build\nRUN x\nFROM b\nUSER c\nCMD d\n"
        ).stages
        assert (first.index, first.base, first.name, first.platform) == (0, "a:1", "build", "linux/amd64")
        assert [instruction.keyword for instruction in second.instructions] == ["USER", "CMD"]

    @pytest.mark.parametrize(
        ("above", "base", "image"),
        [
            ("ARG TRITON_IMAGE", "${TRITON_IMAGE}", TRITON),
            ("ARG TRITON_IMAGE=other", "$TRITON_IMAGE", TRITON),
            ("ARG TAG=1", "a:${TAG}", "a:2"),
            ("ARG OTHER=x", "a:${OTHER}", "a:x"),
            ("ARG OTHER=x\nARG NEXT=${OTHER}y", "a:$NEXT", "a:xy"),
            ("", "a:${NONE:-z}", "a:z"),
            ("", "a-$TARGETARCH", "a-amd64"),
        ],
    )
    def test_arguments_before_it_have_their_values(self, above: str, base: str, image: str) -> None:
        (stage,) = parse_sample(f"{above}\nFROM {base}\n", TAG="2").stages
        assert (stage.base, stage.image, stage.unset) == (base, image, frozenset())

    def test_an_argument_that_is_not_declared_has_no_value(self) -> None:
        (stage,) = parse_sample(f"FROM ${{{TRITON_IMAGE}}}").stages
        assert (stage.image, stage.unset) == (None, frozenset([TRITON_IMAGE]))

    def test_the_lineage_leads_from_the_base_to_the_last_stage(self) -> None:
        text = "FROM a AS one\nFROM b AS other\nFROM ONE AS two\nFROM two\n"
        assert [stage.index for stage in parse_sample(text).lineage] == [0, 2, 3]

    def test_of_two_stages_of_one_name_the_later_one_is_the_base(self) -> None:
        dockerfile = parse_sample("FROM a AS x\nFROM b AS X\nFROM x\n")
        assert dockerfile.stages[-1].below == 1
        assert dockerfile.stage("x") == dockerfile.stages[1]

    def test_a_stage_that_is_named_as_its_image_is_not_its_own_base(self) -> None:
        assert [stage.below for stage in parse_sample("FROM a AS a\nFROM a\n").stages] == [None, 0]


class TestMistakes:
    @pytest.mark.parametrize(
        ("text", "code", "line", "message"),
        [
            ("", "FL922", None, "the Dockerfile has no FROM, so it builds no image"),
            ("RUN x\nFROM a", "FL922", 1, "RUN comes before the first FROM, so it belongs to no stage"),
            ("FROM a\nCOPPY a b", "FL923", 2, "'COPPY' is not an instruction of a Dockerfile"),
            ("FROM a\nRUN", "FL921", 2, "RUN has no arguments"),
            ("FROM a as", "FL921", 1, "FROM has 'a as'"),
            ("FROM a AS b c", "FL921", 1, "FROM has 'a AS b c'"),
            (
                "FROM ${A",
                "FL921",
                1,
                "'${A' of FROM cannot be resolved: the value of A cannot be resolved",
            ),
        ],
    )
    def test_each_is_a_finding_with_its_line(
        self, text: str, code: str, line: int | None, message: str
    ) -> None:
        (finding,) = parse_sample(text).findings
        assert (finding.code, finding.line, finding.message) == (code, line, message)

    def test_a_word_that_is_almost_an_instruction_has_a_hint(self) -> None:
        (finding,) = parse_sample("FROM a\nCOPPY a b").findings
        assert finding.hint == "did you mean `COPY`?"

    def test_a_missing_file_names_what_to_write(self, tmp_path: Path) -> None:
        (finding,) = refusal(tmp_path).findings
        assert (finding.code, finding.file) == ("FL920", tmp_path)
        assert "ARG TRITON_IMAGE" in finding.hint

    def test_a_folder_a_pipe_and_a_link_are_no_dockerfiles(self, tmp_path: Path) -> None:
        (tmp_path / "a/Dockerfile").mkdir(parents=True)
        (tmp_path / "b").mkdir()
        os.mkfifo(tmp_path / "b/Dockerfile")
        image_folder(tmp_path / "c", START)
        (tmp_path / "d").mkdir()
        (tmp_path / "d/Dockerfile").symlink_to(tmp_path / "c/Dockerfile")
        assert [refusal(tmp_path / item).findings[0].code for item in "abd"] == ["FL920"] * 3

    @pytest.mark.parametrize(
        ("content", "line", "message"),
        [
            (b"FROM a\nRUN \0", 2, "the Dockerfile contains a NUL byte, so it is not text"),
            (b"FROM a\n\nRUN \xff", 3, "the Dockerfile is not in UTF-8"),
            (b"#" * (MAX_DOCKERFILE_BYTES + 1), None, "the Dockerfile is larger than 1 MiB"),
        ],
    )
    def test_what_is_no_text_is_refused(
        self, tmp_path: Path, content: bytes, line: int | None, message: str
    ) -> None:
        image_folder(tmp_path, "", {"Dockerfile": content})
        (finding,) = refusal(tmp_path).findings
        assert (finding.code, finding.line, finding.message) == ("FL921", line, message)
