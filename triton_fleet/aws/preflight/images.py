"""Whether the container images can be pulled, and are of the releases that specs name."""

from __future__ import annotations

from collections.abc import Iterator

from triton_fleet.aws.preflight.check_result import CheckResult
from triton_fleet.aws.preflight.subject import Subject
from triton_fleet.awsapi.images.pinned_release import pinned_release_findings
from triton_fleet.awsapi.images.reference import image_reference
from triton_fleet.awsapi.images.registry import requested_image
from triton_fleet.awsapi.images.repository_policy import RolePull, role_pull
from triton_fleet.catalog.images import Image
from triton_fleet.context.own_image import NOT_BUILT
from triton_fleet.spec.environment import LOCAL


def images(subject: Subject) -> Iterator[CheckResult]:
    """Each image once: whether this account can read its manifest, with which a pull begins.

    The caller's credentials are used. An endpoint's stack grants its role the same; what the repository of
    another account grants, its policy shows where it can be read.
    """
    ecr = subject.access.client("ecr")
    by_uri: dict[str, tuple[Image, list[str]]] = {}
    pulled = set(subject.specs)
    limits = subject.image_limits() if subject.access.is_local_fleet else {}
    for endpoint in subject.endpoints:
        by_uri.setdefault(endpoint.image.uri, (endpoint.image, []))[1].append(endpoint.name)
    for uri, (image, names) in by_uri.items():
        if limited := tuple(limits[name] for name in names if name in limits):
            yield CheckResult(what="image", text=f"{uri}: not served on this machine", findings=limited)
            continue
        found, refusal = requested_image(ecr, image_reference(uri))
        if found is not None:
            digest = found["imageId"]["imageDigest"]
            # The local registry's digests are stand-ins and do not belong in a spec.
            is_digest_shown = image.digest is None and subject.deployment.environment != LOCAL
            text = f"{uri} exists" + (f", {digest}" if is_digest_shown else "")
            if image.is_own and image.account != subject.deployment.account:
                yield _foreign_image(subject, uri, names, text)
            else:
                yield CheckResult(what="image", text=text)
            continue
        if image.is_own and image.digest is None and image.tag != NOT_BUILT:
            yield CheckResult(what="image", text=f"{uri} is not built yet: the deploy builds it")
            continue
        message = f"{uri} cannot be pulled: {refusal}"
        key = "image" if image.is_own else "triton" if image.digest is None else "image_digest"
        hint = f"write a release for `triton` that has an image in {subject.deployment.region}"
        if image.is_own:
            build = f"fleet images build --env {subject.deployment.environment} {' '.join(names)}"
            hint = f"build it: `{build}`; or write the digest of an image that exists"
        elif image.digest is not None:
            hint = f"remove `image_digest`: preflight then shows the digest of {image.name.partition('@')[0]}"
        findings = [subject.of_spec(name, (key,), "FL628", message, hint) for name in names]
        pulled.difference_update(names)
        yield CheckResult(what="image", text=f"{uri}: {refusal}", findings=tuple(findings))
    specs = [each for name, each in subject.specs.items() if name in pulled]
    if doubts := pinned_release_findings(lambda: ecr, subject.project.environment, specs):
        text = "a digest in `image_digest` is not shown to be of its release"
        yield CheckResult(what="image", text=text, findings=tuple(doubts))


def _foreign_image(subject: Subject, uri: str, names: list[str], text: str) -> CheckResult:
    """Whether the endpoint's role may pull an image of another account, as its repository's policy shows."""
    account = subject.deployment.account
    pull = role_pull(subject.access.client("ecr"), image_reference(uri), account)
    findings = []
    if pull is not RolePull.YES:
        message = f"{uri}: {pull}"
        hint = f"allow `arn:aws:iam::{account}:root` to pull images in the policy of the repository"
        warns = pull is not RolePull.NO
        findings = [subject.of_spec(name, ("image",), "FL628", message, hint, warns=warns) for name in names]
    return CheckResult(what="image", text=f"{text}; {pull}", findings=tuple(findings))
