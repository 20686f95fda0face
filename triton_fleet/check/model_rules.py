"""The rules that take a model, or the models of a repository, applied to those that no spec names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TypeAlias

from triton_fleet.check.target import RepositoryTarget
from triton_fleet.context.models import ModelContext, ModelsContext, PlacedModel
from triton_fleet.findings import Finding
from triton_fleet.rules.registry import rules
from triton_fleet.spec.lock import LockedModel
from triton_fleet.spec.source import MAX_FINDINGS, Mark

MarkOf: TypeAlias = Callable[[str, Sequence[str]], Mark]


def model_rule_findings(
    models: Mapping[str, LockedModel], target: RepositoryTarget, mark_of: MarkOf, place: Path
) -> Iterator[Finding]:
    """The findings of the rules that take no more than models and what is known of their container.

    Args:
        models: The facts of the models that are loaded, by directory.
        target: What is known of the container.
        mark_of: The place of the first of some fields that a model has.
        place: The repository.
    """
    context = _context(models, target)
    for rule in rules().values():
        for subject in rule.scope.of_models(context):
            for problem in islice(rule.check(subject), MAX_FINDINGS):
                if isinstance(subject, ModelContext):
                    models_at = [subject.model]
                else:
                    models_at = [
                        model for model in context.models if rule.fields and model.path == problem.path
                    ]
                mark = mark_of(models_at[0].name, rule.fields) if models_at else Mark(place, 1, 1)
                yield rule.finding(problem, mark, deploying=True)


def _context(models: Mapping[str, LockedModel], target: RepositoryTarget) -> ModelsContext:
    placed = tuple(
        PlacedModel(index=index, archive="", name=name, facts=facts)
        for index, (name, facts) in enumerate(models.items())
    )
    steps = {step for facts in models.values() for step in facts.steps}
    called = tuple(each for each in placed if each.name not in steps)
    if target.default_model is not None:
        called = tuple(each for each in placed if each.name == target.default_model)
    return ModelsContext(models=placed, called=called, container=target.container())
