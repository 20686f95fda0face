"""Folders of images of one's own, and what the checks find in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from triton_fleet.builds.images.check import check_image
from triton_fleet.builds.images.context import read_context
from triton_fleet.builds.images.dockerfile import Dockerfile, parse_dockerfile, read_dockerfile
from triton_fleet.builds.images.inputs import ImageInputs
from triton_fleet.findings import Finding
from triton_fleet.spec.endpoint import Mode
from triton_fleet.spec.environment import Environment
from triton_fleet.spec.source import Mark

TRITON = "785573368785.dkr.ecr.us-east-1.amazonaws.com/sagemaker-tritonserver:25.04-py3"
DIGEST = f"sha256:{'0' * 64}"
ENVIRONMENT = Environment(environment="dev", account="111122223333", region="us-east-1")
START = "ARG TRITON_IMAGE\nFROM ${TRITON_IMAGE}\n"
SPEC = Path("model_specs/detector.yaml")


def image_folder(folder: Path, dockerfile: str, files: Mapping[str, str | bytes] | None = None) -> Path:
    """A folder with a Dockerfile and further files by their paths."""
    for path, content in {"Dockerfile": dockerfile, **(files or {})}.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def parse_sample(text: str, /, **arguments: str) -> Dockerfile:
    """A Dockerfile's text, read with build arguments."""
    return parse_dockerfile(text, Path("Dockerfile"), triton_image=TRITON, arguments=arguments)


def image_findings(
    folder: Path,
    *,
    release: str = "25.04",
    arguments: Mapping[str, str] | None = None,
    mode: Mode = Mode.SINGLE,
    allowed_lines: Sequence[str] = ("docker.io", "evil.example", "nvcr.io", "ghcr.io"),
) -> list[Finding]:
    """Findings of a folder; the n-th build argument is at line n of the spec.

    Images of the `allowed` registries may be read.
    """
    given_arguments = dict(arguments or {})
    return check_image(
        ImageInputs(
            dockerfile=read_dockerfile(folder, triton_image=TRITON, arguments=given_arguments),
            context=read_context(folder),
            release=release,
            environment=ENVIRONMENT.model_copy(update={"allowed_registries": tuple(allowed_lines)}),
            argument_mark=lambda name: Mark(SPEC, list(given_arguments).index(name) + 1, 3),
            mode=mode,
        )
    )


def short_rows(findings: list[Finding]) -> list[tuple[str, int | None, str]]:
    """Code, line and severity of each finding."""
    return [(finding.code, finding.line, finding.severity.value) for finding in findings]
