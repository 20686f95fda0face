"""Any Dockerfile is read, and hostile ones as fast as others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.fleet_folder import ROOT
from tests.support.image_builds import ENVIRONMENT, SPEC, START, image_findings, image_folder, parse_sample
from triton_fleet.builds.images.check import check_image
from triton_fleet.builds.images.context import BuildContext
from triton_fleet.builds.images.dockerfile import MAX_DOCKERFILE_BYTES
from triton_fleet.builds.images.ignore_file import IgnoreFile
from triton_fleet.builds.images.inputs import ImageInputs
from triton_fleet.builds.images.instruction import KEYWORDS
from triton_fleet.builds.images.lines import MAX_SHOWN_CHARACTERS
from triton_fleet.spec.endpoint import Mode
from triton_fleet.spec.source import MAX_FINDINGS, Mark

SHARED_FOLDER = ROOT.parent / "shared"
REAL = [
    file
    for folder in ("corpus", "seeds")
    for file in sorted((SHARED_FOLDER / folder).rglob("*[Dd]ockerfile*"))
]
WORDS = st.text(
    alphabet=st.characters(exclude_categories=("C", "Z"), exclude_characters="\\`\"'$<#["), min_size=1
)
LINES = st.one_of(
    st.text(max_size=40),
    st.builds(
        "{} {}".format,
        st.sampled_from(sorted(KEYWORDS)),
        st.text(alphabet="aB=:/.$\\{}\"'<-[]\t #`\r", max_size=40),
    ),
    st.sampled_from(
        ["# escape=`", "RUN <<EOF", "EOF", "\\", "ARG A=${A}", "FROM $A AS b", "ONBUILD RUN <<A"]
    ),
)


@given(st.lists(LINES, max_size=12).map("\n".join))
def test_every_text_is_read(text: str) -> None:
    dockerfile = parse_sample(text)
    lines = text.count("\n") + 1
    assert all(1 <= instruction.line <= lines for instruction in dockerfile.instructions)
    assert [stage.index for stage in dockerfile.stages] == list(range(len(dockerfile.stages)))
    assert all(finding.message and (finding.line or 1) <= lines for finding in dockerfile.findings)
    assert dockerfile.stages or any(finding.code == "FL922" for finding in dockerfile.findings)
    assert set(dockerfile.lineage) <= set(dockerfile.stages)


@given(st.lists(LINES, max_size=12).map("\n".join), st.dictionaries(st.text(), st.text(), max_size=2))
def test_every_text_is_checked(text: str, arguments: dict[str, str]) -> None:
    inputs = ImageInputs(
        dockerfile=parse_sample(f"{START}{text}", **arguments),
        context=BuildContext(ROOT, (), IgnoreFile(ROOT / ".dockerignore")),
        release="25.04",
        environment=ENVIRONMENT,
        argument_mark=lambda _: Mark(SPEC, 1, 1),
        mode=Mode.MULTI_MODEL,
    )
    assert all(finding.message and finding.file for finding in check_image(inputs))


@given(
    st.lists(st.tuples(st.sampled_from(["RUN", "USER", "WORKDIR"]), st.lists(WORDS, min_size=1)), max_size=8),
    st.sampled_from([" ", " \\\n", " \\\n# comment\n  ", "\t\\\r\n\n"]),
)
def test_instructions_that_are_written_are_read_again(
    instructions: list[tuple[str, list[str]]], separator: str
) -> None:
    text = "".join(f"{keyword} {separator.join(words)}\n" for keyword, words in instructions)
    read = parse_sample(f"FROM a\n{text}").instructions[1:]
    assert [(instruction.keyword, instruction.raw.split()) for instruction in read] == instructions


@given(st.lists(st.text(), min_size=1, max_size=5))
def test_the_exec_form_keeps_every_string(arguments: list[str]) -> None:
    (_, read) = parse_sample(f"FROM a\nENTRYPOINT {json.dumps(arguments)}\n").instructions
    assert (read.arguments, read.exec_form) == (tuple(arguments), True)


def full(line: str) -> str:
    """As many lines as a Dockerfile may have bytes."""
    return line * (MAX_DOCKERFILE_BYTES // len(line.encode()) - 1)


HOSTILE = {
    "stages of one name": full("FROM a AS a\n"),
    "stages that are copied": full("FROM a AS b\nCOPY --from=b . .\n"),
    "sources": f"FROM a\nCOPY {full('http://x ')} y",
    "downloads": f"FROM a\nADD {full('http://x ')} y",
    "a deep path": f"FROM a\nCOPY {full('a/')} y",
    "a path that leads out": f"FROM a\nCOPY {full('../')} y",
    "here-documents without an end": f"FROM a\nRUN {full('<<a ')}\n",
    "almost here-documents": f"FROM a\nRUN {full('<<a<<')}\n",
    "assignments": f"FROM a\nENV {full('a=')}\n",
    "dollars": f"FROM a\nENV A={full('$')}\n",
    "nested defaults": f"FROM a\nENV A={full('${A:-')}\n",
    "almost passwords": f"FROM a\nRUN {full('//a:')}\n",
    "almost private keys": f"FROM a\nRUN {full('-----BEGIN ')}\n",
    "nested arrays": f"FROM a\nRUN [{full('[')}\n",
    "one continued line": f"FROM a\nRUN {full('x ' + chr(92) + chr(10))}\n",
    "quotes": f"FROM a\nLABEL {full(chr(34) + chr(39))}\n",
    "a long base": f"FROM {full('a')}\n",
    "a long user": f"FROM a\nUSER {full('b')}\n",
    "unknown words": full("x\n"),
    "a long word": full("y") + "\n",
    "arguments of themselves": full("ARG A0=$A0\n") + "FROM $A0",
    "values that grow": "FROM a\n" + full("ENV A=$A$A$A$A\n"),
    "wildcards": "FROM a\n" + full("COPY * .\n"),
}


@pytest.mark.nightly
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_dockerfile_is_read_and_its_messages_stay_short(tmp_path: Path, text: str) -> None:
    findings = image_findings(image_folder(tmp_path, text[:MAX_DOCKERFILE_BYTES]))
    assert len(findings) <= 7 * MAX_FINDINGS
    assert all(len(finding.message) < 4 * MAX_SHOWN_CHARACTERS for finding in findings)
    assert all(len(finding.hint) < 8 * MAX_SHOWN_CHARACTERS for finding in findings)


@pytest.mark.parametrize(
    "file",
    REAL
    or [
        pytest.param(None, marks=pytest.mark.skip(reason=f"no Dockerfiles of others are in {SHARED_FOLDER}"))
    ],
    ids=str,
)
def test_real_dockerfiles_are_read_without_a_finding(file: Path) -> None:
    assert parse_sample(file.read_text()).findings == ()
