"""The backend and platform of a configuration, whether they complete it, and where they run it.

Sources: triton-inference-server/core, r26.06, src/model_config_utils.cc, AutoCompleteBackendFields,
ValidateModelConfig and GetBackendTypeFromPlatform; tensorrt_backend, src/instance_state.cc, and
openvino_backend, src/openvino.cc, ModelInstanceState.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from posixpath import normpath

from triton_fleet.catalog.backends import Backend, backend_facts, backends
from triton_fleet.catalog.images import backends_elsewhere
from triton_fleet.catalog.releases import platform_since
from triton_fleet.findings import Finding, Severity
from triton_fleet.repository.backends import FORMATS, PLATFORMS, named_backend
from triton_fleet.repository.config.message import ParsedConfig

ENSEMBLE = "ensemble"
CLOSE = 0.75
"""The least similarity to a known backend's name, from 0 to 1, for a proposal of that name."""
TENSORRT_PLAN = "tensorrt_plan"
DEFAULT_PLATFORMS = {
    "tensorrt": TENSORRT_PLAN,
    "onnxruntime": "onnxruntime_onnx",
    "pytorch": "pytorch_libtorch",
}
"""What Triton takes where a backend is named without a platform."""
PAIRS = {
    "tensorflow": ("tensorflow_savedmodel", "tensorflow_graphdef"),
    "tensorrt": ("tensorrt_plan",),
    "onnxruntime": ("onnxruntime_onnx",),
    "pytorch": ("pytorch_libtorch", "torch_aoti"),
}
"""The platforms of those backends whose platform Triton checks."""


def backend_of(config: ParsedConfig) -> str:
    """The backend that follows from the configuration alone; "" if files or the model's name decide it."""
    return named_backend(config.message)


def platform_of(config: ParsedConfig) -> str:
    """The platform, as Triton completes it from the backend."""
    return str(config.message.platform) or DEFAULT_PLATFORMS.get(backend_of(config), "")


def is_ensemble(config: ParsedConfig) -> bool:
    """Whether Triton treats the model as an ensemble."""
    return bool(config.message.platform == ENSEMBLE or config.message.HasField("ensemble_scheduling"))


def completes(config: ParsedConfig) -> bool:
    """Whether the backend may complete an input or output; an unknown backend may."""
    message = config.message
    facts = backend_facts(backend_of(config), platform=message.platform, runtime=message.runtime)
    return not is_ensemble(config) and (
        facts is None or ("input" in facts.completes and not facts.as_a_whole)
    )


def runtime(config: ParsedConfig) -> Iterator[Finding]:
    """A library that Triton would not take: one outside of the backend's folders, or none at all."""
    name, folder = config.message.runtime, backend_of(config) or config.directory
    if is_ensemble(config):
        return
    if name and not normpath(f"{folder}/{name}").startswith(f"{folder}/"):
        message = f"backend library name '{name}' escapes backend directory, for model '{config.name}'"
    elif name == "model.py" and folder == "python":
        message = f"unable to find Python backend based backend library '{name}' for model '{config.name}'"
    elif name and name != "model.py" and not name.endswith(".so"):
        message = f"unable to find backend library '{name}' for model '{config.name}'"
    else:
        return
    hint = "leave out `runtime`: it is the backend's own library, `libtriton_BACKEND.so`, or `model.py`"
    yield config.finding("FL417", message, "runtime", hint=hint)


def identity(config: ParsedConfig, release: str | None = None) -> Iterator[Finding]:
    """Findings in the model's backend and platform."""
    message = config.message
    name, backend, platform = config.name, message.backend, message.platform
    if platform == ENSEMBLE:
        if backend:
            reason = f"Ensemble model '{name}' must have platform type 'ensemble' and empty backend type"
            yield config.finding("FL417", reason, "backend", hint="leave out `backend`")
        return
    backend_name = backend_of(config)
    names = {*(backend.backend for backend in backends().values()), *backends_elsewhere()}
    near = get_close_matches(backend.lower(), names, 1, CLOSE) if backend not in names else []
    if backend and near:
        reason = f"unable to find backend library for backend '{backend}'"
        hint = f"did you mean `{near[0]}`? Of a backend of your own nothing is known here"
        yield config.finding("FL417", reason, "backend", hint=hint, severity=Severity.WARNING)
    if not backend and platform and not backend_name:
        reason = f"unexpected platform type '{platform}' for {name}"
        hint = f"write `backend`, or one of the platforms {', '.join(sorted(PLATFORMS | FORMATS))}"
        yield config.finding("FL417", reason, "platform", hint=hint)
        return
    since = platform_since(platform)
    if release is not None and since > release:
        reason = f"unexpected platform type '{platform}' for {name}"
        hint = f"Triton has it from {since} on, and the image is {release}"
        yield config.finding("FL417", reason, "platform", hint=hint)
        return
    pairs = PAIRS.get(backend_name, ())
    if pairs and platform and platform not in pairs:
        reason = f"unexpected 'platform' and 'backend' pair, got:{platform}, {backend_name}"
        hint = f"leave out `platform`, or write {' or '.join(pairs)}"
        yield config.finding("FL417", reason, "platform", hint=hint)
    if not backend_name and not message.default_model_filename and not config.directory:
        reason = (
            "neither `backend` nor `platform` is given: Triton goes by the model's files, then by its name"
        )
        hint = "write `backend`, so that what serves the model does not depend on its files"
        yield config.finding("FL417", reason, hint=hint, severity=Severity.WARNING)


def runs_on_gpu(config: ParsedConfig) -> bool | None:
    """Whether an instance is on a GPU on every machine; None where that depends on the machine."""
    kinds = {config.enum(group, "kind") for group in config.message.instance_group}
    if "KIND_GPU" in kinds:
        return True
    return None if not kinds or "KIND_AUTO" in kinds else False


def backend_kinds(config: ParsedConfig, facts: Backend) -> Iterator[Finding]:
    """Instance groups of a kind that the backend does not run."""
    for index, group in enumerate(config.message.instance_group):
        kind = config.enum(group, "kind")
        if facts.kinds and kind not in facts.kinds:
            message = facts.kinds_message.format(model=config.name)
            hint = f"write `kind: {facts.kinds[-1]}`"
            yield config.finding("FL459", message, "instance_group", index, "kind", hint=hint)
