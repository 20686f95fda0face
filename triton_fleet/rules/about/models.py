"""Rules about the models themselves: their backends, where they run, how they are called."""

from __future__ import annotations

from collections.abc import Iterator

from triton_fleet.catalog.images import backends_elsewhere, removed_backends
from triton_fleet.catalog.instances import Processor
from triton_fleet.catalog.variables import gpu_backends, variables
from triton_fleet.context.context import EndpointContext
from triton_fleet.context.models import ModelContext
from triton_fleet.context.variables import ADDITIONAL_ARGS, PREFIX
from triton_fleet.findings import Severity
from triton_fleet.rules.rule import MODEL, MODEL_ON_INSTANCE, Problem, rule
from triton_fleet.spec.endpoint import Compression, Mode

CONFIG = "https://github.com/triton-inference-server/server/blob/main/docs/user_guide/model_configuration.md"
FRONT_END = "https://github.com/triton-inference-server/server/blob/main/src/sagemaker_server.cc"
INFERENCE_TYPE = f"{PREFIX}INFERENCE_TYPE"


@MODEL.rule(
    "FL254",
    source="https://docs.nvidia.com/deeplearning/triton-inference-server/release-notes/",
    fields=("backend", "platform"),
)
def unsupported_backend(context: ModelContext) -> Iterator[Problem]:
    """The release's image still has the model's backend.

    Triton removed TensorFlow in 25.03 and FasterTransformer in 23.06: their models fail to load.
    """
    model, contents = context.model, context.container.contents
    since = removed_backends(contents.name).get(model.facts.backend) if contents else None
    if contents and since:
        message = (
            f"model {model.name!r} has the {model.facts.backend} backend, which Triton {since} removed;"
            f" the image has Triton {contents.name}"
        )
        yield Problem(model.path, message, f"convert the model to ONNX, or use a release before {since}")


@MODEL.rule(
    "FL476",
    source="https://github.com/triton-inference-server/server/issues/7346",
    fields=("backend",),
)
def missing_backend(context: ModelContext) -> Iterator[Problem]:
    """A model of vLLM or TensorRT-LLM runs in an image of your own that has its backend.

    SageMaker's images are built on NVIDIA's general image of Triton, which has neither of the two.
    """
    model, elsewhere = context.model, backends_elsewhere()
    if model.facts.backend in elsewhere and not context.container.has_own_image:
        message = (
            f"unable to find backend library for backend '{model.facts.backend}', which model"
            f" {model.name!r} needs and no image of Triton that SageMaker has contains"
        )
        hint = (
            "build an image of your own for it: `fleet docs images`; NVIDIA has the backend in"
            f" tritonserver:YY.MM-{elsewhere[model.facts.backend]}"
        )
        yield Problem(model.path, message, hint)


@rule("FL255", source="https://protobuf.dev/reference/protobuf/textformat-spec/", in_files="FL415")
def unreadable_model_config(endpoint: EndpointContext) -> Iterator[Problem]:
    """A model's config.pbtxt is valid protobuf text format; otherwise Triton does not load the model."""
    for loaded_model in endpoint.loaded_models:
        if loaded_model.facts.unreadable and endpoint.knows_by_lock_alone(loaded_model):
            message = f"{loaded_model.name}/config.pbtxt cannot be read as a model's configuration"
            hint = "look for a missing brace, bracket or quotation mark, or a value of the wrong type"
            yield Problem(loaded_model.path, message, hint)


@rule("FL275", source="docs/artifacts.md")
def empty_folder_in_s3(endpoint: EndpointContext) -> Iterator[Problem]:
    """No version directory of an uncompressed repository is empty.

    S3 has no folders, and an ensemble without its version directory is not loaded.
    """
    for model in endpoint.models:
        is_unpacked = endpoint.spec.models[model.index].compression is Compression.NONE
        if is_unpacked and model.facts.backend == "ensemble" and not model.facts.size:
            message = (
                f"the version directory of ensemble {model.name!r} is empty, and S3 keeps no empty folders"
            )
            yield Problem(model.path, message, f"put a file into {model.name}/1/, such as a README.md")


@MODEL_ON_INSTANCE.rule("FL253", source=CONFIG, fields=("instance_group",))
def gpu_model_without_gpu(context: ModelContext) -> Iterator[Problem]:
    """Models that need a GPU run on an instance that has one.

    Without a GPU, models with KIND_GPU, GPU numbers or a TensorRT plan fail to load.
    """
    model, machine = context.model, context.container.machine
    if machine is None or machine.kind is not Processor.CPU:
        return
    wants = "KIND_GPU" if any(group.kind == "KIND_GPU" for group in model.facts.instances) else ""
    if any(group.kind == "KIND_AUTO" and group.gpus for group in model.facts.instances):
        wants = "GPUs by number"
    if model.facts.backend in gpu_backends():
        wants = f"the {model.facts.backend} backend"
    if wants:
        message = f"model {model.name!r} needs {wants}; {machine.type} has no GPU"
        yield Problem(("instance", "type"), message, "use a GPU instance, or change its config.pbtxt")


@MODEL_ON_INSTANCE.rule("FL252", source=CONFIG, fields=("instance_group",))
def unknown_gpu_number(context: ModelContext) -> Iterator[Problem]:
    """The instance has the GPUs that a model names.

    GPUs are numbered from 0. With a number that is too high, the model fails to load.
    """
    model, machine = context.model, context.container.machine
    if machine is None or machine.kind is not Processor.GPU:
        return
    numbers = {gpu for group in model.facts.instances for gpu in group.gpus}
    beyond = sorted(numbers - set(range(machine.gpus)))
    if beyond:
        has = "1 GPU, number 0" if machine.gpus == 1 else f"{machine.gpus} GPUs, 0 to {machine.gpus - 1}"
        message = f"model {model.name!r} names GPU {', '.join(map(str, beyond))}; {machine.type} has {has}"
        yield Problem(model.path, message, "leave `gpus` out of its instance_group, or use a larger instance")


@MODEL.rule(
    "FL261",
    Severity.WARNING,
    source="https://docs.aws.amazon.com/sagemaker/latest/dg/multi-model-endpoints.html",
    fields=("instance_group",),
)
def fixed_gpu_in_multi_model(context: ModelContext) -> Iterator[Problem]:
    """Models of a multi-model endpoint name no GPUs: SageMaker places them where memory is free."""
    model, multi_model = context.model, context.container.mode is Mode.MULTI_MODEL
    if multi_model and any(group.gpus for group in model.facts.instances):
        message = (
            f"model {model.name!r} names its GPU, which can interfere with SageMaker's memory management"
        )
        yield Problem(model.path, message, "leave `gpus` out of its instance_group")


@rule("FL258", source=FRONT_END)
def unstreamed_decoupled_model(endpoint: EndpointContext) -> Iterator[Problem]:
    """A model that answers in several parts is called with `generate`, on an endpoint of mode `single`.

    Other calls of a decoupled model get status 400.
    """
    several = endpoint.spec.mode is not Mode.SINGLE
    for answering_model in endpoint.answering_models():
        if answering_model.facts.decoupled and (several or not _generates(endpoint)):
            message = f"model {answering_model.name!r} is decoupled: calls of it are answered with status 400"
            hint = "write `container: {inference_type: generate_stream}`" + (
                " and `mode: single`" if several else ""
            )
            yield Problem(answering_model.path, message, f"{hint}, with Triton {_generates_since()} or newer")


@rule(
    "FL259",
    source="https://github.com/triton-inference-server/server/blob/main/docs/user_guide/response_cache.md",
)
def missing_response_cache(endpoint: EndpointContext) -> Iterator[Problem]:
    """The server has a response cache if a model uses one.

    Without --cache-config, the model's setting has no effect.
    """
    flags = endpoint.settings.get(ADDITIONAL_ARGS, "")
    for loaded_model in endpoint.loaded_models:
        if loaded_model.facts.response_cache and "--cache-config" not in flags:
            message = f"model {loaded_model.name!r} caches its responses, but the server has no cache"
            hint = 'write `container: {additional_args: ["--cache-config=local,size=104857600"]}`'
            yield Problem(loaded_model.path, message, hint)


def _generates(endpoint: EndpointContext) -> bool:
    kind = endpoint.settings.get(INFERENCE_TYPE, "")
    return kind.startswith("generate") and endpoint.spec.triton >= _generates_since()


def _generates_since() -> str:
    return variables()[INFERENCE_TYPE].since or ""
