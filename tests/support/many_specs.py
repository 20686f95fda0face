"""Strategies of specs that mostly validate, and of locks with odd facts, so that the rules have work to do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from hypothesis import strategies as st

from triton_fleet.catalog.amis import amis
from triton_fleet.catalog.images import releases
from triton_fleet.catalog.instances import instance_types
from triton_fleet.catalog.variables import variables
from triton_fleet.rules.registry import rules

Document: TypeAlias = dict[str, Any]
Values: TypeAlias = st.SearchStrategy[Any]

RELEASES = st.sampled_from([*releases(), "20.01", "25.13", "99.99"])
TYPES = st.sampled_from([*instance_types(), "ml.g5.huge", "ml.g99.xlarge", "ml.c5d.xlarge"])
MODELS = st.sampled_from(["embed", "rank", "tokenize", "x.y-z_0"])
SHORT = st.text(max_size=8)
ODD_NUMBERS = st.sampled_from(
    ["0", "-1", "007", "1.5", "9" * 19, "9" * 400, "9" * 5000, "٣", "²", "1e3", "x"]
)
ODD = st.one_of(
    ODD_NUMBERS, SHORT, st.sampled_from(["", " ", "true", "FALSE", "on", "a b", "--flag", "generate"])
)
SECONDS = st.sampled_from(["0s", "60s", "600s", "59m", "1h", "8h", "999999999h"])
SHARES = st.sampled_from(["0.000000001%", "1%", "5%", "10%", "33.3%", "50%", "51%", "100%"])
REPOSITORIES = st.sampled_from(
    [
        "../repository",
        "../nothing",
        "",
        "/usr",
        "s3://bucket/key.tar.gz",
        "s3://bucket/prefix/",
        "s3://x",
        "s3://",
    ]
)
DIGESTS = st.sampled_from([f"sha256:{'a' * 64}", f"sha256:{'b' * 64}"])


def _keys(
    *, expected_values: Mapping[str, Values] | None = None, **optional: Values
) -> st.SearchStrategy[Document]:
    return st.fixed_dictionaries(dict(expected_values or {}), optional=optional)


SHAPES = st.lists(st.sampled_from(["1", "1x8", "16x8", "32x8", "9999999999x1"]), min_size=3, max_size=3)
ENGINES = _keys(
    expected_values={"model": MODELS, "onnx": st.just("model.onnx")},
    precision=st.sampled_from(["fp32", "fp16", "bf16", "int8", "fp8", "int4"]),
    shapes=st.dictionaries(st.from_regex(r"[^\x00-\x20,'*]{1,8}", fullmatch=True), SHAPES, max_size=2),
    digest=DIGESTS,
    workspace=st.sampled_from(["1MiB", "14000MiB", "400GiB"]),
    compatibility=st.sampled_from(["none", "ampere+", "same-compute-capability"]),
)
ARCHIVES = _keys(
    expected_values={"repository": REPOSITORIES},
    digest=DIGESTS,
    copies=st.integers(1, 3),
    version=st.integers(1, 2**31 - 1),
    compression=st.sampled_from(["gzip", "none"]),
    engines=st.lists(ENGINES, max_size=2),
    built_on=TYPES,
)
SCALING = _keys(
    expected_values={
        "min": st.integers(0, 2),
        "max": st.integers(2, 5),
        "gpu_utilization": st.floats(1, 100),
    },
    invocations_per_instance=st.floats(0.001, 1e300),
    scale_in=SECONDS,
    scale_out=SECONDS,
)
ROLLOUT = _keys(
    strategy=st.sampled_from(["all-at-once", "canary", "linear", "rolling"]),
    canary=SHARES,
    step=SHARES,
    bake=st.sampled_from(["0s", "60s", "1h"]),
    termination_wait=st.sampled_from(["0s", "1h"]),
    timeout=st.sampled_from(["10m", "8h"]),
    rollback_on=st.sampled_from([[], ["errors"], ["latency", "errors"], ["errors", "errors"]]),
)
VPC = {"subnets": ["subnet-0123456789abcdef0"], "security_groups": ["sg-0123456789abcdef0"]}


def _by_severity(values: Values) -> Values:
    return st.one_of(values, st.none(), _keys(expected_values={"warning": values}, critical=values))


ALARMS = _keys(
    latency_p50=st.just("200ms"),
    latency_p99=_by_severity(st.sampled_from(["1ms", "999999999s"])),
    errors=_by_severity(SHARES),
    gpu_memory=_by_severity(SHARES),
    disk=_by_severity(SHARES),
    at_capacity=_by_severity(st.sampled_from(["1m", "24h"])),
    cache_hits=_by_severity(SHARES),
    pending_requests=_by_severity(st.integers(1, 2**31 - 1)),
    calls=st.integers(0, 2**31 - 1),
)
FLAGS = st.sampled_from(
    [
        "--cache-config=redis,host=x",
        "--load-model=*",
        "--cache-config=local,size=1",
        "--http-max-input-size=9",
        "--http-port=8080",
        "--allow-http=true",
        "--metrics-port",
        "--metrics-port=8080",
        "--grpc-port=23001",
        "--allow-grpc=1",
        "--x",
        "--a==",
    ]
)
CONTAINER = _keys(
    thread_count=st.integers(1, 2**31 - 1),
    log_verbose=st.booleans(),
    log_info=st.booleans(),
    shm_default_byte_size=st.integers(1 << 20, 2**63 - 1),
    model_load_gpu_limit=st.floats(0, 1),
    inference_type=st.sampled_from(["infer", "generate", "generate_stream"]),
    metrics_port=st.sampled_from([1024, 8002, 23000, 23001, 65535]),
    additional_args=st.lists(FLAGS, max_size=3),
)
NAMES = st.one_of(
    st.sampled_from([*variables(), "SAGEMAKER_TRITON_X"]), st.just("HF_TOKEN"), st.just("a_secret")
)
VARIABLES = st.dictionaries(NAMES, ODD.filter(lambda value: "\0" not in value), max_size=6)
JSON_VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), ODD),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(SHORT, inner, max_size=3)),
    max_leaves=6,
)
PROPERTIES = st.sampled_from(
    [
        "VolumeSizeInGB",
        "ProductionVariants.0.VolumeSizeInGB",
        "KmsKeyId",
        "ModelName",
        "Tags",
        "",
        ".",
        "a..b",
    ]
)
CLOUDFORMATION = st.dictionaries(
    st.sampled_from(["Model", "EndpointConfig", "Endpoint", "Bucket", ""]),
    st.dictionaries(PROPERTIES, JSON_VALUES, max_size=3),
    max_size=3,
)
ALLOW = st.dictionaries(st.sampled_from([*rules(), "FL999", "FL101"]), st.just("tried once"), max_size=3)
INSTANCE = _keys(
    expected_values={"type": TYPES},
    ami=st.sampled_from([ami.name or "unnamed" for ami in amis()] + ["al2-ami-none"]),
    count=st.integers(1, 3),
)

WHOLE = st.sampled_from([0, 1, 2**31, 2**63 - 1])
GROUPS = _keys(
    kind=st.sampled_from(["KIND_AUTO", "KIND_GPU", "KIND_CPU", "KIND_MODEL"]),
    count=st.sampled_from([1, 2, 2**31 - 1]),
    gpus=st.lists(st.sampled_from([-1, 0, 1, 7, 10**300]), max_size=2),
)
VERSIONS = st.one_of(
    st.sampled_from(["", "10", "10.9.0.34", "8.6", "a.b", "...", "10.9.0.34.1"]), ODD_NUMBERS
)
FACTS = _keys(
    backend=st.sampled_from(
        ["", "python", "onnxruntime", "tensorrt", "tensorflow", "ensemble", "fancy", "x y"]
    ),
    platform=st.sampled_from(["", "tensorflow_graphdef", "caffe2_netdef"]),
    max_batch_size=WHOLE,
    instances=st.lists(GROUPS, max_size=2),
    size=WHOLE,
    decoupled=st.booleans(),
    response_cache=st.booleans(),
    steps=st.lists(st.one_of(MODELS, SHORT), max_size=3),
    item_bytes=WHOLE,
    plans=st.dictionaries(st.sampled_from(["1/model.plan", "1/a.plan", "", "/"]), VERSIONS, max_size=2),
    by_compute_capability=st.dictionaries(
        st.sampled_from(["7.5", "8.6", "x", "", "8.6.1"]), st.sampled_from(["a.plan", ""]), max_size=2
    ),
)


@st.composite
def specs(draw: st.DrawFn) -> Document:
    """A spec of one archive, or of one to three in mode `multi-model`."""
    multi = draw(st.booleans())
    models = draw(st.lists(ARCHIVES, min_size=1, max_size=3 if multi else 1))
    name = draw(st.sampled_from(["sentences", "memory", "out-of-memory", "A"]))
    spec: Document = {
        "endpoint": "sentences",
        "mode": "multi-model" if multi else "single",
        "triton": draw(RELEASES),
        "instance": draw(INSTANCE),
        "models": [{"archive": f"{name}{number}", **model} for number, model in enumerate(models)],
    }
    return spec | draw(
        _keys(
            archive_set=st.sampled_from(["locked", "live"]),
            default_model=MODELS,
            scaling=SCALING,
            rollout=ROLLOUT,
            alarms=ALARMS,
            metrics=_keys(triton=st.booleans(), enhanced=st.booleans()),
            network=st.sampled_from([{"isolated": True}, VPC, {**VPC, "isolated": True}]),
            capture=_keys(
                expected_values={"sample": st.sampled_from(["1%", "100%"])}, requests=st.booleans()
            ),
            logs=st.just({"retention_days": 1}),
            tags=st.dictionaries(st.sampled_from(["team", "Team", "a"]), st.just("x")),
            container=CONTAINER,
            environment=VARIABLES,
            timeouts=_keys(startup=st.just("15m"), model_download=st.just("1h")),
            cloudformation=CLOUDFORMATION,
            allow=ALLOW,
        )
    )


@st.composite
def locks(draw: st.DrawFn, spec: Document) -> Document:
    """A lock of the spec's archives, or of some of them."""
    names = [
        name
        for model in spec["models"]
        for name in (
            [f"{model['archive']}-{copy}" for copy in range(model["copies"])]
            if "copies" in model
            else [model["archive"]]
        )
    ]
    facts = st.dictionaries(MODELS, FACTS, min_size=1, max_size=3)
    archive = _keys(expected_values={"digest": DIGESTS, "size": WHOLE, "models": facts})
    held_names = draw(st.lists(st.sampled_from(names), unique=True)) if draw(st.booleans()) else names
    lock: Document = {"endpoint": "sentences", "archives": {name: draw(archive) for name in held_names}}
    return lock | draw(_keys(promoted_from=st.just("staging")))


@st.composite
def environments(draw: st.DrawFn) -> Document:
    """An environment, some of which change what the spec says."""
    regions = ["us-east-1", "eu-west-1", "cn-north-1", "us-gov-west-1", "ap-southeast-5", "xx-nowhere-9"]
    environment: Document = {
        "environment": "dev",
        "account": "111122223333",
        "region": draw(st.sampled_from(regions)),
    }
    partial = _keys(
        instance=_keys(count=st.integers(1, 3)),
        environment=VARIABLES,
        container=CONTAINER,
        scaling=_keys(max=st.integers(1, 5)),
        allow=ALLOW,
        rollout=ROLLOUT,
    )
    return environment | draw(
        _keys(
            defaults=partial,
            overrides=_keys(sentences=partial, other=partial),
            tags=st.dictionaries(SHORT, SHORT, max_size=3),
        )
    )
