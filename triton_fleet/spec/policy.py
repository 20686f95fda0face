"""The contract of `policies/*.yaml`: what platform engineers allow endpoints, and the exceptions to it."""

from __future__ import annotations

import re
from datetime import date
from typing import Annotated, Self

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    StringConstraints,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from triton_fleet.catalog.security_fixes import FixSeverity, security_fixes
from triton_fleet.spec.contacts import Owner
from triton_fleet.spec.endpoint import Reason
from triton_fleet.spec.problems import did_you_mean
from triton_fleet.spec.rollout import Strategy
from triton_fleet.spec.values import Count, Document, Mistake, Name, TagKey, first_duplicate

DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def parse_day(value: object) -> date:
    """A day as `2027-03-31`.

    Raises:
        Mistake: it is written in another way, or does not exist.
    """
    if isinstance(value, str) and DAY.fullmatch(value):
        try:
            return date.fromisoformat(value)
        except ValueError as error:
            raise Mistake("this day does not exist in the calendar", "write a day as `2027-03-31`") from error
    raise Mistake("it is not a day", "write a day as `2027-03-31`")


Day = Annotated[
    date,
    BeforeValidator(parse_day),
    PlainSerializer(lambda day: day.isoformat(), return_type=str, when_used="json"),
    WithJsonSchema({"type": "string", "pattern": f"^{DAY.pattern}$", "examples": ["2027-03-31"]}),
]
"""A day as `2027-03-31`."""


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


Pattern = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9*][A-Za-z0-9*._-]*$", max_length=100)]
"""A name in which `*` stands for any text."""
Patterns = Annotated[
    tuple[Pattern, ...],
    Field(strict=False, min_length=1),
    BeforeValidator(_as_list, json_schema_input_type=Pattern | Annotated[list[Pattern], Field(min_length=1)]),
]
"""One pattern, or a list of patterns of which one has to match."""
Dollars = Annotated[float, Field(ge=0, le=1e12)]
Release = Annotated[str, StringConstraints(pattern=r"^[0-9]{2}\.[0-9]{2}$")]


class When(Document):
    """The endpoints that a statement applies to: those that match all of these keys."""

    environment: Patterns | None = None
    """Names of environments; `*` stands for any text. Default: every environment."""
    owner: Patterns | None = None
    """Teams that specs name as `owner`. Default: every endpoint, with or without an owner."""
    profile: Patterns | None = None
    """Profiles of which the spec uses one, directly or through another profile. Default: every endpoint."""


class Gpus(Document):
    """The GPUs of one instance."""

    max: Annotated[int, Field(ge=0, le=1000)]
    """Maximum GPUs of one instance; 0 allows only instances without GPUs."""


class MonthlyCost(Document):
    """Cost of the maximum number of instances for 720 hours, as `fleet cost` shows it."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    endpoint: Dollars | None = None
    """Maximum cost of one endpoint. Default: any cost."""
    owner: Dollars | None = None
    """Maximum cost of all endpoints of one team in one environment, among those that the statement applies
    to. Default: any cost."""

    @model_validator(mode="after")
    def _limits_a_cost(self) -> Self:
        if self.endpoint is None and self.owner is None:
            raise Mistake("it limits no cost", "write `endpoint`, `owner` or both")
        return self


class TritonReleases(Document):
    """Container releases of Triton."""

    releases: Annotated[dict[Release, Day | None], Field(min_length=1)]
    """Allowed releases, in quotes, each with its last day, or with `null` for no last day. A release is a
    warning from 30 days before its last day."""


FIX_IDS = tuple(security_fix.id for security_fix in security_fixes())
FixId = Annotated[str, WithJsonSchema({"type": "string", "enum": list(FIX_IDS)})]


class SecurityFixes(Document):
    """Security fixes of Triton's SageMaker front end, those that the endpoint's mode and flags need."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    severity: Annotated[FixSeverity, Field(strict=False)] | None = None
    """Minimum severity of the fixes that the release of Triton has to have. Default: none by severity."""
    fixes: Annotated[tuple[FixId, ...], Field(strict=False)] = ()
    """Ids of further fixes that it has to have, such as `load-race`."""

    @field_validator("fixes")
    @classmethod
    def _name_fixes(cls, ids: tuple[str, ...]) -> tuple[str, ...]:
        for index, fix in enumerate(ids):
            if fix not in FIX_IDS:
                raise Mistake("the catalog has no such fix", did_you_mean(fix, FIX_IDS), (index,))
        return ids

    @model_validator(mode="after")
    def _requires_a_fix(self) -> Self:
        if self.severity is None and not self.fixes:
            raise Mistake("it requires no fix", "write `severity`, `fixes` or both")
        return self


class Requirements(Document):
    """Requirements for endpoints; a key with `false` or 0 requires nothing."""

    owner: bool = False
    """The spec names its `owner`."""
    min_instances: Annotated[int, Field(ge=0, le=10_000)] = 0
    """Minimum number of instances, by `scaling.min` and schedules; without `scaling`, by `instance.count`."""
    rollout: Annotated[tuple[Annotated[Strategy, Field(strict=False)], ...], Field(strict=False)] = ()
    """Strategies of `rollout`; the spec has one of them."""
    rollback_alarms: bool = False
    """An alarm rolls back an update: the spec has a `rollout` whose steps bake long enough, and an alarm of
    its `rollback_on` that can fire."""
    vpc: bool = False
    """The containers are in subnets of `network`."""
    kms_key: bool = False
    """The environment has a `kms_key`."""
    samples: Annotated[int, Field(ge=0, le=1000)] = 0
    """Minimum number of `samples` that each deploy sends."""
    log_retention_days: Annotated[int, Field(ge=0, le=3653)] = 0
    """Minimum of `logs.retention_days`."""
    security_fixes: SecurityFixes | None = None
    """Security fixes that the release of `triton` has to have. Default: none."""

    @model_validator(mode="after")
    def _require_any_key(self) -> Self:
        if not self.model_fields_set:
            raise Mistake("it requires nothing", f"write one of {', '.join(type(self).model_fields)}")
        return self


LIMITS = ("instances", "gpus", "regions", "max_instances", "monthly_cost", "triton", "require", "tags")
"""The keys by which a statement limits endpoints."""


class Statement(Document):
    """Limits and requirements of endpoints. An endpoint has to fulfil every statement that applies to it."""

    model_config = ConfigDict(json_schema_extra={"anyOf": [{"required": [key]} for key in LIMITS]})

    name: Name
    """Name in exceptions and messages."""
    when: When = When()
    instances: Patterns | None = None
    """Allowed instance types, such as `ml.g5.*` or `ml.*.xlarge`, also for instance pools and shadow
    variants. Default: every type."""
    gpus: Gpus | None = None
    """Default: any number."""
    regions: Patterns | None = None
    """Allowed regions of the environment, such as `eu-*`. Default: every region."""
    max_instances: Count | None = None
    """Maximum of `scaling.max`, of a schedule's `max` and of `instance.count`. Default: any number."""
    monthly_cost: MonthlyCost | None = None
    """Default: any cost."""
    triton: TritonReleases | None = None
    """Default: every release."""
    require: Requirements | None = None
    """Default: nothing is required."""
    tags: Annotated[tuple[TagKey, ...], Field(strict=False)] = ()
    """Tags that the spec or the environment must have, each with a value."""

    @model_validator(mode="after")
    def _require_any_limit(self) -> Self:
        if all(getattr(self, key) in (None, ()) for key in LIMITS):
            raise Mistake("the statement limits nothing", f"write one of {', '.join(LIMITS)}")
        return self


_BELOW: dict[str, type[Document]] = {
    "gpus": Gpus,
    "monthly_cost": MonthlyCost,
    "triton": TritonReleases,
    "require": Requirements,
}
ALLOWABLE = (*LIMITS, *(f"{key}.{name}" for key, below in _BELOW.items() for name in below.model_fields))
"""Keys of a statement that an exception may name."""
Limit = Annotated[str, WithJsonSchema({"type": "string", "enum": list(ALLOWABLE)})]


class PolicyException(Document):
    """Endpoints that may break a statement until a day."""

    statement: Name
    """The `name` of a statement of the same file."""
    endpoints: Patterns
    """Names of endpoints; `*` stands for any text."""
    environment: Patterns | None = None
    """Names of environments. Default: every environment of the statement."""
    allows: Annotated[tuple[Limit, ...], Field(strict=False, min_length=1)] | None = None
    """Keys of the statement that the endpoints may break, such as `instances` or `require.samples`. Default:
    all of them."""
    reason: Reason
    """Why the endpoints may break the statement."""
    until: Day
    """Last day of the exception. From 7 days before it, an exception that an endpoint needs is a warning."""

    @field_validator("allows")
    @classmethod
    def _names_keys(cls, keys: tuple[str, ...] | None) -> tuple[str, ...] | None:
        for index, key in enumerate(keys or ()):
            if key not in ALLOWABLE:
                raise Mistake("a statement has no such limit", did_you_mean(key, ALLOWABLE), (index,))
        return keys

    def covers(self, key: str) -> bool:
        """Whether it allows what a key of the statement refuses, such as `monthly_cost.owner`."""
        return self.allows is None or key in self.allows or key.partition(".")[0] in self.allows


class Policy(Document):
    """The rules of one team for endpoints, and for whom it makes exceptions."""

    policy: Name
    """Name, the same as the file's."""
    owner: Owner
    """Who decides on the policy and its exceptions."""
    statements: Annotated[tuple[Statement, ...], Field(strict=False, min_length=1)]
    """The statements: limits, and the endpoints that they are for."""
    exceptions: Annotated[tuple[PolicyException, ...], Field(strict=False)] = ()
    """Who may break a statement, and until when."""

    @field_validator("statements")
    @classmethod
    def _have_names_of_their_own(cls, statements: tuple[Statement, ...]) -> tuple[Statement, ...]:
        if name := first_duplicate(statement.name for statement in statements):
            raise ValueError(f"two statements are named {name!r}: exceptions could not name one")
        return statements

    @field_validator("exceptions")
    @classmethod
    def _name_statements(
        cls, exceptions: tuple[PolicyException, ...], info: ValidationInfo
    ) -> tuple[PolicyException, ...]:
        if "statements" in info.data:
            names = [statement.name for statement in info.data["statements"]]
            for index, statement in enumerate(exceptions):
                if statement.statement not in names:
                    hint = did_you_mean(statement.statement, names, whole_list=True)
                    raise Mistake("no statement of this file has that name", hint, (index, "statement"))
        return exceptions
