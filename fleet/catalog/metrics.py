"""CloudWatch metrics by what they measure, with the names under which they are published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from fleet.catalog.data_file import data_file

Unit: TypeAlias = Literal["Microseconds", "None", "Percent"]
"""Units of the catalog's metrics, as CloudWatch spells them."""


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A metric of an endpoint's variant, with the dimensions EndpointName and VariantName."""

    namespace: str
    name: str
    unit: Unit


def endpoint_metric(measure: str) -> Metric:
    """SageMaker's metric of a measure, such as `model_latency`.

    Raises:
        KeyError: the catalog does not have it.
    """
    return Metric(**data_file("metrics.yaml")["metrics"][measure])


def triton_metric(measure: str) -> str:
    """The name of Triton's own metric of a measure, such as `queue_time`.

    Raises:
        KeyError: the catalog does not have it.
    """
    return str(data_file("metrics.yaml")["triton"][measure])
