"""Whether archives are where their Models load them from."""

from __future__ import annotations

from collections.abc import Iterator

from botocore.exceptions import ClientError

from triton_fleet.aws.preflight.check_result import CheckResult
from triton_fleet.aws.preflight.subject import Subject
from triton_fleet.awsapi.errors import NO_BUCKET
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint
from triton_fleet.findings import Finding
from triton_fleet.spec.source import moved_to
from triton_fleet.store.archive_requirements import ArchiveRequirement, missing_in_endpoints

NAMED = 3
"""How many missing archives are named; an endpoint may have thousands."""


def artifacts(subject: Subject) -> Iterator[CheckResult]:
    """The archives of each endpoint; missing ones only warn, as a deploy publishes them."""
    s3, deployment = subject.access.client("s3"), subject.deployment
    for endpoint in subject.endpoints:
        what, count = f"artifacts {endpoint.name}", len(endpoint.archives)
        try:
            missing, taken = missing_in_endpoints(s3, deployment.bucket, [endpoint])
        except ClientError as error:
            if error.response["Error"]["Code"] != NO_BUCKET:
                raise
            text = f"none of {count}: the bucket {deployment.bucket} does not exist yet"
            finding = _missing_finding(
                subject, endpoint, f"the bucket {deployment.bucket} does not exist yet"
            )
            yield CheckResult(what=what, text=text, findings=(finding,))
            continue
        mark = subject.specs[endpoint.name].source.mark(("models",))
        findings = [moved_to(mark, each) for each in taken]
        if missing:
            text = f"{len(missing)} of {count} not published: {_names_of(missing)}"
            findings.append(_missing_finding(subject, endpoint, text))
        there = f"{count - len(missing) - len(taken)} of {count} in {endpoint.model_data_url}"
        yield CheckResult(what=what, text=there, findings=tuple(findings))


def _missing_finding(subject: Subject, endpoint: ResolvedEndpoint, why: str) -> Finding:
    name, environment = endpoint.name, subject.deployment.environment
    message = f"the Model of {name} cannot load its archives yet: {why}"
    hint = (
        f"`fleet deploy` and `fleet publish --env {environment} {name}` publish them;"
        " `cdk deploy` alone would fail"
    )
    return subject.of_spec(name, ("models",), "FL629", message, hint, warns=True)


def _names_of(missing: list[ArchiveRequirement]) -> str:
    names = [each.artifact.archive for each in missing[:NAMED]]
    more = len(missing) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")
