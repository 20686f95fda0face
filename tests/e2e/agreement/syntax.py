"""Changes of the text of a config.pbtxt."""

from __future__ import annotations

from collections.abc import Iterator

from tests.e2e.agreement.tables import cases, put, swap
from tests.support.broken_repositories import CONFIG, DOUBLE, Case

BATCH = "max_batch_size: 8"
BACKEND = 'backend: "python"'
DIMS = "dims: [ 2 ]"

TEXTS = (
    swap(
        "harmless-strings",
        "single quotes, parts, escapes, letters beyond ASCII",
        (BACKEND, """backend: 'py' "\\164\\x68on\""""),
        add='parameters { key: "größe\\000" value: { string_value: "é" } }\n# the end',
    ),
    swap(
        "harmless-numbers",
        "numbers of other bases, numbers of an enum, booleans and a float in other words",
        (BATCH, "max_batch_size: 010"),
        ("TYPE_FP32", "11"),
        (DIMS, "dims: [ 0x2 ]"),
        add="model_transaction_policy { decoupled: f }\nresponse_cache { enable: 0 }\n"
        "optimization { eager_batching: True }\nsequence_batching { direct { minimum_slot_utilization: .5f } }\n",
    ),
    swap(
        "harmless-signs",
        "angle brackets, a colon before one, commas, semicolons, a map as a list, rare white space",
        (BACKEND, f"{BACKEND};"),
        (BATCH, f"{BATCH},\v\f"),
        ("input [ {", "input: [ <"),
        ("[ 2 ] } ]", "[ 2 ] > ]"),
        add='parameters [ { key: "a" value: { } }, { value: { string_value: "1" } } ]\n',
    ),
    swap("mixed-quotes", "quotes that do not match", (BACKEND, "backend: \"python'")),
    swap("no-quotes", "a string without quotes", (BACKEND, "backend: python")),
    swap("unknown-escape", "a string with an unknown escape", (BACKEND, 'backend: "pyth\\qon"')),
    swap("string-over-lines", "a string over two lines", (BACKEND, 'backend: "py\nthon"')),
    swap("escaped-line-end", "a string with an escaped end of line", (BACKEND, 'backend: "py\\\nthon"')),
    swap("no-colon", "a missing colon before a number", (BATCH, "max_batch_size 8")),
    swap("no-colon-list", "a missing colon before a list", (DIMS, "dims [ 2 ]")),
    swap("equals", "= for :", (BATCH, "max_batch_size = 8")),
    swap("brackets-crossed", "brackets that do not match", ("input [ {", "input [ <")),
    put("comment-slashes", "a comment of another language", "// comment\n"),
    put("max-batch-size-twice", "max_batch_size given twice", f"{BATCH}\n"),
    put("name-twice", "name given twice", 'name: "double"\n'),
    put(
        "dynamic-batching-twice",
        "dynamic_batching given twice",
        "dynamic_batching { }\ndynamic_batching { }\n",
    ),
    put(
        "version-policy-twice",
        "version_policy given twice",
        "version_policy { all { } }\nversion_policy { all { } }\n",
    ),
    swap("not-octal", "an octal number with an 8", (BATCH, "max_batch_size: 08")),
    swap("float-for-int", "a float for an integer", (BATCH, "max_batch_size: 8.0")),
    swap("exponent-for-int", "an exponent for an integer", (BATCH, "max_batch_size: 8e0")),
    swap("int-too-large", "a number beyond 32 bits", (BATCH, "max_batch_size: 2147483648")),
    swap("word-for-int", "a word for a number", (BATCH, "max_batch_size: eight")),
    swap("string-for-int", "a string for a number", (BATCH, 'max_batch_size: "8"')),
    swap("space-after-minus", "a space after the minus", (DIMS, "dims: [ - 1 ]")),
    swap("plus-sign", "a plus sign", (DIMS, "dims: [ +1 ]")),
    swap("no-value", "a field without a value", (BATCH, "max_batch_size:")),
    put("bool-yes", "no for false", "model_transaction_policy { decoupled: no }\n"),
    put("bool-upper", "FALSE for false", "model_transaction_policy { decoupled: FALSE }\n"),
    put("bool-string", "a string for a boolean", 'model_transaction_policy { decoupled: "false" }\n'),
    put("float-nan", "not a number", "sequence_batching { direct { minimum_slot_utilization: nan } }\n"),
    put("float-inf", "infinity", "sequence_batching { direct { minimum_slot_utilization: inf } }\n"),
    swap("enum-number", "an enum's number", ("TYPE_FP32", "11")),
    swap("enum-unknown-number", "a number that the enum does not have", ("TYPE_FP32", "99")),
    swap("enum-string", "an enum's name in quotes", ("TYPE_FP32", '"TYPE_FP32"')),
    swap("enum-lower", "an enum's name in lower case", ("TYPE_FP32", "type_fp32")),
    swap("enum-unknown", "an enum's name that does not exist", ("TYPE_FP32", "TYPE_FLOAT")),
    swap("trailing-comma", "a comma after the last of a list", (DIMS, "dims: [ 2, ]")),
    swap("two-commas", "two commas in a list", (DIMS, "dims: [ 2,, 2 ]")),
    swap("no-comma", "a list without commas", (DIMS, "dims: [ 2 2 ]")),
    swap(
        "trailing-comma-of-messages", "a comma after the last message of a list", ("[ 2 ] } ]", "[ 2 ] }, ]")
    ),
    swap("two-semicolons", "two semicolons", (BATCH, f"{BATCH};;")),
    put("unknown-field", "a field that does not exist", "no_such_field: 1\n"),
    put("unknown-message", "a message that does not exist", "no_such_message { a: 1 }\n"),
    put("camel-case", "a field in camel case", "maxBatchSize: 8\n"),
    put("upper-case-field", "a field in upper case", "DYNAMIC_BATCHING { }\n"),
    put("field-number", "a field by its number", "4: 8\n"),
    put("extension", "an extension", "[inference.no_such]: 1\n"),
    put("any", "an Any", '[type.googleapis.com/inference.ModelConfig] { name: "a" }\n'),
    put("unclosed", "a brace that is not closed", "dynamic_batching {\n"),
    put("closed-twice", "a brace too many", "}\n"),
    put("null", "null", "parameters: null\n"),
    put("newer-field", "a field of a later release", "ensemble_scheduling { max_inflight_requests: 1 }\n"),
    put("dims-of-message", "a message for a number", "max_batch_size { }\n"),
    put("list-for-singular", "a list for a single field", "max_batch_size: [ 8 ]\n"),
    put("json", "JSON", '{"name": "double"}\n'),
    put("no-break-space", "a no-break space", "\u00a0\n"),
    put("control-character", "a control character", "\x01\n"),
    swap("umlaut-outside", "letters beyond ASCII outside of strings", (BATCH, "größe: 8")),
    put(
        "escaped-not-utf8",
        "escapes that are not UTF-8",
        'parameters { key: "a" value: { string_value: "\\377" } }\n',
    ),
    put("deep", "messages nested 200 deep", "x { " * 200 + "} " * 200 + "\n"),
)


def syntax_cases() -> Iterator[Case]:
    """All of them."""
    yield from cases(DOUBLE, CONFIG, TEXTS)
    healthy = DOUBLE[CONFIG]
    for name, what, content in (
        ("byte-order-mark", "a byte order mark", b"\xef\xbb\xbf" + healthy),
        ("utf-16", "UTF-16", healthy.decode().encode("utf-16")),
        ("crlf", "CRLF at the ends of lines", healthy.replace(b"\n", b"\r\n")),
        ("cr", "CR at the ends of lines", healthy.replace(b"\n", b"\r")),
        ("cr-after-comment", "a comment that ends in CR", b"# a comment\r" + healthy),
        ("nul", "a NUL between fields", healthy + b"\0\n"),
        (
            "nul-in-string",
            "a NUL in a string",
            healthy + b'parameters { key: "a\0b" value: { string_value: "1" } }\n',
        ),
        ("nul-in-comment", "a NUL in a comment", healthy + b"# \0\n"),
        (
            "latin-1-in-string",
            "Latin-1 in a string",
            healthy + b'parameters { key: "\xe9" value: { string_value: "1" } }\n',
        ),
        ("latin-1-in-comment", "Latin-1 in a comment", healthy + b"# \xe9\n"),
        ("one-line", "all on one line", healthy.replace(b"\n", b" ")),
        ("no-spaces", "no spaces", healthy.replace(b": ", b":").replace(b"[ ", b"[").replace(b" ]", b"]")),
        ("tabs", "tabs", healthy.replace(b" ", b"\t")),
        ("truncated", "the last bytes are missing", healthy[:-5]),
        ("garbage", "no text at all", bytes(range(256))),
    ):
        yield Case(id=name, files={**DOUBLE, CONFIG: content}, change=what)
