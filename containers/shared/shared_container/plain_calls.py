"""The calls that nginx passes on without the script, because their header alone names the model.

nginx's map compares texts without case, and its regular expressions one after the other. So a map of texts
finds the route of a header, however many there are, and one expression compares both with case.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from .routes import MODEL, NAME, VERSION, Route, Routes

BUCKET_BYTES = 1024
"""Room for three headers of the longest name and version; nginx's own 64 have none for one."""
MAX_BUCKETS = 1 << 14
_BINARY = "application/vnd.sagemaker-triton.binary+json;json-header-size="
_ATTRIBUTES = "$http_x_amzn_sagemaker_custom_attributes"
_BINARY_LENGTH = "$upstream_http_inference_header_content_length"
_CALL = r"\n".join(
    ("$request_method", "$content_length", "$http_content_encoding", "$content_type", _ATTRIBUTES)
)
_PLAIN = r"^POST\n[0-9]+\n\n(?:application/json\n(?!\n)|BINARY[0-9]{1,9}\n)([^\n]*)"
_LOG_VARIABLES = '"$uri $plain_path $plain_candidate"'


def plain_call_maps(routes: Routes) -> str:
    """Maps of nginx, for the beginning of its `http`.

    `$plain_path` is Triton's path of a call that needs no script, else it is empty. `$plain_length` is the
    length of the JSON before the call's binary tensors, `$plain_answer_type` the type of the answer.
    `$plain_route` and `$plain_version` are for the log.
    """
    entries = "\n".join(f'        "{header}" "{header} {request}";' for header, request in _headers(routes))
    binary = re.escape(_BINARY)
    return rf"""
    map_hash_bucket_size {BUCKET_BYTES};
    map_hash_max_size {MAX_BUCKETS};
    # Header, route, version and path of what may be meant: the case of the letters is compared below.
    map {_ATTRIBUTES} $plain_candidate {{
{entries}
    }}
    # No header's value contains a line feed, and nginx refuses a length beside a transfer encoding. Where its
    # header names nothing, JSON may name the model in the body.
    map "{_CALL}\n$plain_candidate" $plain_path {{
        "~{_PLAIN.replace("BINARY", binary)}\n\1 [^ ]* [^ ]* (/[^ ]*)\z" $2;
    }}
    map $content_type $plain_length {{
        application/json "";
        "~^{binary}([0-9]{{1,9}})\z" $1;
    }}
    map {_BINARY_LENGTH} $plain_answer_type {{
        "" $plain_text_type;
        default "{_BINARY}{_BINARY_LENGTH}";
    }}
    # Triton's errors are JSON, most of them with text/plain, the default of its HTTP library.
    map $upstream_http_content_type $plain_text_type {{
        application/json application/json;
        text/plain application/json;
        "" application/json;
        default text/plain;
    }}
    map {_LOG_VARIABLES} $plain_route {{
        "~^/invocations /[^ ]* [^ ]* ([^ ]*) " $1;
    }}
    map {_LOG_VARIABLES} $plain_version {{
        "~^/invocations /[^ ]* [^ ]* [^ ]* ([^ ]*) " $1;
    }}"""


def _headers(routes: Routes) -> Iterator[tuple[str, str]]:
    """Each value of the header, with the route, version and path that it stands for.

    Names that no strict pattern has are left out, and names that differ by case alone: the script has them.
    """
    spellings = Counter(map(str.lower, routes.routes))
    for name, route in routes.routes.items():
        if not NAME.fullmatch(name) or not MODEL.fullmatch(route.model) or spellings[name.lower()] > 1:
            continue
        for version, request in _versions(name, route):
            yield f"model={name}{version and f';version={version}'}", request
            if name == routes.default:
                yield version and f"version={version}", request


def _versions(name: str, route: Route) -> Iterator[tuple[str, str]]:
    for version in ("", *filter(VERSION.fullmatch, dict.fromkeys(route.versions))):
        yield version, f"{name} {version} /v2/models/{route.model}{version and f'/versions/{version}'}/infer"
