"""The lock that a promotion writes: another environment's archives and image, if both specs need the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from triton_fleet.builds.engines.endpoint_engines import EndpointEngine
from triton_fleet.catalog.images import Image
from triton_fleet.context.context import EndpointContext
from triton_fleet.core.formats import canonical_digest
from triton_fleet.endpoint.resolve import resolve_endpoint
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.project.project import LoadedSpec, Project
from triton_fleet.spec.endpoint import EndpointSpec
from triton_fleet.spec.environment import Environment
from triton_fleet.spec.image import LockedImage, OwnImage
from triton_fleet.spec.lock import Lock
from triton_fleet.spec.source import KeyPath, finding_at
from triton_fleet.store.engines.lock import archive_engines
from triton_fleet.store.promote.spec import PromotedSpec, promoted_spec_of

CODE, NO_IMAGE_RECORD = "FL336", "FL686"
NOT_OF_ONE_ENDPOINT = ("defaults", "overrides", "endpoints", "promoted_from")
"""Keys of an environment whose effect on an endpoint is in its spec, or that choose endpoints."""
MODEL_KEYS = ("copies", "compression", "digest")
"""The keys of an entry of `models` that set its archives' content; a live set's `version` only names it."""


@dataclass(frozen=True)
class PromotedEndpoint:
    """The files of an endpoint that a promotion writes: its lock, and its spec if the target has its own."""

    lock: Lock
    spec: PromotedSpec | None


def promoted_endpoint(source: Project, target: Project, endpoint: str) -> PromotedEndpoint:
    """The source's lock as the lock of the target, which an environment that is promoted to has a spec for.

    Raises:
        FindingsError: the lock or a spec is wrong; the target needs other archives, images or engines; or a
            key would differ without an override.
    """
    if not target.is_promoted:
        return PromotedEndpoint(_promoted_lock(source, target, target.load(endpoint)), None)
    spec = promoted_spec_of(source, target, endpoint)
    lock = _promoted_lock(source, target, spec.loaded_spec)
    context = EndpointContext(loaded_spec=spec.loaded_spec, environment=target.environment, lock=lock)
    resolve_endpoint(target.deployment, context)
    return PromotedEndpoint(
        lock.model_copy(update={"inputs": inputs_digest(target, spec.loaded_spec, lock)}), spec
    )


def inputs_digest(project: Project, loaded_spec: LoadedSpec, lock: Lock) -> str:
    """The digest of all that a template follows from beside the product: files as they are written."""
    settings = {
        key: value for key, value in project.environment_source.data.items() if key not in NOT_OF_ONE_ENDPOINT
    }
    whole = [loaded_spec.source.data, settings, lock.model_dump(mode="json", include={"archives", "image"})]
    return canonical_digest(whole)


def _promoted_lock(source: Project, target: Project, target_spec: LoadedSpec) -> Lock:
    endpoint = target_spec.spec.endpoint
    source_spec = source.load(endpoint)
    name, target_name = source.environment.environment, target.environment.environment
    lock = source.lock(endpoint)
    if lock.image is not None and lock.image.digest is None:
        message = f"the lock of {endpoint} does not record the image that its build made in {name}"
        hint = f"run `fleet lock --env {name} {endpoint}`, have it reviewed, deploy it, then promote"
        file = source.lock_file(endpoint)
        raise FindingsError([Finding(code=NO_IMAGE_RECORD, message=message, file=file, hint=hint)])
    differences = [
        *_differences(source_spec.spec, target_spec.spec),
        *_image_differences(source_spec, source.environment, target_spec, target.environment, lock.image),
        *_engine_differences(
            archive_engines(source_spec, source.environment, lock.image),
            archive_engines(target_spec, target.environment, lock.image),
        ),
    ]
    findings = [
        finding_at(
            target_spec.source.latest_mark(path),
            CODE,
            f"{endpoint} was tested in {name} with {before}, but {target_name} has {after}",
            f"both must use the same archives and image: compare `overrides` of {name} and of {target_name}",
        )
        for path, before, after in differences
    ]
    if findings:
        raise FindingsError(findings)
    return lock.model_copy(update={"promoted_from": name, "product": None, "template": None, "inputs": None})


def require_two(source: Project, target: Project, local: str) -> None:
    """Check that the environments differ and that both have an account.

    Raises:
        FindingsError: they are the same, or one of them is `local`.
    """
    name, target_name = source.environment.environment, target.environment.environment
    if name == target_name:
        message, hint = f"{name} cannot be promoted to itself", "pass two environments with --from and --to"
    elif local in (name, target_name):
        message = f"{local!r} is this machine: nothing is promoted from or to it"
        hint = "deploy to an environment in an account, and promote from there"
    elif target.environment.promoted_from not in (None, name):
        origin = target.environment.promoted_from
        message = f"{target_name} is promoted from {origin}, not from {name}"
        hint = f"write `--from {origin}`, or change `promoted_from` in environments/{target_name}.yaml"
    else:
        return
    raise FindingsError([Finding(code="FL338", message=message, hint=hint)])


def _differences(source_spec: EndpointSpec, target_spec: EndpointSpec) -> Iterator[tuple[KeyPath, str, str]]:
    if source_spec.mode is not target_spec.mode:
        yield ("mode",), f"`mode: {source_spec.mode.value}`", f"`mode: {target_spec.mode.value}`"
    before, after = ({model.archive: model for model in spec.models} for spec in (source_spec, target_spec))
    if before.keys() != after.keys():
        yield ("models",), f"archives {', '.join(before) or 'none'}", f"archives {', '.join(after) or 'none'}"
        return
    for index, model in enumerate(target_spec.models):
        for key in MODEL_KEYS:
            was, is_now = (
                _display_value(key, getattr(model_key, key)) for model_key in (before[model.archive], model)
            )
            if was != is_now:
                whose = f" for {model.archive!r}"
                yield ("models", index, key), was + whose, is_now + whose


def _image_differences(
    source_spec: LoadedSpec,
    before: Environment,
    target_spec: LoadedSpec,
    after: Environment,
    lock_digest: LockedImage | None,
) -> Iterator[tuple[KeyPath, str, str]]:
    """Images differ if their folders, arguments or digests differ, or what they are built on.

    Where a spec has no `image_digest`, the lock's base counts.
    """
    was, is_now = _display_image(source_spec.spec.own_image), _display_image(target_spec.spec.own_image)
    if was != is_now:
        yield ("image",), was, is_now
    elif target_spec.spec.own_image is not None and target_spec.spec.own_image.build is not None:
        old, new = _base(source_spec, before), _base(target_spec, after)
        if old is None or new is None or old.tag != new.tag:
            yield ("triton",), f"an image on {_display_base(old)}", f"{_display_base(new)} to build it on"
            return
        locked_digest = lock_digest.base if lock_digest else None
        old, new = (replace(base, digest=base.digest or locked_digest) for base in (old, new))
        if old.name != new.name:
            yield ("image_digest",), f"an image on {old.name}", f"{new.name} to build it on"


def _base(loaded_spec: LoadedSpec, environment: Environment) -> Image | None:
    return EndpointContext(loaded_spec=loaded_spec, environment=environment, lock=None).release_image


def _display_base(base: Image | None) -> str:
    return base.name if base is not None else "no release"


def _display_image(image: OwnImage | None) -> str:
    """Without the repository of an image that exists: each region has its own."""
    if image is None:
        return "the release's image"
    if image.build is None:
        return f"the image {image.digest}"
    arguments = "".join(f" {name}={value}" for name, value in sorted(image.args.items()))
    return f"the image of {image.build}{arguments and f' with{arguments}'}"


def _engine_differences(
    source_engines: Sequence[EndpointEngine], target_engines: Sequence[EndpointEngine]
) -> Iterator[tuple[KeyPath, str, str]]:
    """Engines differ if the GPU, the image or the arguments differ."""
    before = {(engine.index, engine.model): engine for engine in source_engines}
    after = {(engine.index, engine.model): engine for engine in target_engines}
    for place in {**before, **after}:
        was, is_now = before.get(place), after.get(place)
        if was is not None and is_now is not None and was.build("") == is_now.build(""):
            continue
        path = is_now.path if is_now is not None else ("models", place[0])
        yield path, _engine(place[1], was), _engine(place[1], is_now)


def _engine(model: str, engine: EndpointEngine | None) -> str:
    if engine is None:
        return f"no engine of {model!r}"
    return f"{model!r} for {engine.gpu} in {engine.image} by `{' '.join(engine.arguments)}`"


def _display_value(key: str, value: object) -> str:
    return f"no `{key}`" if value is None else f"`{key}: {value}`"
