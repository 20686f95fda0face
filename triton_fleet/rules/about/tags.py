"""Rules about an endpoint's tags."""

from __future__ import annotations

from collections.abc import Iterator

from triton_fleet.catalog.limits import limit
from triton_fleet.context.context import EndpointContext, endpoint_tags
from triton_fleet.rules.rule import Problem, rule


@rule("FL344", source="https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_AddTags.html")
def too_many_tags(endpoint: EndpointContext) -> Iterator[Problem]:
    """The tags of spec, environment and product together do not exceed AWS's limit for a resource.

    SageMaker and IAM accept 50.
    """
    count, maximum = len(endpoint_tags(endpoint.environment, endpoint.spec)), limit("tags")
    if endpoint.spec.tags and count > maximum:
        message = (
            f"together with the tags of the environment and the product, these are {count} tags; a resource"
            f" accepts {maximum}"
        )
        yield Problem(("tags",), message, "remove some")


@rule("FL345", source="https://docs.aws.amazon.com/IAM/latest/UserGuide/id_tags.html")
def case_variant_tags(endpoint: EndpointContext) -> Iterator[Problem]:
    """No two tags differ only in upper and lower case.

    IAM treats `Team` and `team` as one key and refuses a role that has both.
    """
    keys: dict[str, str] = {key.lower(): key for key in endpoint.environment.tags}
    for key in endpoint.spec.tags:
        former = keys.setdefault(key.lower(), key)
        if former != key:
            message = f"the tags {former!r} and {key!r} are the same to IAM, which refuses a role with both"
            yield Problem(("tags", key), message, f"write {former!r}")


@rule(
    "FL571",
    source="https://docs.aws.amazon.com/IAM/latest/UserGuide/introduction_attribute-based-access-control.html",
    is_needed=True,
)
def protected_tag(endpoint: EndpointContext) -> Iterator[Problem]:
    """No spec, folder or profile sets a tag that the environment protects.

    An endpoint's tags are on its role, too, and policies may grant access by them. The environment's file
    alone gives the tags of its `protected_tags` their values, by `tags`, `defaults` and `overrides`. IAM
    compares keys without upper and lower case.
    """
    environment = endpoint.environment
    keys = {_without_case(key) for key in environment.protected_tags}
    own = dict[str, object](environment.tags)
    for tags in environment.own_values(endpoint.spec.endpoint, "tags"):
        own |= tags if isinstance(tags, dict) else {}
    actual = endpoint_tags(environment, endpoint.spec)
    for key in {**own, **actual}:
        if _without_case(key) in keys and actual.get(key) != own.get(key):
            change = f"the value {actual[key]!r}" if key in actual else "no value"
            message = f"the tag {key!r} gets {change}, and only {environment.file} may change it"
            yield Problem(("tags", key), message, f"leave it out, or ask who reviews {environment.file}")


def _without_case(key: str) -> str:
    """A key as any comparison without case may see it: a long s (U+017F) is an S, and so an s."""
    return key.upper().lower()
