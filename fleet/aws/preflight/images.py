"""Whether the container images are there to be pulled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from botocore.exceptions import ClientError

from fleet.aws.preflight.seen import Seen
from fleet.aws.preflight.subject import Subject
from fleet.catalog.images import Image

NO_REPOSITORY = "RepositoryNotFoundException"


def images(subject: Subject) -> Iterator[Seen]:
    """Each image once: its registry lets this account read the manifest, which a pull begins with.

    The caller asks. An endpoint's own role is granted the same by its stack.
    """
    ecr = subject.access.client("ecr")
    by_uri: dict[str, tuple[Image, list[str]]] = {}
    for endpoint in subject.endpoints:
        by_uri.setdefault(endpoint.image.uri, (endpoint.image, []))[1].append(endpoint.name)
    for uri, (image, names) in by_uri.items():
        refusal = _refusal(ecr, image)
        if refusal is None:
            yield Seen(what="image", text=f"{uri} is there")
            continue
        message = f"{uri} cannot be pulled: {refusal}"
        hint = f"write another release for `triton`, of which {subject.place.region} has an image"
        findings = [subject.of_spec(name, ("triton",), "FL628", message, hint) for name in names]
        yield Seen(what="image", text=f"{uri}: {refusal}", findings=tuple(findings))


def _refusal(ecr: Any, image: Image) -> str | None:
    try:
        answer = ecr.batch_get_image(
            registryId=image.account, repositoryName=image.repository, imageIds=[{"imageTag": image.tag}]
        )
    except ClientError as error:
        if error.response["Error"]["Code"] != NO_REPOSITORY:
            raise
        return str(error.response["Error"]["Message"])
    if answer["images"]:
        return None
    failures = [f"{each.get('failureReason', '')} ({each['failureCode']})" for each in answer["failures"]]
    return "; ".join(failures) or "the registry says nothing of it"
