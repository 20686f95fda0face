"""Rules: functions that take an endpoint, a model or an image and yield what is wrong with it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeAlias, TypeVar

from triton_fleet.context.context import EndpointContext
from triton_fleet.context.machines import OWN_VARIANT, Machine
from triton_fleet.context.models import ModelContext, ModelsContext
from triton_fleet.context.own_image import ImageContext
from triton_fleet.findings import Finding, Severity
from triton_fleet.rules.codes import Theme, theme_of
from triton_fleet.spec.source import MAX_FINDINGS, KeyPath, Mark, Source, finding_at

DOCS = "docs/rules.md"
T = TypeVar("T")


@dataclass(frozen=True)
class Problem:
    """A place in a spec, what is wrong there, and what to write instead.

    `certain`: the facts behind it are proved; otherwise it is a warning, whatever the rule. `confidential`:
    its line is not shown.
    """

    path: KeyPath
    message: str
    hint: str = ""
    certain: bool = True
    confidential: bool = False


MachineChoice: TypeAlias = Callable[[Sequence[Machine]], Sequence[Machine]]


def _own(machines: Sequence[Machine]) -> Sequence[Machine]:
    return machines[:1]


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One rule.

    `is_needed`: other checks depend on what it requires, so a spec cannot allow itself to break it.
    `at_deploy`: a warning while a spec is being written, an error where it is to be deployed.
    `fields`: those of config.pbtxt that it is about, if it is about models. `in_files`: the code of the same
    mistake where the files of a repository are read; if a spec may allow that, it allows both or none.
    """

    code: str
    name: str
    severity: Severity
    summary: str
    reason: str
    source: str
    is_needed: bool
    at_deploy: bool
    scope: Scope[Any]
    fields: tuple[str, ...]
    in_files: str
    check: Callable[[Any], Iterable[Problem]]

    @property
    def theme(self) -> Theme:
        """The subject of the rule, by its code."""
        return theme_of(self.code)

    def problems(self, subjects: Iterable[tuple[Machine, Any]]) -> list[Problem]:
        """The problems of the subjects that the scope has in an endpoint, the first of many."""
        problems: list[Problem] = []
        for machine, subject in subjects:
            for problem in self.check(subject):
                if len(problems) == MAX_FINDINGS:
                    return problems
                problems.append(_label_machine(problem, machine))
        return problems

    def findings(
        self, source: Source, subjects: Iterable[tuple[Machine, Any]], *, is_deploy: bool = False
    ) -> list[Finding]:
        """The findings of the rule, each at its place in the spec or in the environment's file."""
        problems = self.problems(subjects)
        return [self.finding(problem, source.mark(problem.path), is_deploy) for problem in problems]

    def finding(self, problem: Problem, mark: Mark, is_deploy: bool) -> Finding:
        """The finding about a problem, at its place."""
        result = finding_at(mark, self.code, problem.message, problem.hint)
        severity = self.severity
        if not problem.certain or (self.at_deploy and not is_deploy):
            severity = Severity.WARNING
        return replace(result, severity=severity, confidential=problem.confidential)


@dataclass(frozen=True, eq=False)
class Scope(Generic[T]):
    """The type of thing that a rule takes.

    Attributes:
        words: As docs/rules.md names it.
        of_endpoint: What there is of it in an endpoint, on one of its instance types.
        machines: Those of an endpoint's instance types, its spec's own first, that the rule looks at.
        of_models: What there is of it in a repository that no spec names.
    """

    words: str
    of_endpoint: Callable[[EndpointContext], Iterable[T]]
    machines: MachineChoice = _own
    of_models: Callable[[ModelsContext], Iterable[T]] = lambda _: ()

    def subjects(self, endpoint: EndpointContext) -> Iterator[tuple[Machine, T]]:
        """The subjects that an endpoint has, on each of the instance types."""
        for machine in self.machines(endpoint.machines):
            yield from ((machine, subject) for subject in self.of_endpoint(endpoint.on(machine)))

    def rule(
        self,
        code: str,
        severity: Severity = Severity.ERROR,
        *,
        source: str,
        is_needed: bool = False,
        at_deploy: bool = False,
        fields: tuple[str, ...] = (),
        in_files: str = "",
    ) -> Callable[[Callable[[T], Iterable[Problem]]], Rule]:
        """Make a rule of a function, whose name is the rule's: a noun for what it finds, read after "allow".

        The docstring's first line is the summary, the rest is the reason.

        Args:
            code: The stable code, FLnnn; `fleet rules --next THEME` prints a free one.
            severity: Of what is proved.
            source: Where the rule's facts come from.
            is_needed: Other checks depend on it.
            at_deploy: Only a warning until the endpoint is deployed.
            fields: The fields of config.pbtxt that a rule about models is about; the first that a model has
                is the place of a finding in a repository that no spec names.
            in_files: The code of the same mistake where the files of a repository are read.
        """

        def make(check: Callable[[T], Iterable[Problem]]) -> Rule:
            summary, _, reason = inspect.cleandoc(check.__doc__ or "").partition("\n\n")
            name = getattr(check, "__name__", code).replace("_", "-")
            return Rule(
                code=code,
                name=name,
                severity=severity,
                summary=summary,
                reason=reason,
                source=source,
                is_needed=is_needed,
                at_deploy=at_deploy,
                scope=self,
                fields=fields,
                in_files=in_files,
                check=check,
            )

        return make


def _label_machine(problem: Problem, machine: Machine) -> Problem:
    """The problem at the raw property that brings the machine in, with the machine's name."""
    if not machine.label:
        return problem
    path = problem.path if problem.path[:1] == machine.path[:1] else machine.path
    return replace(problem, path=path, message=f"{machine.label}: {problem.message}")


def _first_of_variants(machines: Sequence[Machine]) -> Sequence[Machine]:
    variants = [machine.variant for machine in machines]
    return [candidate for n, candidate in enumerate(machines) if candidate.variant not in variants[:n]]


def _with_model(machines: Sequence[Machine]) -> Sequence[Machine]:
    return [machine for machine in machines if machine.runs_model]


def _endpoint(endpoint: EndpointContext) -> Iterable[EndpointContext]:
    return (endpoint,)


def _image(endpoint: EndpointContext) -> Iterable[ImageContext]:
    image, locked_image, spec = endpoint.image, endpoint.lock.image if endpoint.lock else None, endpoint.spec
    if image is not None and image.is_own and locked_image is not None and locked_image.facts is not None:
        backends = frozenset(loaded_model.facts.backend for loaded_model in endpoint.loaded_models)
        yield ImageContext(facts=locked_image.facts, triton=spec.triton, mode=spec.mode, backends=backends)


def _model(words: str, machines: MachineChoice) -> Scope[ModelContext]:
    of_models = ModelsContext.single_models
    return Scope(words, lambda endpoint: of_models(endpoint.models_context), machines, of_models)


def _models(words: str, machines: MachineChoice) -> Scope[ModelsContext]:
    return Scope(words, lambda endpoint: (endpoint.models_context,), machines, lambda models: (models,))


MODEL = _model("a model", _own)
MODEL_ON_INSTANCE = _model("a model on an instance", _with_model)
MODELS = _models("the models of a repository", _own)
MODELS_ON_INSTANCE = _models("the models of a repository on an instance", _with_model)
IMAGE = Scope("an image", _image)
"""An image of the spec's own, once the lock knows its contents."""
ENDPOINT = Scope("an endpoint", _endpoint)
"""On its spec's own instance type."""
rule = ENDPOINT.rule
"""A rule that takes an endpoint."""
VARIANT = Scope("a variant of an endpoint", _endpoint, _first_of_variants)
"""On its first instance type."""
POOL = Scope(
    "an instance pool", _endpoint, lambda machines: [m for m in machines if m.variant == OWN_VARIANT]
)
"""The endpoint on each instance type of the spec's own variant, as it is scaled and updated."""
CONTAINER = Scope("a container on an instance", _endpoint, _with_model)
"""The endpoint on each instance type on which the model of the spec runs."""
INSTANCE_TYPE = Scope("an instance type", _endpoint, list)
"""The endpoint on each of its instance types, whatever runs there."""
