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
        graphs = [widget["properties"] for widget in self.widgets if widget["type"] == "metric"]
        return {graph["title"]: graph for graph in graphs}

    @cached_property
    def texts(self) -> list[str]:
        return [widget["properties"]["markdown"] for widget in self.widgets if widget["type"] == "text"]

    def lines(self, title: str) -> dict[str, str]:
        """Metrics of a graph, by label: an expression, or a metric with its statistic."""
        return {
            options["label"]: options.get("expression", f"{' '.join(path[1:2])} {options.get('stat')}")
            for *path, options in self.graphs[title]["metrics"]
            if options.get("visible", True)
        }

    def metrics(self) -> set[tuple[str, str]]:
        """Namespace and name of each of SageMaker's metrics that is named."""
        return {(path[0], path[1]) for path in self._paths() if path}

    def expressions(self) -> list[str]:
        actual_expressions = [
            line[-1].get("expression") for graph in self.graphs.values() for line in graph["metrics"]
        ]
        return [actual_expression for actual_expression in actual_expressions if actual_expression]

    def annotations(self) -> dict[str, list[tuple[float, str, str]]]:
        """Value, label and colour of each annotation, by its graph."""
        return {
            title: [
                (entry["value"], entry["label"], entry["color"]) for entry in held_annotations["horizontal"]
            ]
            for title, graph in self.graphs.items()
            if (held_annotations := graph.get("annotations"))
        }

    def _paths(self) -> Iterator[list[str]]:
        for graph in self.graphs.values():
            yield from (line[:-1] for line in graph["metrics"])
