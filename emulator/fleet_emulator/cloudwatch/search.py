"""What SEARCH finds: metrics by their namespace, name and dimensions.

Source: "CloudWatch search expression syntax", Amazon CloudWatch User Guide.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from fleet_emulator.cloudwatch.store import Metric

_NAME = r'"([^"{}]+)"|([A-Za-z0-9_/]+)'
_SCHEMA = re.compile(r"\s*\{([^{}]*)\}")
_PART = re.compile(rf"\s*(?:{_NAME})\s*")
_TERM = re.compile(r'\s*([A-Za-z0-9_]+)="([^"]+)"')


class SearchError(Exception):
    """It is not supported here; the message states what is."""


@dataclass(frozen=True)
class SearchTerms:
    """What is searched for.

    Attributes:
        schema: The namespace and the names of all dimensions, in any order; None: any.
        terms: What `Namespace`, `MetricName` and dimensions are to be.
    """

    schema: tuple[str, frozenset[str]] | None
    terms: Mapping[str, str]

    def fits(self, metric: Metric) -> bool:
        """Whether a metric is found."""
        if self.schema not in (None, (metric.namespace, frozenset(name for name, _ in metric.dimensions))):
            return False
        named = {**dict(metric.dimensions), "Namespace": metric.namespace, "MetricName": metric.name}
        return self.terms.items() <= named.items()


def read_search(query: str) -> SearchTerms:
    """Read a search's first argument: a schema in braces, then exact matches.

    Raises:
        SearchError: it has anything else, such as words to be found anywhere.
    """
    schema = _SCHEMA.match(query)
    rest = query[schema.end() :] if schema else query
    terms = dict(_TERM.findall(rest))
    if _TERM.sub("", rest).strip() or not (schema or terms):
        raise SearchError(f'SEARCH finds {{Namespace,Dimension,...}} and NAME="..." here, not {query!r}')
    return SearchTerms(_names(schema[1], query) if schema else None, terms)


def _names(text: str, query: str) -> tuple[str, frozenset[str]]:
    parts = [_PART.fullmatch(part) for part in text.split(",")]
    names = [part[1] or part[2] for part in parts if part]
    if len(names) != len(parts):
        raise SearchError(f"{{{text}}} in {query!r} does not name a namespace and dimensions")
    return names[0], frozenset(names[1:])
