"""An ensemble's own settings and the flow of its tensors, without its composing models.

Source: triton-inference-server/core, r26.06, src/model_config_utils.cc, ValidateEnsembleSchedulingConfig and
BuildEnsembleGraph.
"""

from __future__ import annotations

from collections.abc import Iterator

from triton_fleet.findings import Finding
from triton_fleet.repository.config.backend import ENSEMBLE
from triton_fleet.repository.config.flow import flow
from triton_fleet.repository.config.message import ParsedConfig

SCHEDULING = "ensemble_scheduling"
CODE = "FL427"


def ensemble(config: ParsedConfig) -> Iterator[Finding]:
    """What is wrong with an ensemble, or with a model that is not one and looks like one."""
    message, name = config.message, config.name
    if not message.HasField(SCHEDULING):
        if message.platform == ENSEMBLE:
            reason = f"ensemble scheduling must be set for ensemble {name} whose platform is ensemble"
            hint = "write `ensemble_scheduling { step [ ... ] }`"
            yield config.finding(CODE, reason, "platform", hint=hint)
        return
    if message.platform != ENSEMBLE:
        reason = f"ensemble scheduling cannot be set for model '{name}' whose platform is not ensemble"
        yield config.finding(CODE, reason, SCHEDULING, hint='write `platform: "ensemble"` and no `backend`')
        return
    refused = {
        "instance_group": (bool(message.instance_group), "instance group should not be specified"),
        "optimization": (message.HasField("optimization"), "optimization should not be specified"),
        "model_warmup": (bool(message.model_warmup), "model_warmup can not be specified"),
    }
    for field, (given, reason) in refused.items():
        if given:
            hint = f"leave out `{field}`: the composing models have their own"
            yield config.finding(CODE, f"{reason} for ensemble '{name}'", field, hint=hint)
    if not message.ensemble_scheduling.step:
        reason = f"must specify 'step' for ensemble '{name}'"
        yield config.finding(CODE, reason, SCHEDULING, hint="write a `step` for each composing model")
        return
    incomplete = list(_incomplete(config))
    yield from incomplete or flow(config)


def _incomplete(config: ParsedConfig) -> Iterator[Finding]:
    for index, step in enumerate(config.message.ensemble_scheduling.step):
        for field in ("model_name", "input_map", "output_map"):
            if not getattr(step, field):
                message = f"must specify '{field}' in step {index} of ensemble '{config.name}'"
                yield config.finding(CODE, message, SCHEDULING, "step", index, hint=HINTS[field])


HINTS = {
    "model_name": 'write `model_name: "..."`, a model of the same repository',
    "input_map": "the key is the composing model's input, the value the ensemble's tensor",
    "output_map": "the key is the composing model's output, the value the ensemble's tensor",
}
