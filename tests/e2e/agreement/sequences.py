"""Changes of a config's sequence batching."""

from __future__ import annotations

from collections.abc import Iterator

from tests.e2e.agreement.tables import Change, cases, put, swap
from tests.support.broken_repositories import CONTROLS, SEQUENCE, Case

START = "kind: CONTROL_SEQUENCE_START int32_false_true: [ 0, 1 ]"
CORRID = "kind: CONTROL_SEQUENCE_CORRID data_type: TYPE_UINT64"
IDLE = "max_sequence_idle_microseconds: 5000000"
END = "  ]\n}\n"
STATE = 'input_name: "s" output_name: "t" data_type: TYPE_FP32 dims: [ 1 ]'


def corrid(kind: str) -> Change:
    return swap(f"corrid-{kind.lower()}", f"a CORRID of TYPE_{kind}", ("TYPE_UINT64", f"TYPE_{kind}"))


def strategy(name: str, what: str, text: str) -> Change:
    return swap(name, what, (IDLE, f"{IDLE}\n  {text}"))


SEQUENCES = (
    swap("sequence-healthy", "nothing"),
    swap(
        "harmless-sequences",
        "controls of FP32 and INT64, the strategy oldest, a state of no kind",
        (START, START.replace("int32", "fp32")),
        ("TYPE_UINT64", "TYPE_INT64"),
        (IDLE, "oldest { max_candidate_sequences: 4 preferred_batch_size: [ 4, 8 ] }\n  state [ { } ]"),
        add="model_transaction_policy { decoupled: true }\n",
    ),
    swap("sequence-empty", "sequence batching without controls", (CONTROLS, "sequence_batching { }\n")),
    *(corrid(kind) for kind in ("STRING", "FP32", "UINT8", "INVALID")),
    swap("corrid-no-type", "a CORRID without a type", (CORRID, "kind: CONTROL_SEQUENCE_CORRID")),
    swap("corrid-with-values", "a CORRID with values", (CORRID, f"{CORRID} int32_false_true: [ 0, 1 ]")),
    swap("start-one-value", "a control with one value", (START, START.replace("[ 0, 1 ]", "[ 0 ]"))),
    swap(
        "start-three-values", "a control with three values", (START, START.replace("[ 0, 1 ]", "[ 0, 1, 2 ]"))
    ),
    swap("start-no-values", "a control without values", (START, "kind: CONTROL_SEQUENCE_START")),
    swap(
        "start-two-types", "a control with values of two types", (START, f"{START} fp32_false_true: [ 0, 1 ]")
    ),
    swap(
        "start-bool",
        "a control of BOOL",
        (START, START.replace("int32_false_true: [ 0, 1 ]", "bool_false_true: [ false, true ]")),
    ),
    swap(
        "start-twice", "two tensors of one control kind", ("CONTROL_SEQUENCE_READY", "CONTROL_SEQUENCE_START")
    ),
    swap("control-unnamed", "a control without a name", ('name: "START"', "")),
    swap("control-name-twice", "two controls of one name", ('name: "READY"', 'name: "START"')),
    swap("control-empty", "a control input without controls", (f"control [ {{ {START} }} ]", "")),
    swap(
        "control-unknown-kind",
        "a control of an unknown kind",
        ("CONTROL_SEQUENCE_START", "CONTROL_SEQUENCE_STOP"),
    ),
    swap("control-named-as-input", "a control with the name of an input", ('name: "START"', 'name: "x"')),
    strategy("direct-utilization", "a slot utilization of 0.5", "direct { minimum_slot_utilization: 0.5 }"),
    strategy(
        "direct-utilization-high", "a slot utilization of 1.5", "direct { minimum_slot_utilization: 1.5 }"
    ),
    strategy(
        "direct-utilization-negative",
        "a slot utilization of -0.5",
        "direct { minimum_slot_utilization: -0.5 }",
    ),
    strategy("oldest-no-candidates", "oldest without candidates", "oldest { }"),
    strategy(
        "oldest-negative-candidates", "oldest with -1 candidates", "oldest { max_candidate_sequences: -1 }"
    ),
    strategy(
        "oldest-preferred-high",
        "oldest with a size above the maximum",
        "oldest { max_candidate_sequences: 4 preferred_batch_size: [ 9 ] }",
    ),
    strategy(
        "oldest-preferred-zero",
        "oldest with a size of 0",
        "oldest { max_candidate_sequences: 4 preferred_batch_size: [ 0 ] }",
    ),
    strategy("two-strategies", "direct and oldest", "direct { } oldest { }"),
    put("sequence-cache", "a response cache", "response_cache { enable: true }\n"),
    put(
        "sequence-batch-strategy",
        "a batching strategy",
        'parameters { key: "TRITON_BATCH_STRATEGY_PATH" value: { string_value: "/nowhere.so" } }\n',
    ),
    swap("sequence-unbatched", "sequence batching with max_batch_size 0", ("max_batch_size: 8", "")),
    strategy("iterative", "iterative sequences", "iterative_sequence: true"),
    strategy("generative", "generative sequences", "generative_sequence: true"),
    swap("state-twice", "a state given twice", (IDLE, f"{IDLE}\n  state [ {{ {STATE} }}, {{ {STATE} }} ]")),
    swap(
        "state-initial",
        "a state with initial zeros",
        (
            IDLE,
            f'{IDLE}\n  state [ {{ {STATE} initial_state {{ name: "z" data_type: TYPE_FP32 dims: [ 1 ] zero_data: true }} }} ]',
        ),
    ),
    swap(
        "state-initial-type",
        "an initial state of another type",
        (
            IDLE,
            f'{IDLE}\n  state [ {{ {STATE} initial_state {{ name: "z" data_type: TYPE_INT32 dims: [ 1 ] zero_data: true }} }} ]',
        ),
    ),
    swap(
        "state-initial-shape",
        "an initial state of another shape",
        (
            IDLE,
            f'{IDLE}\n  state [ {{ {STATE} initial_state {{ name: "z" data_type: TYPE_FP32 dims: [ 2 ] zero_data: true }} }} ]',
        ),
    ),
    swap(
        "state-initial-no-data",
        "an initial state without data",
        (
            IDLE,
            f'{IDLE}\n  state [ {{ {STATE} initial_state {{ name: "z" data_type: TYPE_FP32 dims: [ 1 ] }} }} ]',
        ),
    ),
    swap(
        "state-initial-unnamed",
        "an initial state without a name",
        (
            IDLE,
            f"{IDLE}\n  state [ {{ {STATE} initial_state {{ data_type: TYPE_FP32 dims: [ 1 ] zero_data: true }} }} ]",
        ),
    ),
    swap(
        "state-initial-file-missing",
        "an initial state from a missing file",
        (
            IDLE,
            f'{IDLE}\n  state [ {{ {STATE} initial_state {{ name: "z" data_type: TYPE_FP32 dims: [ 1 ] data_file: "raw" }} }} ]',
        ),
    ),
    swap(
        "state-initial-variable",
        "an initial state of a variable shape",
        (
            IDLE,
            f'{IDLE}\n  state [ {{ {STATE.replace("[ 1 ]", "[ -1 ]")} initial_state {{ name: "z" data_type: TYPE_FP32 dims: [ -1 ] zero_data: true }} }} ]',
        ),
    ),
)


def sequence_cases() -> Iterator[Case]:
    """All of them."""
    return cases(SEQUENCE, "sequence/config.pbtxt", SEQUENCES)
