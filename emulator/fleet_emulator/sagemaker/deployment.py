"""How an update may proceed: DeploymentConfig, compared with SageMaker's documentation.

Its waits are skipped here, and traffic does not shift in steps: an update is served or is not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from moto.cloudwatch.models import CloudWatchBackend
from moto.sagemaker.exceptions import ValidationError

from fleet_emulator.sagemaker.constraints import require_shape

Config = Mapping[str, Any]

_STEPS = {"CANARY": ("CanarySize", 0, 50), "LINEAR": ("LinearStepSize", 10, 50)}
_BATCH = ("MaximumBatchSize", 5, 50)
"""A step's size in percent of the variant's instances; source: SageMaker API reference, TrafficRoutingConfig
and RollingUpdatePolicy."""


def require_deployment(
    config: Config, variants: Sequence[Mapping[str, Any]], alarms: CloudWatchBackend
) -> None:
    """Refuse a deployment that SageMaker would not begin, for the variants as DescribeEndpoint shows them.

    That CANARY and LINEAR need the size of their step is inferred, and so is when it is asked whether the
    alarms exist.

    Raises:
        ValidationError: of the words only the code is SageMaker's.
    """
    require_shape("DeploymentConfig", config, "deploymentConfig")
    if "BlueGreenUpdatePolicy" in config and "RollingUpdatePolicy" in config:
        raise ValidationError("Only one of BlueGreenUpdatePolicy and RollingUpdatePolicy can be specified.")
    if "BlueGreenUpdatePolicy" in config:
        _require_blue_green(config["BlueGreenUpdatePolicy"], variants)
    if "RollingUpdatePolicy" in config:
        _require_rolling(config["RollingUpdatePolicy"], variants)
    for name in alarm_names(config):
        if name not in alarms.alarms:
            raise ValidationError(f"Could not find CloudWatch alarm '{name}' of AutoRollbackConfiguration.")


def alarm_names(config: Config | None) -> list[str]:
    """The alarms that roll an update back."""
    alarms = (config or {}).get("AutoRollbackConfiguration", {}).get("Alarms", [])
    return [alarm["AlarmName"] for alarm in alarms]


def alarms_on(config: Config | None, alarms: CloudWatchBackend) -> list[str]:
    """Those of them that are in ALARM."""
    found = (alarms.alarms.get(name) for name in alarm_names(config))
    return [alarm.name for alarm in found if alarm is not None and alarm.state_value == "ALARM"]


def _require_blue_green(policy: Config, variants: Sequence[Mapping[str, Any]]) -> None:
    routing = policy["TrafficRoutingConfiguration"]
    if routing["Type"] in _STEPS:
        _require_size(routing, _STEPS[routing["Type"]], variants)
    waits = policy.get("TerminationWaitInSeconds", 0) + routing["WaitIntervalInSeconds"]
    if policy.get("MaximumExecutionTimeoutInSeconds", waits + 1) <= waits:
        raise ValidationError(
            "MaximumExecutionTimeoutInSeconds must be larger than the total waiting time of "
            "TerminationWaitInSeconds and WaitIntervalInSeconds."
        )


def _require_rolling(policy: Config, variants: Sequence[Mapping[str, Any]]) -> None:
    if len(variants) > 1:
        raise ValidationError("Rolling deployments are not supported for multi-variant endpoints.")
    _require_size(policy, _BATCH, variants)


def _require_size(holder: Config, rule: tuple[str, int, int], variants: Sequence[Mapping[str, Any]]) -> None:
    name, least, most = rule
    if name not in holder:
        raise ValidationError(f"{name} must be specified for {holder['Type']}.")
    size = holder[name]
    for variant in variants:
        count = variant.get("DesiredInstanceCount")
        if size["Type"] == "CAPACITY_PERCENT":
            percent = size["Value"]
        elif count:
            percent = 100 * size["Value"] / count
        else:
            continue
        if not least <= percent <= most:
            raise ValidationError(
                f"{name} must be {least}-{most}% of the total instance count of variant "
                f"'{variant['VariantName']}'."
            )


_SHOWN = {
    "DesiredInstanceCount": ("CurrentInstanceCount", "DesiredInstanceCount"),
    "DesiredWeight": ("CurrentWeight", "DesiredWeight"),
}
_CAPTURE = "DataCaptureConfig"


@dataclass(frozen=True)
class Retention:
    """The kinds of properties that are retained; all others come from the new configuration."""

    kinds: frozenset[str] = frozenset()

    @classmethod
    def of(cls, retain_all: Any, excluded: Iterable[Mapping[str, str]] | None) -> Retention:
        """RetainAllVariantProperties and ExcludeRetainedVariantProperties; a template may write true as text.

        Raises:
            ValidationError: an excluded property is of an unknown type.
        """
        given = list(excluded or ())
        require_shape("VariantPropertyList", given, "excludeRetainedVariantProperties")
        if retain_all not in (True, "true"):
            return cls()
        return cls(frozenset({*_SHOWN, _CAPTURE} - {each["VariantPropertyType"] for each in given}))

    @property
    def capture(self) -> bool:
        """Whether the data capture stays as it is."""
        return _CAPTURE in self.kinds

    def of_variant(self, before: Mapping[str, Any]) -> dict[str, Any]:
        """What a variant takes over from the one of its name, as DescribeEndpoint shows it."""
        shown = [key for kind in self.kinds for key in _SHOWN.get(kind, ())]
        return {key: before[key] for key in shown if key in before}


NOTHING_RETAINED = Retention()
