"""A build reads only images of Triton and of registries that the environment allows, and none that fleets built.

The spellings and the order in which BuildKit reads flags, mounts and here-documents are those of
moby/buildkit, frontend/dockerfile.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.image_builds import DIGEST, START, TRITON, image_findings, image_folder
from triton_fleet.findings import Finding

HOST = "111122223333.dkr.ecr.us-east-1.amazonaws.com"
THEIRS = f"{HOST}/triton-fleet-dev@{DIGEST}"
ABOVE, FROM = START.splitlines(keepends=True)
EVIL = f"evil.example/x@{DIGEST}"


def findings(tmp_path: Path, text: str, allowed_lines: Sequence[str] = (), **arguments: str) -> list[Finding]:
    return image_findings(image_folder(tmp_path, text), arguments=arguments, allowed_lines=allowed_lines)


def errors(tmp_path: Path, text: str, allowed_lines: Sequence[str] = (), **arguments: str) -> set[str]:
    actual_findings = findings(tmp_path, text, allowed_lines, **arguments)
    return {
        actual_finding.code for actual_finding in actual_findings if actual_finding.severity.value == "error"
    }


@pytest.mark.parametrize(
    "text",
    [
        ABOVE + "FROM HERE AS theirs\n" + FROM + "COPY --from=theirs /models /models\n",
        ABOVE + "ARG PLACE=HERE\nFROM $PLACE AS theirs\n" + FROM,
        START + "COPY --from=HERE / /theirs\n",
        START + "RUN --mount=from=HERE,target=/theirs cp -r /theirs /x\n",
        START + "RUN --mount=type=bind,from=HERE,target=/theirs cp -r /theirs /x\n",
        START + "RUN --mount=type=cache,from=HERE,target=/theirs cp -r /theirs /x\n",
        START + "ONBUILD COPY --from=HERE / /theirs\n",
        START + "ONBUILD RUN --mount=from=HERE,target=/a x\n",
        START + "ADD --from=HERE / /theirs\n",
    ],
)
def test_no_instruction_reads_an_image_that_a_fleet_has_built(tmp_path: Path, text: str) -> None:
    actual_findings = [
        finding for finding in findings(tmp_path, text.replace("HERE", THEIRS)) if finding.code == "FL943"
    ]
    assert [actual_finding.severity.value for actual_finding in actual_findings] == ["error"]
    assert THEIRS[:100] in actual_findings[0].message
    assert actual_findings[0].hint == (
        "copy the files into the folder of the Dockerfile: no environment can allow such a repository"
    )


@pytest.mark.parametrize(
    "image",
    [
        f"{HOST}/triton-fleet-dev:{'a' * 64}",
        f"{HOST}/triton-fleet-dev-0123abcd@{DIGEST}",
        f"{HOST}/triton-fleet-prod@{DIGEST}",
        f"{HOST}:443/triton-fleet-dev@{DIGEST}",
        f"{HOST.upper()}/triton-fleet-dev@{DIGEST}",
        f"111122223333.dkr.ecr.eu-west-1.amazonaws.com/triton-fleet-dev@{DIGEST}",
        f"111122223333.dkr.ecr-fips.us-east-1.amazonaws.com/triton-fleet-dev@{DIGEST}",
        f"111122223333.dkr-ecr.us-east-1.on.aws/triton-fleet-dev@{DIGEST}",
        f"111122223333.dkr-ecr-fips.us-east-1.on.aws/triton-fleet-dev@{DIGEST}",
        f"111122223333.dkr.ecr.cn-north-1.amazonaws.com.cn/triton-fleet-dev@{DIGEST}",
        f"{HOST}/a-mirror/triton-fleet-dev@{DIGEST}",
        f"evil.example/triton-fleet-dev@{DIGEST}",
    ],
)
def test_no_spelling_of_the_registry_reaches_it_and_no_environment_can_allow_it(
    tmp_path: Path, image: str
) -> None:
    allowed_names = ("111122223333", "evil.example", HOST, image.partition("/")[0])
    assert "FL943" in errors(tmp_path, f"{START}COPY --from={image} / /\n", allowed_names)


@pytest.mark.parametrize(
    "image",
    [
        "python:3.12-slim",
        "evil/sagemaker-tritonserver:25.04-py3",
        "docker.io/evil/x:1",
        "nvcr.io/nvidia/pytorch:25.04-py3",
        "nvcr.io/nvidia/tritonserver-evil:25.04-py3",
        f"{HOST}/base:1",
        "444455556666.dkr.ecr.us-east-1.amazonaws.com/base:1",
        "785573368785.dkr.ecr.us-east-1.amazonaws.com/pytorch-inference:2",
        "785573368785.dkr.ecr.us-east-1.amazonaws.com.evil.example/sagemaker-tritonserver:25.04-py3",
    ],
)
@pytest.mark.parametrize("text", [ABOVE + "FROM HERE AS data\n" + FROM, START + "COPY --from=HERE / /\n"])
def test_what_the_environment_does_not_allow_is_an_error(tmp_path: Path, image: str, text: str) -> None:
    assert "FL944" in errors(tmp_path, text.replace("HERE", f"{image}@{DIGEST}"))


@pytest.mark.parametrize(
    ("image", "entry"),
    [
        ("python:3.12-slim", "docker.io/library"),
        ("docker.io/grafana/loki:3", "docker.io/grafana"),
        ("ghcr.io/astral-sh/uv:0.8", "ghcr.io/astral-sh"),
        ("registry.example.com:5000/base:1", "registry.example.com:5000"),
        ("444455556666.dkr.ecr.us-east-1.amazonaws.com/base:1", '"444455556666"'),
    ],
)
def test_the_hint_is_the_line_of_the_environment_that_allows_it(
    tmp_path: Path, image: str, entry: str
) -> None:
    text = f"{ABOVE}FROM {image}@{DIGEST} AS data\n{FROM}"
    (finding,) = findings(tmp_path, text)
    assert (finding.code, finding.line) == ("FL944", 2)
    assert finding.hint == (
        f"add {entry} to `allowed_registries` in environments/dev.yaml: a spec cannot `allow` it"
    )
    assert findings(tmp_path, text, [entry.strip('"')]) == []


def test_the_own_account_has_nothing_that_a_build_may_pull(tmp_path: Path) -> None:
    (finding,) = findings(tmp_path, f"{ABOVE}FROM {HOST}/base@{DIGEST} AS data\n{FROM}", ["111122223333"])
    assert finding.code == "FL944"
    assert finding.hint.endswith("builds may not pull from the environment's account")


@pytest.mark.parametrize(
    "image",
    [
        f"nvcr.io/nvidia/tritonserver:25.04-py3@{DIGEST}",
        f"{TRITON}@{DIGEST}",
        "scratch",
    ],
)
def test_triton_and_nothing_at_all_are_always_allowed(tmp_path: Path, image: str) -> None:
    assert findings(tmp_path, f"{ABOVE}FROM {image} AS data\n{FROM}COPY --from=data / /\n") == []


@pytest.mark.parametrize(
    "text",
    [
        START + 'COPY --fr"om"=HERE / /x\n',
        START + "COPY --fr\\om=HERE / /x\n",
        START + "COPY --from='HERE' / /x\n",
        START + "COPY --chown=1:\u00e0--from=HERE / /x\n",
        "# escape=`\n" + START + 'COPY --chown="`" --from=HERE / /x\n',
        START + 'RUN --mount=type=bind,\\"from=HERE\\",target=/x x\n',
        START + "RUN --mount=type=bind,FROM=HERE,target=/x x\n",
        START + "RUN true \\\n\x1c# a comment to some\nCOPY --from=HERE / /x\n",
        START + 'RUN ["true"] <<EOF\nCOPY --from=HERE / /x\nRUN true \\\nEOF\n',
        START + 'RUN <<"RUN true"\nCOPY --from=HERE / /x\nRUN true\n',
        START + "RUN <<#\nCOPY --from=HERE / /x\n#\n",
        START + "COPY --from HERE / /x\n",
        START + "RUN --mount type=bind,from=HERE,target=/x x\n",
        "ARG X\n" + START + "COPY --from=${X:-HERE} / /x\n",
    ],
)
def test_what_builders_read_in_another_way_than_people_is_an_error(tmp_path: Path, text: str) -> None:
    assert errors(tmp_path, text.replace("HERE", EVIL))


@pytest.mark.parametrize("name", ["TARGETVARIANT", "TARGETSTAGE", "BUILDPLATFORM"])
def test_no_build_argument_replaces_a_value_of_buildkit_in_a_from(tmp_path: Path, name: str) -> None:
    text = f"{ABOVE}FROM ${{{name}:-{TRITON}}} AS data\n{FROM}"
    assert "FL942" in errors(tmp_path, text, **{name: EVIL})


@pytest.mark.parametrize("count", [150, 3000])
def test_no_number_of_warnings_hides_one(tmp_path: Path, count: int) -> None:
    doubtful = "ADD https://example.com/a /a\n" * count
    assert errors(tmp_path, f"{START}{doubtful}COPY --from={EVIL} / /\n")
    stages = f"FROM {TRITON}-cpu AS data\n" * count
    assert errors(tmp_path, f"{ABOVE}{stages}FROM {EVIL} AS evil\n{FROM}")
