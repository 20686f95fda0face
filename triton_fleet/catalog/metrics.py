"""CloudWatch metrics by what they measure, with the names under which they are published."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeAlias

from triton_fleet.catalog.data_file import data_file

Unit: TypeAlias = Literal["Microseconds", "None", "Percent"]
"""Units of the catalog's metrics, as CloudWatch spells them."""


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A metric of an endpoint's variant.

    Attributes:
        dimensions: Their names; one value of each makes one line.
        kinds: The endpoints that have it: "all", or of mode "multi-model", or on "gpu" instances.
        adds_up: "gpus" or "vcpus" where it adds up an instance's, 0 to 100 for each; else empty.
        predefined_type: Its name among the predefined metrics of Application Auto Scaling; empty without one.
        local: Whether the local endpoint can publish it.
        utilization: Whether the endpoint's MetricsConfig sets how often it is published.
    """

    namespace: str
    name: str
    unit: Unit
    dimensions: tuple[str, ...]
    kinds: tuple[str, ...]
    adds_up: str
    predefined_type: str
    local: bool
    utilization: bool


@cache
def endpoint_metric(measure: str) -> Metric:
    """SageMaker's metric of a measure, such as `model_latency`.

    Raises:
        KeyError: the catalog does not have it.
    """
    data = data_file("metrics.yaml")
    facts = {**data["defaults"], **data["metrics"][measure]}
    lists: dict[str, Any] = {key: tuple(facts.pop(key)) for key in ("dimensions", "kinds")}
    return Metric(**facts, **lists)


@cache
def utilization_measures() -> frozenset[str]:
    """The measures whose frequency the endpoint's MetricsConfig sets."""
    measures = data_file("metrics.yaml")["metrics"]
    return frozenset(measure for measure in measures if endpoint_metric(measure).utilization)


def instance_namespace() -> str:
    """The namespace that SageMaker publishes with the endpoint's execution role: use of the instances."""
    return str(data_file("metrics.yaml")["instances"]["namespace"])


def granted_namespace() -> str:
    """The namespaces of CloudWatch that the role has to be granted for that, as a pattern of a policy."""
    return str(data_file("metrics.yaml")["instances"]["granted"])


@dataclass(frozen=True, kw_only=True)
class TritonMetric:
    """A metric of Triton's own.

    Attributes:
        labels: Triton's labels on its series.
        kinds: The endpoints that have it: "all", or on "gpu" instances.
        local: Whether the local endpoint can publish it.
    """

    name: str
    labels: tuple[str, ...]
    kinds: tuple[str, ...]
    local: bool


@cache
def triton_series(measure: str) -> TritonMetric:
    """The facts about Triton's own metric of a measure, such as `queue_time`.

    Raises:
        KeyError: the catalog does not have it.
    """
    data = data_file("metrics.yaml")
    facts = {**data["triton_defaults"], **data["triton"][measure]}
    lists: dict[str, Any] = {key: tuple(facts.pop(key)) for key in ("labels", "kinds")}
    return TritonMetric(**facts, **lists)


def triton_metric(measure: str) -> str:
    """The name of Triton's own metric of a measure.

    Raises:
        KeyError: the catalog does not have it.
    """
    return triton_series(measure).name


@cache
def triton_labels() -> frozenset[str]:
    """Every label that Triton itself gives to one of the catalog's metrics."""
    return frozenset(
        label for measure in data_file("metrics.yaml")["triton"] for label in triton_series(measure).labels
    )


@cache
def never_local() -> frozenset[str]:
    """The names of the metrics, SageMaker's and Triton's, that the local endpoint cannot publish."""
    data = data_file("metrics.yaml")
    metrics: list[Metric | TritonMetric] = [endpoint_metric(measure) for measure in data["metrics"]]
    metrics += [triton_series(measure) for measure in data["triton"]]
    return frozenset(metric.name for metric in metrics if not metric.local)
