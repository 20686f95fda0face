"""Dashboards of endpoints that a few keys describe, and what is on them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from triton_fleet.endpoint.dashboard.body import dashboard_body
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint

NAMESPACES = ("AWS/SageMaker", "/aws/sagemaker/Endpoints")


@dataclass(frozen=True)
class Dashboard:
    """The body of an endpoint's dashboard."""

    endpoint: ResolvedEndpoint
    body: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "body", dashboard_body(self.endpoint))

    @cached_property
    def widgets(self) -> list[dict[str, Any]]:
        return list(self.body["widgets"])

    @cached_property
    def graphs(self) -> dict[str, dict[str, Any]]:
        """The properties of each graph, by its title."""
        graphs = [each["properties"] for each in self.widgets if each["type"] == "metric"]
        return {each["title"]: each for each in graphs}

    @cached_property
    def texts(self) -> list[str]:
        return [each["properties"]["markdown"] for each in self.widgets if each["type"] == "text"]

    def lines(self, title: str) -> dict[str, str]:
        """What a graph shows, by its label: an expression, or a metric with its statistic."""
        return {
            options["label"]: options.get("expression", f"{' '.join(path[1:2])} {options.get('stat')}")
            for *path, options in self.graphs[title]["metrics"]
            if options.get("visible", True)
        }

    def metrics(self) -> set[tuple[str, str]]:
        """Namespace and name of each of SageMaker's metrics that is named."""
        return {(path[0], path[1]) for path in self._paths() if path}

    def expressions(self) -> list[str]:
        found = [line[-1].get("expression") for graph in self.graphs.values() for line in graph["metrics"]]
        return [each for each in found if each]

    def annotations(self) -> dict[str, list[tuple[float, str, str]]]:
        """Value, label and colour of each annotation, by its graph."""
        return {
            title: [(each["value"], each["label"], each["color"]) for each in held["horizontal"]]
            for title, graph in self.graphs.items()
            if (held := graph.get("annotations"))
        }

    def _paths(self) -> Iterator[list[str]]:
        for graph in self.graphs.values():
            yield from (line[:-1] for line in graph["metrics"])
