"""Whether the container images are there to be pulled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from botocore.exceptions import ClientError

from fleet.aws.preflight.check_result import CheckResult
from fleet.aws.preflight.subject import Subject
from fleet.catalog.images import Image
from fleet.spec.environment import LOCAL

NO_REPOSITORY = "RepositoryNotFoundException"


def images(subject: Subject) -> Iterator[CheckResult]:
    """Each image once: its registry lets this account read the manifest, which a pull begins with.

    The caller asks. An endpoint's own role is granted the same by its stack.
    """
    ecr = subject.access.client("ecr")
    by_uri: dict[str, tuple[Image, list[str]]] = {}
    for endpoint in subject.endpoints:
        by_uri.setdefault(endpoint.image.uri, (endpoint.image, []))[1].append(endpoint.name)
    for uri, (image, names) in by_uri.items():
        digest, refusal = _digest(ecr, image)
        if not refusal:
            # The local registry's digests are stand-ins, for nobody to write into a spec.
            tells = image.digest is None and subject.place.environment != LOCAL
            yield CheckResult(what="image", text=f"{uri} is there" + (f", {digest}" if tells else ""))
            continue
        message, key = (
            f"{uri} cannot be pulled: {refusal}",
            "triton" if image.digest is None else "image_digest",
        )
        hint = f"write another release for `triton`, of which {subject.place.region} has an image"
        if image.digest is not None:
            hint = f"leave it out: preflight then tells the digest of {image.name.partition('@')[0]}"
        findings = [subject.of_spec(name, (key,), "FL628", message, hint) for name in names]
        yield CheckResult(what="image", text=f"{uri}: {refusal}", findings=tuple(findings))


def _digest(ecr: Any, image: Image) -> tuple[str, str]:
    """The image's digest, and why it cannot be pulled if so."""
    wanted = {"imageTag": image.tag} if image.digest is None else {"imageDigest": image.digest}
    try:
        answer = ecr.batch_get_image(
            registryId=image.account, repositoryName=image.repository, imageIds=[wanted]
        )
    except ClientError as error:
        if error.response["Error"]["Code"] != NO_REPOSITORY:
            raise
        return "", str(error.response["Error"]["Message"])
    if answer["images"]:
        return answer["images"][0]["imageId"]["imageDigest"], ""
    failures = [f"{each.get('failureReason', '')} ({each['failureCode']})" for each in answer["failures"]]
    return "", "; ".join(failures) or "the registry says nothing of it"
