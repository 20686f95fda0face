"""What rules take: a model, the models of a repository, an image, an endpoint, an instance pool."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from fleet.endpoint.context.context import EndpointContext
from fleet.endpoint.context.machines import OWN_VARIANT, Machine
from fleet.endpoint.context.models import ModelContext, ModelsContext
from fleet.endpoint.context.own_image import ImageContext

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Scope(Generic[T]):
    """What a rule takes.

    Attributes:
        words: As docs/rules.md names it.
        of_endpoint: What there is of it in an endpoint, on one of its instance types.
        of_models: What there is of it in a repository that no spec names.
        machines: Those of an endpoint's instance types, its spec's own first, that the rule looks at.
    """

    words: str
    of_endpoint: Callable[[EndpointContext], Iterable[T]]
    of_models: Callable[[ModelsContext], Iterable[T]] = lambda _: ()
    machines: Callable[[Sequence[Machine]], Sequence[Machine]] = lambda machines: machines[:1]


def _endpoint(endpoint: EndpointContext) -> tuple[EndpointContext]:
    return (endpoint,)


def _image(endpoint: EndpointContext) -> tuple[ImageContext, ...]:
    facts, spec = endpoint.own_image_facts, endpoint.spec
    return () if facts is None else (ImageContext(facts=facts, mode=spec.mode, triton=spec.triton),)


def _models(endpoint: EndpointContext) -> tuple[ModelsContext]:
    return (endpoint.models_context,)


def _single_models(endpoint: EndpointContext) -> Iterable[ModelContext]:
    return endpoint.models_context.single_models()


def _all_models(models: ModelsContext) -> tuple[ModelsContext]:
    return (models,)


def _first_of_variants(machines: Sequence[Machine]) -> Sequence[Machine]:
    return list({each.variant: each for each in reversed(machines)}.values())[::-1]


def _of_own_variant(machines: Sequence[Machine]) -> Sequence[Machine]:
    return [each for each in machines if each.variant == OWN_VARIANT]


def _with_model(machines: Sequence[Machine]) -> Sequence[Machine]:
    return [each for each in machines if each.runs_model]


def _all_machines(machines: Sequence[Machine]) -> Sequence[Machine]:
    return machines


MODEL = Scope(words="a model", of_endpoint=_single_models, of_models=ModelsContext.single_models)
MODEL_ON_INSTANCE = Scope(
    words="a model on an instance type",
    of_endpoint=_single_models,
    of_models=ModelsContext.single_models,
    machines=_with_model,
)
MODELS = Scope(words="the models of a repository", of_endpoint=_models, of_models=_all_models)
MODELS_ON_INSTANCE = Scope(
    words="the models of a repository on an instance type",
    of_endpoint=_models,
    of_models=_all_models,
    machines=_with_model,
)
IMAGE = Scope(words="an image", of_endpoint=_image)
"""An image of the spec's own, once the lock knows its contents."""
ENDPOINT = Scope(words="an endpoint", of_endpoint=_endpoint)
"""On its spec's own instance type."""
VARIANT = Scope(words="a variant of an endpoint", of_endpoint=_endpoint, machines=_first_of_variants)
"""On its first instance type."""
POOL = Scope(words="an instance pool", of_endpoint=_endpoint, machines=_of_own_variant)
"""The endpoint on each instance type of the spec's own variant, as it is scaled and updated."""
CONTAINER = Scope(words="a container on an instance type", of_endpoint=_endpoint, machines=_with_model)
"""The endpoint on each instance type on which the model of the spec runs."""
INSTANCE_TYPE = Scope(words="an instance type", of_endpoint=_endpoint, machines=_all_machines)
"""The endpoint on each of its instance types, whatever runs there."""
