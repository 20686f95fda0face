"""Tags of an environment that a spec seems to take away: no layer has them, so `null` does not reach them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from triton_fleet.findings import Finding
from triton_fleet.project.layers import Layer
from triton_fleet.spec.source import Source, finding_at


def kept_tags(environment: Source, layers: Sequence[Layer]) -> Iterator[Finding]:
    """Each `null` over a tag that the environment's own `tags` have, unless a higher layer has a value."""
    tags = environment.data.get("tags")
    for tag in tags if isinstance(tags, dict) else ():
        for layer in reversed(layers):
            given = layer.source.data.get("tags")
            if not isinstance(given, dict) or tag not in given:
                continue
            if given[tag] is None:
                place = f"environments/{environment.file.name}"
                message = f"`null` does not remove the tag {tag!r}: it is in the top-level `tags` of {place}"
                hint = f"write another value here, or move the tag to `defaults.tags` of {place}"
                yield finding_at(layer.source.mark(("tags", tag)), "FL517", message, hint)
            break
