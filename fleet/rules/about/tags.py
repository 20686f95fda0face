"""Rules about an endpoint's tags."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.catalog.limits import limit
from fleet.endpoint.context.context import EndpointContext
from fleet.endpoint.context.tags import endpoint_tags
from fleet.rules.rule import Problem, rule


@rule("FL344", source="https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_AddTags.html")
def too_many_tags(endpoint: EndpointContext) -> Iterator[Problem]:
    """The tags of spec, environment and product together do not exceed AWS's limit for a resource.

    SageMaker and IAM accept 50.
    """
    count, most = len(endpoint_tags(endpoint.environment, endpoint.spec)), limit("tags")
    if endpoint.spec.tags and count > most:
        message = (
            f"together with the tags of the environment and the product, these are {count} tags; a resource"
            f" accepts {most}"
        )
        yield Problem(("tags",), message, "remove some")


@rule("FL345", source="https://docs.aws.amazon.com/IAM/latest/UserGuide/id_tags.html")
def case_variant_tags(endpoint: EndpointContext) -> Iterator[Problem]:
    """No two tags differ only in upper and lower case.

    IAM treats `Team` and `team` as one key and refuses a role that has both.
    """
    known: dict[str, str] = {key.lower(): key for key in endpoint.environment.tags}
    for key in endpoint.spec.tags:
        other = known.setdefault(key.lower(), key)
        if other != key:
            message = f"the tags {other!r} and {key!r} are the same to IAM, which refuses a role with both"
            yield Problem(("tags", key), message, f"write {other!r}")
