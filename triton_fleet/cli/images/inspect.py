"""`fleet images inspect`: what a container image in Amazon ECR holds, read without Docker."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from triton_fleet.awsapi.errors import aws_errors_as_findings
from triton_fleet.awsapi.images.reference import ImageReference, image_reference
from triton_fleet.builds.images.facts import unknown_facts
from triton_fleet.cli.arguments import OutputFormat, Profile
from triton_fleet.cli.aws_access import access_to
from triton_fleet.cli.current_fleet import current_project
from triton_fleet.cli.output import say
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.printers.human import show_findings
from triton_fleet.printers.lines import print_json
from triton_fleet.store.progress import shown_size

if TYPE_CHECKING:
    from triton_fleet.awsapi.images.registry import RegistryImage

SHOWN_PACKAGES = 8
LABELS = {
    "architecture": "platform",
    "media_type": "manifest",
    "triton": "Triton",
    "server": "server",
    "cuda": "CUDA",
    "tensorrt": "TensorRT",
    "python": "Python",
    "backends": "backends",
    "packages": "Python packages",
    "multi_model": "multi-model label",
    "binds_to_port": "bind-to-port label",
    "serve": "starts with `serve`",
}
"""How a person is shown each fact."""


def inspect(
    uri: Annotated[
        str,
        typer.Argument(help="ACCOUNT.dkr.ecr.REGION.amazonaws.com/REPOSITORY, with :TAG or @sha256:DIGEST."),
    ],
    env: Annotated[
        str | None,
        typer.Option("--env", help="Use the credentials of this environment. Default: your AWS settings."),
    ] = None,
    profile: Profile = None,
    layers: Annotated[
        bool,
        typer.Option(
            "--layers", help="Also download the layers, to list backends and packages; they are not kept."
        ),
    ] = False,
    format: Annotated[OutputFormat, typer.Option("--format", help="Text or JSON.")] = OutputFormat.HUMAN,
) -> None:
    """Show the contents and digest of an image in Amazon ECR.

    Needs no Docker.
    """
    from triton_fleet.awsapi.images.registry import manifest_findings, read_image

    image = image_reference(uri)
    registry_image = read_image(_client(image, env, profile), image, layers=layers)
    if format is OutputFormat.JSON:
        print_json(_document(registry_image))
    else:
        for line in _lines(registry_image, layers=layers):
            say(line)
    if warnings := manifest_findings(registry_image):
        show_findings(warnings)


def _client(image: ImageReference, env: str | None, profile: str | None) -> Any:
    """A client of the registry, with an environment's access or the user's own AWS settings."""
    if env is None:
        import boto3  # slow, and rarely needed

        with aws_errors_as_findings():
            return boto3.Session(profile_name=profile, region_name=image.region).client("ecr")
    project = current_project(env)
    deployment = project.deployment
    if image.region != deployment.region:
        message = (
            f"{image.uri} is in {image.region}; {env} is in {deployment.region}, where SageMaker pulls images"
        )
        hint = f"push the image to a repository in {deployment.region}, or leave --env out"
        raise FindingsError([Finding(code="FL637", message=message, hint=hint)])
    return access_to(project, profile).client("ecr")


def _document(image: RegistryImage) -> dict[str, object]:
    return {
        "image": {"uri": image.image.uri, "digest": image.image.digest},
        "index": image.index or None,
        "size": image.size,
        "facts": image.facts.model_dump(mode="json"),
        "unknown": unknown_facts(image.facts),
        "unread": image.unread or None,
    }


def _lines(image: RegistryImage, *, layers: bool) -> Iterator[str]:
    facts, unknown = image.facts, unknown_facts(image.facts)
    yield f"{image.image.uri}, {shown_size(image.size)} compressed"
    if image.index:
        yield f"  in the index: {image.index}"
    for name, label in LABELS.items():
        if name not in unknown:
            yield f"  {label}: {shown_fact(getattr(facts, name))}"
    if unknown:
        names = ", ".join(LABELS[name] for name in unknown)
        yield f"  unknown: {names}{_remedy(image, layers=layers)}"
    yield ""
    yield f"image: {{uri: {image.image.uri}, digest: {image.image.digest}}}"


def _remedy(image: RegistryImage, *, layers: bool) -> str:
    if image.unread:
        return f"; {image.unread}"
    return "" if layers else f"; pass --layers to read them from the layers ({shown_size(image.size)})"


def shown_fact(value: object) -> str:
    """A fact as a person reads it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ", ".join(value) or "none"
    if isinstance(value, dict):
        versions = [f"{name} {version}" for name, version in list(value.items())[:SHOWN_PACKAGES]]
        more = len(value) - len(versions)
        return ", ".join(versions) + (f" and {more} more (--format json has all)" if more else "")
    return str(value)
