"""A spec for the model repositories in a folder, with the reason of each key."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from triton_fleet.catalog.images import releases
from triton_fleet.catalog.instances import Instance, Processor
from triton_fleet.catalog.proposals import proposals, proposed_instances
from triton_fleet.context.context import EndpointContext
from triton_fleet.findings import Finding, FindingsError, Severity
from triton_fleet.new.proposal.archives import Archives, archives_of
from triton_fleet.new.proposal.choice import Draft, choose
from triton_fleet.new.proposal.reasons import (
    Room,
    count_keys,
    foot,
    gpu_reason,
    instance_key,
    region_prices,
    scaling_key,
    triton_key,
)
from triton_fleet.new.proposal.repositories import (
    DefaultModel,
    propose_default_model,
    propose_routes,
    repositories_in,
)
from triton_fleet.new.proposal.yaml_text import Key, render_spec
from triton_fleet.project.layers import LayerKind
from triton_fleet.project.project import Project
from triton_fleet.spec.endpoint import Mode
from triton_fleet.spec.source import SPEC_SCHEMA, SPECS, Source

HEAD = "Proposed by `fleet new`: the comment above a key gives its reason. Change whatever you know better."
KEYS_OF_AUTHOR = {
    "samples": "calls that have to be answered after each deploy; else it is rolled back.",
    "alarms": "errors, memory and disk have defaults; `latency_p99` needs the time that you promise.",
    "rollout": "left out, all calls move at once; `{strategy: canary, canary: 50%, bake: 10m}` tries first.",
}
"""Keys that no repository decides."""


def proposed_spec(
    name: str,
    file: Path,
    folder: str,
    projects: tuple[Project, ...],
    mode: Mode | None = None,
    profiles: Sequence[str] = (),
) -> str:
    """The text of a spec.

    Args:
        name: The endpoint's.
        file: Where the spec will be.
        folder: A model repository, or a folder of several.
        projects: The environments that it has to hold in, one at least.
        mode: None: by the number of repositories.
        profiles: What it is laid over, as over its folders' files; a key that they have is not proposed.

    Raises:
        FindingsError: what is wrong with the profiles, or with the repositories, for the release and the
            instance with which the least is.
    """
    profiles = list(dict.fromkeys(profiles))
    repositories = repositories_in(folder)
    several, mode_option = len(repositories.repositories) > 1, mode
    mode = mode_option or (Mode.MULTI_MODEL if several else Mode.SINGLE)
    if several and mode is not Mode.MULTI_MODEL:
        raise FindingsError([_of_one_repository(mode, folder)])
    archives = archives_of(repositories, name, file.parent, projects[0].root)
    answer = propose_default_model(repositories.repositories[0]) if mode is Mode.SINGLE else DefaultModel()
    draft = Draft(file, repositories, projects)
    routes = [propose_routes(repositories.repositories[0])] if mode is Mode.SHARED_CONTAINER else []
    below = _keys_below(projects[0], file, profiles)

    def own(keys: Iterable[Key]) -> list[Key]:
        return [key for key in keys if key.name not in below]

    head = [Key(name="endpoint", value=name), *_profile_keys(profiles)]
    head += own([_mode_key(mode, archives, is_wanted=mode_option is not None)])
    base_keys = [*head, *answer.keys(), *routes]
    prices = region_prices(projects)
    sample_machine = proposed_instances(Processor.GPU, prices.hourly_price)[0]
    anywhere = [*_placement_keys(releases()[-1], sample_machine), scaling_key(sample_machine, mode)]
    endpoint = draft.context(_data([*base_keys, *own(anywhere), archives.key()]))
    settings = container_key(endpoint, answer.further)
    further = [] if settings is None else [settings]
    keeps_count = "instance" not in below or "scaling" in below
    counts = [] if keeps_count else count_keys(endpoint.spec.instance.count)

    def findings_of(release: str, machine: Instance) -> list[Finding]:
        keys = [
            *_placement_keys(release, machine),
            archives.key(endpoint, machine),
            scaling_key(machine, mode),
        ]
        return draft.findings(_data([*base_keys, *own(keys), *counts, *further]))

    wish, room = gpu_reason(endpoint.answering_models()), Room(endpoint, archives.plans)
    machines = proposed_instances(Processor.GPU if wish else Processor.CPU, prices.hourly_price)
    if "instance" in below and endpoint.machine is not None:
        machines = (endpoint.machine,)
    choice = choose(machines, room.lacks, findings_of)
    if any(finding.severity is Severity.ERROR for finding in choice.findings):
        raise FindingsError(list(choice.findings))
    machine_keys = [triton_key(choice), instance_key(choice, wish, room, mode, prices)]
    rest = [archives.key(endpoint, choice.machine), scaling_key(choice.machine, mode), *further]
    keys = [*head, *own(machine_keys), *counts, *base_keys[len(head) :], *own(rest)]
    up = "../" * len(file.parent.relative_to(projects[0].root / SPECS).parts)
    return render_spec(f"{up or './'}{SPEC_SCHEMA}", [HEAD], keys, foot(choice.findings, KEYS_OF_AUTHOR))


def _keys_below(project: Project, file: Path, profiles: Sequence[str]) -> frozenset[str]:
    """The keys that profiles and the folders' files give, but those that only a repository decides.

    Raises:
        FindingsError: one of the profiles does not exist, or is wrong.
    """
    source = Source(file, {"profile": list(profiles)})
    kinds = (LayerKind.FOLDER, LayerKind.PROFILE)
    layers = (layer for layer in project.draft_layering.layers(source) if layer.kind in kinds)
    keys = {key for layer in layers for key in layer.source.data}
    return frozenset(keys - {"models", "default_model", "routes"})


def _profile_keys(profiles: Sequence[str]) -> list[Key]:
    if not profiles:
        return []
    sentence = "Named by --profile: what it has is not repeated here."
    return [
        Key(name="profile", value=profiles[0] if len(profiles) == 1 else list(profiles), reasons=(sentence,))
    ]


def _of_one_repository(mode: Mode, folder: str) -> Finding:
    message = f"{folder} is a folder of several repositories, and mode `{mode.value}` has one"
    hint = "put the models into one repository, or leave out --mode for `multi-model`"
    return Finding(code="FL503", message=message, hint=hint)


def _mode_key(mode: Mode, archives: Archives, *, is_wanted: bool) -> Key:
    sentence = "One model repository."
    if mode is Mode.SHARED_CONTAINER:
        sentence = "Asked for by --mode: all models are loaded, and each call names its route."
    elif is_wanted:
        sentence = "Asked for by --mode."
    if mode is Mode.MULTI_MODEL:
        sentence = (
            f"{len(archives.names)} model repositories: each becomes an archive, loaded when it is first"
            ' called as TargetModel="ARCHIVE.tar.gz".'
        )
    return Key(name="mode", value=mode.value, reasons=(sentence,))


def _placement_keys(release: str, machine: Instance) -> list[Key]:
    """Release and instance without their reasons."""
    instance = {"type": machine.type, "count": proposals().min_instances}
    return [Key(name="triton", value=release), Key(name="instance", value=instance)]


def _data(keys: Iterable[Key]) -> dict[str, object]:
    return {key.name: key.value for key in keys}


LOAD, CACHE = "--load-model=", "--cache-config=local,size="


def container_key(endpoint: EndpointContext, further: Sequence[str]) -> Key | None:
    """The settings of the container; None if it needs none.

    Args:
        endpoint: The endpoint without these settings.
        further: Models that code calls, and that nothing else loads.
    """
    settings, sentences = dict[str, object](), list[str]()
    flags = [f"{LOAD}{name}" for name in further]
    if further:
        sentences.append(f"The code of a Python model calls {', '.join(further)}: nothing else loads them.")
    cache_users = [model.name for model in endpoint.models if model.facts.response_cache]
    if cache_users:
        flags.append(f"{CACHE}{proposals().response_cache_bytes}")
        sentences.append(
            f"{', '.join(cache_users)} asks for a response cache, which the server has only with this flag."
        )
    streaming_models = [
        answering_model.name
        for answering_model in endpoint.answering_models()
        if answering_model.facts.decoupled
    ]
    if streaming_models and endpoint.default_model is not None:
        settings["inference_type"] = "generate_stream"
        sentences.append(
            f"{', '.join(streaming_models)} answers in several parts, so other calls of it are refused."
        )
    if flags:
        settings["additional_args"] = flags
    return Key(name="container", value=settings, reasons=tuple(sentences)) if settings else None
