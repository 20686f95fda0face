"""Schedulers and ensembles by what Triton makes of them."""

from __future__ import annotations

from tests.support.config_texts import HEAD, IO

ENSEMBLE = 'name: "resnet"\nplatform: "ensemble"\nmax_batch_size: 4\n' + IO


def step(inputs: str = "image", outputs: str = "label", name: str = "a") -> str:
    return (
        f'  step {{ model_name: "{name}" input_map {{ key: "i" value: "{inputs}" }}'
        f' output_map {{ key: "o" value: "{outputs}" }} }}\n'
    )


def ensemble(*steps: str) -> str:
    return ENSEMBLE + "ensemble_scheduling {\n" + "".join(steps) + "}\n"


def sequence(control: str, more: str = "") -> str:
    return HEAD + IO + f"sequence_batching {{\n  {more}\n  control_input [ {control} ]\n}}\n"


def kinds(*controls: str) -> str:
    return " ".join(f"control {{ {control} }}" for control in controls)


REFUSED_SCHEDULING = {
    "a control twice": (
        sequence(
            '{ name: "S" '
            + kinds("kind: CONTROL_SEQUENCE_START int32_false_true: [ 0, 1 ]")
            + " },\n"
            + '{ name: "T" '
            + kinds("kind: CONTROL_SEQUENCE_START int32_false_true: [ 0, 1 ]")
            + " }"
        ),
        9,
        "sequence batching specifies multiple CONTROL_SEQUENCE_START tensors for resnet",
    ),
    "a control without values": (
        sequence('{ name: "S" ' + kinds("kind: CONTROL_SEQUENCE_READY") + " }"),
        8,
        "sequence batching must specify either 'int32_false_true', 'fp32_false_true' or 'bool_false_true' for"
        " CONTROL_SEQUENCE_READY for resnet",
    ),
    "a control with three values": (
        sequence('{ name: "S" ' + kinds("kind: CONTROL_SEQUENCE_END fp32_false_true: [ 0, 1, 2 ]") + " }"),
        8,
        "sequence batching control 'fp32_false_true' must have exactly 2 entries for CONTROL_SEQUENCE_END",
    ),
    "a correlation ID of floats": (
        sequence('{ name: "C" ' + kinds("kind: CONTROL_SEQUENCE_CORRID data_type: TYPE_FP32") + " }"),
        8,
        "unexpected data type for control CONTROL_SEQUENCE_CORRID for resnet.",
    ),
    "a slot utilisation beyond 1": (
        sequence(
            '{ name: "S" ' + kinds("kind: CONTROL_SEQUENCE_START bool_false_true: [ false, true ]") + " }",
            "direct { minimum_slot_utilization: 1.5 }",
        ),
        7,
        "sequence batching minimum slot utilization must be in range (0.0, 1.0] for resnet",
    ),
    "an initial state of another type": (
        sequence(
            '{ name: "S" ' + kinds("kind: CONTROL_SEQUENCE_START bool_false_true: [ false, true ]") + " }",
            'state { input_name: "h" data_type: TYPE_FP32 dims: [ 1 ]'
            ' initial_state { name: "h0" data_type: TYPE_INT32 dims: [ 1 ] zero_data: true } }',
        ),
        7,
        "The data type used for 'initial_state' field of state 'h' does not match the state data type.",
    ),
    "an ensemble with a backend": (
        'backend: "python"\n' + ensemble(step()),
        1,
        "Ensemble model 'resnet' must have platform type 'ensemble' and empty backend type",
    ),
    "steps of a model that is no ensemble": (
        'backend: "python"\nensemble_scheduling { ' + step() + "}\n",
        2,
        "ensemble scheduling cannot be set for model 'resnet' whose platform is not ensemble",
    ),
    "an ensemble without scheduling": (
        ENSEMBLE,
        2,
        "ensemble scheduling must be set for ensemble resnet whose platform is ensemble",
    ),
    "an ensemble without steps": (
        ENSEMBLE + "ensemble_scheduling { }\n",
        6,
        "must specify 'step' for ensemble 'resnet'",
    ),
    "an ensemble with instances": (
        ensemble(step()) + "instance_group { }\n",
        9,
        "instance group should not be specified for ensemble 'resnet'",
    ),
    "a step without a model": (
        ensemble(step().replace('model_name: "a"', "")),
        7,
        "must specify 'model_name' in step 0 of ensemble 'resnet'",
    ),
    "a tensor that two steps write": (
        ensemble(step(), step()),
        8,
        "ensemble tensor 'label' can appear in an output map only once for ensemble 'resnet'",
    ),
    "an input that no step reads": (
        ensemble(step().replace('"image"', '"label"')),
        4,
        "ensemble input 'image' for ensemble resnet' is not used",
    ),
    "an output that no step writes": (
        ensemble(step(outputs="labels")),
        5,
        "ensemble output 'label' for ensemble resnet' is not used",
    ),
    "an output that waits for nothing": (
        ensemble(step(), step("nothing", "other")).replace('"label" data', '"other" data'),
        5,
        "output 'other' for ensemble 'resnet' is not written: at least one of its depending tensors, 'nothing',"
        " is not connected",
    ),
    "a tensor that nobody reads": (
        ensemble(step(), step("image", "spare")),
        8,
        "ensemble tensor 'spare' is unused in ensemble 'resnet'",
    ),
}
