"""Changes of the other settings of one model: schedulers, versions, instances, warm-up, parameters."""

from __future__ import annotations

from collections.abc import Iterator

from tests.e2e.agreement.tables import cases, put, swap
from tests.support.broken_repositories import CONFIG, DOUBLE, Case

BATCH = "max_batch_size: 8"
CPU = "kind: KIND_CPU count: 1"
BESIDE = """\
default_model_filename: "model.py"
runtime: "libtriton_python.so"
cc_model_filenames { key: "8.6" value: "model.py" }
metric_tags { key: "team" value: "search" }
model_operations { op_library_filename: "nowhere.so" }
optimization {
  priority: PRIORITY_MAX input_pinned_memory { enable: false } gather_kernel_buffer_threshold: 3 eager_batching: true
}
parameters { key: "FORCE_CPU_ONLY_INPUT_TENSORS" value: { string_value: "no" } }
instance_group [ { name: "a" kind: KIND_CPU host_policy: "nowhere" }, { name: "a" kind: KIND_CPU count: 2 } ]
dynamic_batching {
  preferred_batch_size: [ 8, 4 ] max_queue_delay_microseconds: 5 default_priority_level: 3
  priority_queue_policy { key: 7 value: { } }
}
version_policy { all { } }
"""

SCHEDULING = (
    put("harmless-settings", "settings of all kinds", BESIDE),
    swap(
        "dynamic-batching-unbatched",
        "dynamic batching with max_batch_size 0",
        (BATCH, ""),
        add="dynamic_batching { }\n",
    ),
    put(
        "preferred-too-large",
        "a preferred size above max_batch_size",
        "dynamic_batching { preferred_batch_size: [ 4, 9 ] }\n",
    ),
    put("preferred-zero", "a preferred size of 0", "dynamic_batching { preferred_batch_size: 0 }\n"),
    put(
        "preferred-negative", "a preferred size of -1", "dynamic_batching { preferred_batch_size: [ -1 ] }\n"
    ),
    put(
        "delay-negative", "a negative queue delay", "dynamic_batching { max_queue_delay_microseconds: -1 }\n"
    ),
    put(
        "priority",
        "two priority levels",
        "dynamic_batching { priority_levels: 2 default_priority_level: 1 }\n",
    ),
    put(
        "priority-no-default",
        "priority levels without a default",
        "dynamic_batching { priority_levels: 2 }\n",
    ),
    put(
        "priority-default-high",
        "a default above the levels",
        "dynamic_batching { priority_levels: 2 default_priority_level: 3 }\n",
    ),
    put(
        "priority-policy-high",
        "a queue policy above the levels",
        "dynamic_batching { priority_levels: 2 default_priority_level: 1 priority_queue_policy { key: 3 value: { } } }\n",
    ),
    put(
        "priority-policy-zero",
        "a queue policy of level 0",
        "dynamic_batching { priority_levels: 2 default_priority_level: 1 priority_queue_policy { key: 0 value: { } } }\n",
    ),
    put(
        "preserve-ordering-priorities",
        "preserve_ordering with two priority levels",
        "dynamic_batching { preserve_ordering: true priority_levels: 2 default_priority_level: 1 }\n",
    ),
    put(
        "preserve-ordering-one-priority",
        "preserve_ordering with one priority level",
        "dynamic_batching { preserve_ordering: true priority_levels: 1 default_priority_level: 1 }\n",
    ),
    put(
        "preserve-ordering-delay",
        "preserve_ordering with DELAY",
        "dynamic_batching { preserve_ordering: true default_queue_policy { timeout_action: DELAY default_timeout_microseconds: 5 } }\n",
    ),
    put(
        "preserve-ordering-delay-without-timeout",
        "preserve_ordering with DELAY and no timeout",
        "dynamic_batching { preserve_ordering: true default_queue_policy { timeout_action: DELAY } }\n",
    ),
    put(
        "preserve-ordering-delay-of-one-level",
        "preserve_ordering with DELAY for a level",
        "dynamic_batching { preserve_ordering: true priority_levels: 1 default_priority_level: 1"
        " priority_queue_policy { key: 1 value: { timeout_action: DELAY default_timeout_microseconds: 5 } } }\n",
    ),
    put("two-schedulers", "dynamic and sequence batching", "dynamic_batching { }\nsequence_batching { }\n"),
    put(
        "latest-two",
        "version_policy latest 2 with one version",
        "version_policy { latest { num_versions: 2 } }\n",
    ),
    put("latest-none", "version_policy latest 0", "version_policy { latest { num_versions: 0 } }\n"),
    put("latest-unsaid", "version_policy latest without a number", "version_policy { latest { } }\n"),
    put(
        "specific-missing",
        "version_policy specific 2, which is missing",
        "version_policy { specific { versions: 2 } }\n",
    ),
    put(
        "specific-partly-missing",
        "version_policy specific 1 and 2",
        "version_policy { specific { versions: [ 1, 2 ] } }\n",
    ),
    put("specific-none", "version_policy specific without versions", "version_policy { specific { } }\n"),
    put("empty-policy", "an empty version_policy", "version_policy { }\n"),
    put(
        "two-policies",
        "version_policy all and latest",
        "version_policy { all { } latest { num_versions: 1 } }\n",
    ),
)

INSTANCES = (
    put("kind-cpu-gpus", "KIND_CPU with gpus", f"instance_group [ {{ {CPU} gpus: [ 0 ] }} ]\n"),
    put("kind-model", "KIND_MODEL", "instance_group [ { kind: KIND_MODEL } ]\n"),
    put("kind-model-gpus", "KIND_MODEL with gpus", "instance_group [ { kind: KIND_MODEL gpus: [ 0 ] } ]\n"),
    put("count-zero", "count: 0", "instance_group [ { kind: KIND_CPU count: 0 } ]\n"),
    put("count-negative", "count: -1", "instance_group [ { kind: KIND_CPU count: -1 } ]\n"),
    put("unknown-kind", "KIND_TPU", "instance_group [ { kind: KIND_TPU } ]\n"),
    put("profile-of-python", "a profile of a Python model", f'instance_group [ {{ {CPU} profile: "0" }} ]\n'),
    put("passive", "a passive instance", f"instance_group [ {{ {CPU} passive: true }} ]\n"),
    put(
        "rate-limiter",
        "resources of the rate limiter, which is off",
        f'instance_group [ {{ {CPU} rate_limiter {{ resources [ {{ name: "R" count: 4 }} ] priority: 2 }} }} ]\n',
    ),
)

OTHER_SETTINGS = (
    put("cache", "a response cache", "response_cache { enable: true }\n"),
    put(
        "decoupled-cache",
        "decoupled with a response cache",
        "model_transaction_policy { decoupled: true }\nresponse_cache { enable: true }\n",
    ),
    put("parameter-without-value", "a parameter without a value", 'parameters { key: "mine" }\n'),
    put(
        "parameter-twice",
        "a parameter given twice",
        'parameters { key: "a" value: { string_value: "1" } }\nparameters { key: "a" value: { string_value: "2" } }\n',
    ),
    put(
        "parameter-as-number",
        "a parameter with int_value",
        'parameters { key: "a" value: { int_value: 1 } }\n',
    ),
    put(
        "force-cpu-perhaps",
        "FORCE_CPU_ONLY_INPUT_TENSORS: perhaps",
        'parameters { key: "FORCE_CPU_ONLY_INPUT_TENSORS" value: { string_value: "perhaps" } }\n',
    ),
    put(
        "environment-missing",
        "an EXECUTION_ENV_PATH that is not there",
        'parameters { key: "EXECUTION_ENV_PATH" value: { string_value: "$$TRITON_MODEL_DIRECTORY/env.tar.gz" } }\n',
    ),
    put(
        "warmup",
        "a warm-up with zeros",
        'model_warmup [ { name: "w" batch_size: 1 inputs { key: "x" value: { data_type: TYPE_FP32 dims: [ 2 ] zero_data: true } } } ]\n',
    ),
    put(
        "warmup-unknown-input",
        "a warm-up of an unknown input",
        'model_warmup [ { name: "w" batch_size: 1 inputs { key: "z" value: { data_type: TYPE_FP32 dims: [ 2 ] zero_data: true } } } ]\n',
    ),
    put(
        "warmup-other-type",
        "a warm-up of another type",
        'model_warmup [ { name: "w" batch_size: 1 inputs { key: "x" value: { data_type: TYPE_INT32 dims: [ 2 ] zero_data: true } } } ]\n',
    ),
    put(
        "warmup-other-shape",
        "a warm-up of another shape",
        'model_warmup [ { name: "w" batch_size: 1 inputs { key: "x" value: { data_type: TYPE_FP32 dims: [ 3 ] zero_data: true } } } ]\n',
    ),
    put(
        "warmup-variable-shape",
        "a warm-up of a variable shape",
        'model_warmup [ { name: "w" batch_size: 1 inputs { key: "x" value: { data_type: TYPE_FP32 dims: [ -1 ] zero_data: true } } } ]\n',
    ),
    put(
        "warmup-without-data",
        "a warm-up without data",
        'model_warmup [ { name: "w" batch_size: 1 inputs { key: "x" value: { data_type: TYPE_FP32 dims: [ 2 ] } } } ]\n',
    ),
    put(
        "warmup-missing-file",
        "a warm-up from a file that is not there",
        'model_warmup [ { name: "w" batch_size: 1 inputs { key: "x" value: { data_type: TYPE_FP32 dims: [ 2 ] input_data_file: "raw" } } } ]\n',
    ),
    put("warmup-no-inputs", "a warm-up without inputs", 'model_warmup [ { name: "w" batch_size: 1 } ]\n'),
    put(
        "warmup-batch-zero",
        "a warm-up with batch_size 0",
        'model_warmup [ { name: "w" inputs { key: "x" value: { data_type: TYPE_FP32 dims: [ 2 ] zero_data: true } } } ]\n',
    ),
    put(
        "metrics",
        "buckets of a known histogram",
        'model_metrics { metric_control [ { metric_identifier { family: "nv_inference_first_response_histogram_ms" } histogram_options { buckets: [ 1, 2 ] } } ] }\n',
    ),
    put("runtime-unknown", "a runtime that is not there", 'runtime: "libnowhere.so"\n'),
    put("runtime-escapes", "a runtime outside of the backend", 'runtime: "../python/libtriton_python.so"\n'),
    put(
        "repository-agent",
        "an agent that is not there",
        'model_repository_agents { agents [ { name: "nowhere" } ] }\n',
    ),
)


def setting_cases() -> Iterator[Case]:
    """All of them."""
    return cases(DOUBLE, CONFIG, (*SCHEDULING, *INSTANCES, *OTHER_SETTINGS))
