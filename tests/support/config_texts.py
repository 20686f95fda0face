"""Configurations by what Triton makes of them: what it refuses, with line and words, and what it takes."""

from __future__ import annotations

HEAD = 'name: "resnet"\nbackend: "tensorrt"\nmax_batch_size: 4\n'
IO = """input { name: "image" data_type: TYPE_FP32 dims: [ 3, -1 ] }
output { name: "label" data_type: TYPE_FP32 dims: [ 8 ] }
"""

REFUSED_TEXTS = {
    "agents that are not named": (
        HEAD + "model_repository_agents { }\n",
        4,
        "the model asks for repository agents and names none: the server ends",
    ),
    "the runtime that is no runtime": (
        'backend: "python"\nruntime: "model.py"\n',
        2,
        "unable to find Python backend based backend library 'model.py'",
    ),
    "a Python file that is no module": (
        'backend: "python"\ndefault_model_filename: "my.model.py"\n',
        2,
        "No module named '1.my'",
    ),
    "a Python file of another ending": (
        'backend: "python"\ndefault_model_filename: "model.PY"\n',
        2,
        "Model name must end with '.py'",
    ),
    "an unknown field": (HEAD + "max_batch: 4\n", 4, 'has no field named "max_batch".'),
    "a word for a number": ('name: "x"\nmax_batch_size: many\n', 2, "Expected integer, got: many"),
    "a data type that is none": (
        HEAD + "input {\n  data_type: TYPE_FP33\n}\n",
        5,
        'Unknown enumeration value of "TYPE_FP33" for field "data_type".',
    ),
    "a field twice": (HEAD + 'name: "y"\n', 4, 'Non-repeated field "name" is specified multiple times.'),
    "two schedulers": (
        HEAD + "dynamic_batching {}\nsequence_batching {}\n",
        5,
        'Field "sequence_batching" is specified along with field "dynamic_batching"',
    ),
    "a number out of range": ("max_batch_size: 99999999999\n", 1, "Integer out of range (99999999999)."),
    "a platform that is none": (
        'name: "x"\nplatform: "tensorrt"\n',
        2,
        "unexpected platform type 'tensorrt' for x",
    ),
    "a platform of another backend": (
        'backend: "onnxruntime"\nplatform: "tensorrt_plan"\n',
        2,
        "unexpected 'platform' and 'backend' pair, got:tensorrt_plan, onnxruntime",
    ),
    "an input without a name": (
        HEAD + "input { data_type: TYPE_FP32 dims: [ 1 ] }\n",
        4,
        "model input must specify 'name' for resnet",
    ),
    "an output without a data type": (
        HEAD + 'output { name: "label" dims: [ 1 ] }\n',
        4,
        "model output 'label' must specify 'data_type' for resnet",
    ),
    "a dimension of 0": (
        HEAD + 'input {\n  name: "image"\n  data_type: TYPE_FP32\n  dims: [ 0 ]\n}\n',
        7,
        "model input 'image' dimension must be integer >= 1, or -1 to indicate a variable-size dimension for resnet",
    ),
    "a reshape of another size": (
        HEAD + 'input {\n  name: "i" data_type: TYPE_FP32 dims: [ 2, 2 ]\n  reshape { shape: [ 5 ] }\n}\n',
        6,
        "model input 'i' has different size for dims and reshape for resnet",
    ),
    "a reshape that moves a variable dimension": (
        HEAD + 'input { name: "i" data_type: TYPE_FP32 dims: [ 2, -1 ] reshape { shape: [ 3, -1 ] } }\n',
        4,
        "model input 'i' has different size for dims and reshape for resnet",
    ),
    "a reshape with more variable dimensions": (
        HEAD + 'input { name: "i" data_type: TYPE_FP32 dims: [ 2, -1 ] reshape { shape: [ -1, -1 ] } }\n',
        4,
        "model input 'i' has different number of variable-size dimensions for dims and reshape",
    ),
    "an empty reshape without a batch": (
        'backend: "tensorrt"\ninput { name: "i" data_type: TYPE_FP32 dims: [ 1 ] reshape { shape: [ ] } }\n',
        2,
        "cannot have empty reshape for non-batching model as scalar tensors are not supported",
    ),
    "an image of two dimensions": (
        HEAD + 'input { name: "i" data_type: TYPE_FP32 format: FORMAT_NCHW dims: [ 3, 3 ] }\n',
        4,
        "model input NHWC/NCHW require 3 dims",
    ),
    "a shape tensor without TensorRT": (
        'backend: "python"\ninput { name: "i" data_type: TYPE_INT32 dims: [ 1 ] is_shape_tensor: true }\n',
        2,
        "shape tensors are only supported for TensorRT platform",
    ),
    "a negative batch size": (
        'name: "x"\nbackend: "python"\nmax_batch_size: -1\n',
        3,
        "'max_batch_size' must be non-negative value for x",
    ),
    "a preferred size beyond the largest": (
        HEAD + "dynamic_batching {\n  preferred_batch_size: [ 2, 8 ]\n}\n",
        5,
        "dynamic batching preferred size must be <= max batch size for resnet",
    ),
    "a preferred size of 0": (
        HEAD + "dynamic_batching { preferred_batch_size: 0 }\n",
        4,
        "dynamic batching preferred size must be positive for resnet",
    ),
    "a default priority beyond the levels": (
        HEAD + "dynamic_batching {\n  priority_levels: 3\n  default_priority_level: 4\n}\n",
        6,
        "default priority level must be in range [1, 3] for resnet",
    ),
    "a policy for a level that is not there": (
        HEAD
        + "dynamic_batching {\n  priority_levels: 3 default_priority_level: 1\n"
        + "  priority_queue_policy { key: 4 value { } }\n}\n",
        6,
        "priority queue policy must have priority level in range [1, 3] for resnet",
    ),
    "an order kept over priorities": (
        HEAD
        + "dynamic_batching { priority_levels: 2 default_priority_level: 1\n  preserve_ordering: true }\n",
        5,
        "Only one priority level is allowed when 'preserve_ordering' is true for resnet",
    ),
    "an order kept over delays": (
        HEAD
        + "dynamic_batching { preserve_ordering: true\n  default_queue_policy {\n    timeout_action: DELAY"
        + " default_timeout_microseconds: 9 } }\n",
        6,
        "Queue policy can not have DELAY as timeout action when 'preserve_ordering' is true for resnet",
    ),
    "a batch input of two sources": (
        HEAD
        + IO
        + 'batch_input {\n  kind: BATCH_ITEM_SHAPE data_type: TYPE_INT32 source_input: [ "image", "image" ]\n}\n',
        7,
        "batch input kind 'BATCH_ITEM_SHAPE' expects 1 source input, got 2 for resnet",
    ),
    "a batch input of another type": (
        HEAD + IO + 'batch_input { data_type: TYPE_INT64 source_input: "image" }\n',
        6,
        "batch input data type must be TYPE_INT32 or TYPE_FP32 for resnet",
    ),
    "a batch output to nowhere": (
        HEAD + IO + 'batch_output { source_input: "image" target_name: "lable" }\n',
        6,
        "unknown target output name 'lable' for resnet",
    ),
    "GPUs for the CPU": (
        HEAD + "instance_group {\n  kind: KIND_CPU\n  gpus: 0\n}\n",
        6,
        "instance group resnet_0 of model resnet has kind KIND_CPU but specifies one or more GPUs",
    ),
    "a GPU that no instance has": (
        HEAD + "instance_group [ { gpus: 0 }, { kind: KIND_GPU gpus: 42 } ]\n",
        4,
        "instance group resnet_1 of model resnet specifies invalid or unsupported gpu id 42.",
    ),
    "a profile without TensorRT": (
        'backend: "python"\ninstance_group { profile: "0" }\n',
        2,
        "specifies profile field which is only supported for TensorRT models",
    ),
    "a profile that is no number": (
        HEAD + 'instance_group { profile: [ "0", "fast" ] }\n',
        4,
        "unable to parse 'fast': stoi",
    ),
    "a policy that takes no version": (
        HEAD + "version_policy { latest { } }\n",
        4,
        "at least one version must be available under the version policy of model 'resnet'",
    ),
    "a cache of decoupled answers": (
        HEAD + "model_transaction_policy { decoupled: true }\nresponse_cache { enable: true }\n",
        5,
        "Response Cache does not currently support model resnet with 'decoupled' transaction policy.",
    ),
    "a warm-up of unknown size": (
        HEAD
        + 'model_warmup { batch_size: 1 inputs { key: "image" value { data_type: TYPE_FP32 dims: -1'
        + " zero_data: true } } }\n",
        4,
        "warmup setting expects all variable-size dimensions are specified for input 'image'",
    ),
    "a warm-up without data": (
        HEAD
        + 'model_warmup { batch_size: 1 inputs { key: "image" value { data_type: TYPE_FP32 dims: 1 } } }\n',
        4,
        "warmup setting expects input 'image' to have input_data_type set",
    ),
    "a histogram without buckets": (
        HEAD
        + 'model_metrics { metric_control { metric_identifier { family: "x" } histogram_options { } } }\n',
        4,
        "histogram options must specify non-empty 'buckets'",
    ),
    "a library from elsewhere": (
        HEAD + 'runtime: "../other/libtriton_x.so"\n',
        4,
        "backend library name '../other/libtriton_x.so' escapes backend directory, for model 'resnet'",
    ),
}


VALID_TEXTS = {
    "a plain model": HEAD + IO,
    "nothing at all": "",
    "angle brackets, semicolons and comments": (
        "name: 'resnet' # ours\nbackend: \"tensorrt\";\ninput < name: 'i', data_type: TYPE_FP32, dims: 1 >"
    ),
    "a reshape that keeps what stands between variable dimensions": (
        HEAD
        + 'input { name: "i" data_type: TYPE_FP32 dims: [ 2, 4, -1, 6 ] reshape { shape: [ 8, -1, 1, 6 ] } }'
    ),
    "an empty reshape with a batch": (
        HEAD + 'input { name: "i" data_type: TYPE_FP32 dims: [ 1 ] reshape { shape: [ ] } }'
    ),
    "all GPUs": HEAD + "instance_group { kind: KIND_GPU count: 2 gpus: [ 0, 1 ] }",
    "versions by number": HEAD + "version_policy { specific { versions: [ 1, 3 ] } }",
    "a file name that leads to the backend": 'default_model_filename: "model.onnx"\n',
}
