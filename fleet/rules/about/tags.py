"""Rules about an endpoint's tags."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.catalog.limits import limit
from fleet.endpoint.context.context import EndpointContext
from fleet.endpoint.context.tags import endpoint_tags
from fleet.rules.rule import Problem, rule


@rule("FL344", source="https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_AddTags.html")
def too_many_tags(endpoint: EndpointContext) -> Iterator[Problem]:
    """The spec, the environment and the product together set no more tags than a resource accepts.

    SageMaker and IAM accept 50.
    """
    count, most = len(endpoint_tags(endpoint.environment, endpoint.spec)), limit("tags")
    if endpoint.spec.tags and count > most:
        message = (
            f"with those of the environment and the product there are {count} tags;"
            f" a resource accepts at most {most}"
        )
        yield Problem(("tags",), message, "leave some out")


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
