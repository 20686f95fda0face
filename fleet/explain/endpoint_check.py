"""The decisions about what a deploy asks the endpoint before it succeeds."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.endpoint.context.context import Decided
from fleet.endpoint.context.targets import target_models
from fleet.explain.decision import Decision
from fleet.spec.samples import OK, Sample


def check_decisions(endpoint: Decided) -> Iterator[Decision]:
    """What a deploy ends with: the configuration that runs, targets that are loaded, calls."""
    spec, targets = endpoint.spec, target_models(endpoint.spec)
    reason = "SageMaker may roll an update back and report success; a deploy fails then"
    yield Decision(group="check", what="configuration", value="in service with the new one", reason=reason)
    for name in spec.warm:
        yield Decision(group="check", what="loaded", value=targets.get(name, name), reason="from `warm`")
    for sample in spec.samples:
        called = f" of {targets.get(sample.target, sample.target)}" if sample.target else ""
        reason = f"called{called} after each deploy, which is rolled back unless it is answered so"
        yield Decision(group="check", what=f"sample {sample.name}", value=_wanted(sample), reason=reason)
    if not spec.samples:
        reason = "`samples` is left out: a model that loads and answers wrongly is deployed"
        yield Decision(group="check", what="samples", value="none", reason=reason)


def _wanted(sample: Sample) -> str:
    if sample.status != OK:
        return f"refused with status {sample.status}"
    outputs = []
    for name, output in sample.outputs.items():
        shape = None if output.shape is None else str(list(output.shape))
        parts = [output.datatype and output.datatype.value, shape]
        near = "" if output.tolerance is None else f" within {output.tolerance:.15g}"
        if output.data is not None:
            parts.append(f"values{near}")
        if output.first is not None:
            parts.append(f"first {len(output.first)} values{near}")
        outputs.append(" ".join([name, *filter(None, parts)]))
    return ", ".join(outputs) or "answered with status 200"
