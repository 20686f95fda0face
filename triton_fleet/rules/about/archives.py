"""Rules about the archives of an endpoint and the models that answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from triton_fleet.catalog.variables import out_of_memory
from triton_fleet.context.context import EndpointContext
from triton_fleet.context.models import ModelsContext, PlacedModel
from triton_fleet.context.variables import DEFAULT_MODEL
from triton_fleet.findings import Severity
from triton_fleet.repository.copies import name_mismatch
from triton_fleet.rules.rule import MODELS, Problem, rule
from triton_fleet.spec.endpoint import HINT, ArchiveSet, Mode, in_s3, name_problem
from triton_fleet.spec.problems import did_you_mean

START = "https://github.com/triton-inference-server/server/blob/main/docker/sagemaker/serve"
FRONT_END = "https://github.com/triton-inference-server/server/blob/main/src/sagemaker_server.cc"
ARCHIVE_SETS = "docs/decisions/0006-a-set-of-archives-is-locked-or-live.md"
ARTIFACTS = "docs/artifacts.md"
ENSEMBLES_SINCE, NAMESPACES_SINCE = "23.01", "23.04"
"""For a multi-model container; from the history of the start script and of the front end."""


@rule("FL205", source=START, is_needed=True)
def ambiguous_default_model(endpoint: EndpointContext) -> Iterator[Problem]:
    """A spec names the default model of a repository with several models.

    The container refuses to start with several model directories and no default model.
    """
    names = _single_models(endpoint)
    if len(names) > 1 and endpoint.spec.default_model is None:
        message = f"the repository has {len(names)} models, and `default_model` names none of them"
        yield Problem(("models", 0), message, f"write `default_model:` and one of {', '.join(names)}")


@rule("FL206", source=START, is_needed=True)
def unknown_default_model(endpoint: EndpointContext) -> Iterator[Problem]:
    """The default model is in the repository.

    The container refuses to start when its directory is missing.
    """
    names, default = _single_models(endpoint), endpoint.spec.default_model
    if names and default is not None and default not in names:
        message = f"`default_model` is {default!r}, which is not in the repository"
        yield Problem(("default_model",), message, did_you_mean(default, names))


@rule("FL215", source=FRONT_END)
def default_model_in_multi_model(endpoint: EndpointContext) -> Iterator[Problem]:
    """A multi-model endpoint has no default model: each call names its target."""
    if endpoint.spec.mode is not Mode.MULTI_MODEL:
        return
    hint = "leave it out; callers pass TargetModel"
    if endpoint.spec.default_model is not None:
        message = "`default_model` has no effect on a multi-model endpoint: each call names its target"
        yield Problem(("default_model",), message, hint)
    if DEFAULT_MODEL in endpoint.spec.environment:
        message = f"`environment` sets {DEFAULT_MODEL}, which a multi-model endpoint does not load"
        yield Problem(("environment", DEFAULT_MODEL), message, hint)


@rule("FL245", Severity.WARNING, source=START)
def bypassed_ensemble(endpoint: EndpointContext) -> Iterator[Problem]:
    """The default model is the repository's ensemble, not one of its composing models.

    The container loads only the default model and the models that it depends on, so an ensemble that is not
    the default is never loaded.
    """
    if endpoint.spec.mode is not Mode.SINGLE or endpoint.default_model is None:
        return
    for model in endpoint.models:
        if endpoint.default_model in model.facts.steps:
            message = (
                f"`default_model` is {endpoint.default_model!r}, a composing model of the ensemble"
                f" {model.name!r}: the ensemble would not be loaded"
            )
            hint = f"write `default_model: {model.name}`, or remove the ensemble from the repository"
            yield Problem(("default_model",), message, hint)


@rule(
    "FL247",
    source="https://github.com/triton-inference-server/server/blob/main/docs/user_guide/ensemble_models.md",
    in_files="FL435",
)
def split_ensemble(endpoint: EndpointContext) -> Iterator[Problem]:
    """An ensemble's composing models are in its own archive.

    Triton looks for them in the repository that the ensemble came from.
    """
    models = defaultdict[str, list[str]](list)
    for model in endpoint.models:
        models[model.archive].append(model.name)
    for model in filter(endpoint.knows_by_lock_alone, endpoint.models):
        for part in dict.fromkeys(model.facts.steps):
            if part not in models[model.archive]:
                message = (
                    f"the ensemble {model.name!r} calls {part!r}, which is not in archive {model.archive!r}"
                )
                yield Problem(model.path, message, did_you_mean(part, models[model.archive]))


@rule("FL246", Severity.WARNING, source="https://docs.aws.amazon.com/sagemaker/latest/dg/triton.html")
def shared_model_name(endpoint: EndpointContext) -> Iterator[Problem]:
    """No two archives of an endpoint contain a model of the same name.

    Both models work, each in its own namespace, but Triton's metrics add them up under one name.
    """
    for archive, model in _namesakes(endpoint) if endpoint.spec.triton >= NAMESPACES_SINCE else ():
        message = (
            f"archives {archive!r} and {model.archive!r} both contain a"
            f" model {model.name!r}: metrics cannot distinguish them"
        )
        yield Problem(model.path, message, "rename one of the two directories and its `name`")


@rule(
    "FL289",
    source="https://github.com/triton-inference-server/core/blob/main/src/model_repository_manager",
    in_files="FL411",
)
def model_name_mismatch(endpoint: EndpointContext) -> Iterator[Problem]:
    """A model's `name` in config.pbtxt, if given, is the name of its directory.

    Otherwise Triton exits with "Directory name must equal model name". Only the main model of a multi-model
    archive may have another name, because it is served under the name of its target.
    """
    multi = endpoint.spec.mode is Mode.MULTI_MODEL
    for model in endpoint.models if multi else endpoint.loaded_models:
        if (
            model.facts.name
            and endpoint.knows_by_lock_alone(model)
            and (not multi or (model.archive, model.name) in endpoint.parts)
        ):
            message, hint = name_mismatch(model.facts.name, model.name)
            yield Problem(model.path, message, hint)


@rule("FL248", source="https://github.com/triton-inference-server/server/pull/5540")
def model_name_conflict(endpoint: EndpointContext) -> Iterator[Problem]:
    """Before Triton 23.04, no two archives of an endpoint contain a model of the same name.

    Triton 23.04 introduced model namespaces. Without them, the second target that is called fails: it is "not
    unique across all model repositories".
    """
    for archive, model in _namesakes(endpoint) if endpoint.spec.triton < NAMESPACES_SINCE else ():
        message = f"archives {archive!r} and {model.archive!r} both contain a model {model.name!r}"
        hint = f"rename one of them, or use Triton {NAMESPACES_SINCE} or newer, which keeps them apart"
        yield Problem(model.path, message, hint)


@MODELS.rule("FL249", source="https://github.com/triton-inference-server/server/pull/5002")
def unsupported_ensemble(context: ModelsContext) -> Iterator[Problem]:
    """Ensembles on a multi-model endpoint need Triton 23.01 or newer."""
    release = context.container.triton
    if release is None or release >= ENSEMBLES_SINCE or context.container.mode is not Mode.MULTI_MODEL:
        return
    for model in context.models:
        if model.facts.backend == "ensemble":
            message = f"{model.name!r} is an ensemble, which Triton {release} supports only in mode `single`"
            yield Problem(model.path, message, f'write `triton: "{ENSEMBLES_SINCE}"` or newer')


@rule("FL212", source=ARCHIVE_SETS, is_needed=True)
def live_set_of_single_model(endpoint: EndpointContext) -> Iterator[Problem]:
    """Only a multi-model endpoint has a live set of archives."""
    if endpoint.spec.archive_set is ArchiveSet.LIVE and endpoint.spec.mode is not Mode.MULTI_MODEL:
        hint = "leave it out, or write `mode: multi-model`"
        yield Problem(("archive_set",), "only a multi-model endpoint has a live set", hint)


@rule("FL213", source=ARCHIVE_SETS, is_needed=True)
def archive_version_mismatch(endpoint: EndpointContext) -> Iterator[Problem]:
    """Archives of a live set have a `version`, archives of a locked set have none."""
    spec = endpoint.spec
    live = spec.archive_set is ArchiveSet.LIVE
    for index, model in enumerate(spec.models):
        if live and spec.mode is Mode.MULTI_MODEL and model.version is None:
            message = f"archive {model.archive!r} of a live set has no version: it could never be changed"
            yield Problem(("models", index), message, "write `version: 1`")
        if not live and model.version is not None:
            message = f"archive {model.archive!r} has a version, but its lock already identifies its content"
            hint = "leave it out; only `archive_set: live` has versions"
            yield Problem(("models", index, "version"), message, hint)


@rule("FL218", source=ARTIFACTS, is_needed=True)
def archive_key_of_other_mode(endpoint: EndpointContext) -> Iterator[Problem]:
    """`copies` belongs to mode `multi-model`, `compression` to the modes with one repository.

    SageMaker accepts uncompressed files only for a single repository, which needs no copies.
    """
    multi = endpoint.spec.mode is Mode.MULTI_MODEL
    key = "compression" if multi else "copies"
    for index, model in enumerate(endpoint.spec.models):
        if getattr(model, key) is not None and key in model.model_fields_set:
            message = f"`{key}` has no effect in mode {endpoint.spec.mode.value!r}"
            yield Problem(("models", index, key), message, "leave it out")


@rule("FL214", source=FRONT_END)
def out_of_memory_archive_name(endpoint: EndpointContext) -> Iterator[Problem]:
    """No archive's name contains words that the container reads as out of memory.

    The container looks for such words in every error message, and these contain the target's name: any
    mistake in a call would make SageMaker unload other models.
    """
    for index, model in enumerate(endpoint.spec.models if endpoint.spec.mode is Mode.MULTI_MODEL else ()):
        for word in out_of_memory():
            if word in model.archive:
                message = (
                    f"{model.archive!r} contains {word!r}: each of its errors would read as out of memory"
                )
                yield Problem(("models", index, "archive"), message, "choose another name")


@rule("FL219", source=ARTIFACTS, is_needed=True)
def malformed_s3_repository(endpoint: EndpointContext) -> Iterator[Problem]:
    """A repository in S3 is an archive, or a prefix that ends in a slash."""
    for index, model in enumerate(endpoint.spec.models):
        if in_s3(model) and (message := name_problem(model)):
            yield Problem(("models", index, "repository"), message, HINT)


@rule("FL220", source=ARTIFACTS, is_needed=True)
def repository_without_digest(endpoint: EndpointContext) -> Iterator[Problem]:
    """A repository in S3 has a `digest` of its content, a folder has none.

    Content in S3 can change without a review.
    """
    name, environment = endpoint.spec.endpoint, endpoint.environment.environment
    for index, model in enumerate(endpoint.spec.models):
        if in_s3(model) and model.digest is None:
            message = f"the content of {model.repository} can change, and the spec has no digest of it"
            hint = f"write `digest:`; `fleet lock --env {environment} {name}` computes and prints it"
            yield Problem(("models", index, "repository"), message, hint)
        if not in_s3(model) and model.digest is not None:
            hint = "leave it out; only a repository in S3 has one"
            yield Problem(("models", index, "digest"), "a folder needs no digest: its lock has it", hint)


def _namesakes(endpoint: EndpointContext) -> Iterator[tuple[str, PlacedModel]]:
    """Models of several targets whose name another archive has: the first such archive, and the model."""
    first: dict[str, str] = {}
    for model in endpoint.models if endpoint.spec.mode is Mode.MULTI_MODEL else ():
        former = first.setdefault(model.name, model.archive)
        if former != model.archive:
            yield former, model


def _single_models(endpoint: EndpointContext) -> list[str]:
    """The models of the one repository of mode `single`, if it is locked."""
    if endpoint.spec.mode is not Mode.SINGLE:
        return []
    return sorted(model.name for model in endpoint.models)
