"""Which model of a repository answers on a single endpoint, and which others it needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from triton_fleet.core.closure import closure
from triton_fleet.new.proposal.key import Key
from triton_fleet.repository.contents import Contents
from triton_fleet.repository.loading.ensembles import steps_of
from triton_fleet.repository.loading.models import Model, models_of
from triton_fleet.repository.loading.python_code import called_models


@dataclass(frozen=True, kw_only=True)
class DefaultModel:
    """The model that answers; None where the only one does.

    Attributes:
        why: Sentences.
        further: Models that code calls, which flags of the container have to load.
    """

    default_model: str | None = None
    why: tuple[str, ...] = ()
    further: tuple[str, ...] = ()

    def keys(self) -> list[Key]:
        """As the spec has it."""
        if self.default_model is None:
            return []
        return [Key(name="default_model", value=self.default_model, why=self.why)]


def propose_default_model(contents: Contents) -> DefaultModel:
    """Propose the model that no other one calls; of several the first, with a note."""
    models, refused = models_of(contents)
    names = sorted({*models, *refused})
    if len(names) < 2:
        return DefaultModel()
    steps, codes = _calls(contents, models)
    tops = _tops(names, steps, codes)
    ensembles = [name for name in tops if steps.get(name)]
    choice = tops if len(tops) == 1 else ensembles if len(ensembles) == 1 else []
    chosen = [*choice, *ensembles, *tops, *names][0]
    below = _below(chosen, {name: steps[name] | codes[name] for name in models})
    further = sorted(below - _below(chosen, steps))
    return DefaultModel(default_model=chosen, why=_why(chosen, names, choice, below), further=tuple(further))


def propose_routes(contents: Contents) -> Key:
    """The routes of a shared container: the models that no other one calls, by their own names."""
    models, refused = models_of(contents)
    names = sorted({*models, *refused})
    tops = _tops(names, *_calls(contents, models)) or names
    parts = sorted({*names} - {*tops})
    why = f"Others call {', '.join(parts)}, so callers need no route to them." if parts else ""
    first = "What callers name, and the model that answers; the names may be others."
    return Key(name="routes", value={name: name for name in tops}, why=(first, why) if why else (first,))


def _calls(
    contents: Contents, models: Mapping[str, Model]
) -> tuple[Mapping[str, set[str]], Mapping[str, set[str]]]:
    """What each model calls as an ensemble, and what its code calls."""
    steps = {name: set(steps_of(model.config)) & set(models) for name, model in models.items()}
    codes = {name: called_models(contents, model) & set(models) for name, model in models.items()}
    return steps, codes


def _tops(names: list[str], steps: Mapping[str, set[str]], codes: Mapping[str, set[str]]) -> list[str]:
    """The models that no other one calls."""
    called = {each for name in steps for each in (steps[name] | codes[name]) - {name}}
    return [name for name in names if name not in called]


def _below(top: str, calls: Mapping[str, set[str]]) -> set[str]:
    """All that a model calls, and what that calls."""
    return {*closure([top], lambda name: calls.get(name, ()))} - {top}


def _why(chosen: str, names: list[str], choice: list[str], below: set[str]) -> tuple[str, ...]:
    calls = f"{chosen} calls {', '.join(sorted(below))}" if below else f"{chosen} calls no other model"
    if choice:
        return (f"{calls}, and no other model calls it.",)
    return (
        f"Undecided: several of {', '.join(names)} are called by no other model, but a single endpoint"
        f" answers with one. {chosen} is the first of them: write the one that is to answer. To call each of"
        " them by name, pass `--mode shared-container`; or give each a folder with a repository of its own,"
        " and pass the folder above to `fleet new`.",
    )
