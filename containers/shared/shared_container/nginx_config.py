"""The text of nginx.conf: a pure function of the settings."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from .plain_calls import plain_call_maps
from .routes import Routes
from .settings import LOOPBACK

MAX_BODY_BYTES = 25 << 20
"""Of one call; source: SageMaker developer guide, hosting-faqs ("25 MB")."""
MAX_ANSWER_BYTES = 64 << 20
"""More than SageMaker passes on."""
MAX_WORKERS = 4
SHUTDOWN_SECONDS = 20
"""After a stop, for requests in flight."""
READY = "ready"
"""A file in the folder: /ping asks Triton as long as it exists."""
CONFIG = "nginx.conf"
ROUTES = "routes.json"
SCRIPTS = Path(__file__).parent

_SAFE_PATH = re.compile(r"/[A-Za-z0-9._/@:+=,~ -]*")
ERRORS = {
    400: "the request is not HTTP/1.1 with a body of a known length, or in chunks",
    403: "forbidden",
    404: "unknown path: use POST /invocations, GET /ping or GET /metrics",
    405: "method not allowed: use POST /invocations, GET /ping or GET /metrics",
    408: "the request did not arrive in time",
    411: "the request has no Content-Length",
    413: f"the body is larger than {MAX_BODY_BYTES} bytes, which is the limit of SageMaker",
    414: "the URL is too long",
    431: "the headers are too long",
    500: "the router failed",
    502: "Triton gave no answer",
    503: "Triton is not ready",
    504: "Triton did not answer in time",
}
_ALIASES = {494: 431, 501: 400, 505: 400}
"""nginx's own status for long headers; and for a transfer encoding or an HTTP version that nobody knows."""
_PLAIN_ERRORS = (502, 504)
"""Of plain calls. They are nginx's own: no error of Triton or of a model has such a status."""
_ERROR_PATH = "/-error/"
"""Not a named location: nginx enters none for a request whose first line it could not read."""


@dataclass(frozen=True)
class NginxPlaces:
    """Where nginx listens and sends to, and what it reads and writes."""

    folder: Path
    js_module: str
    port: int
    triton_port: int
    metrics_port: int | None
    user: str | None = None
    """User and group of the workers; None: those of whoever starts nginx."""
    workers: int = 1
    open_files: int = 4096


def nginx_config(places: NginxPlaces, routes: Routes, *, logs_all_requests: bool, seconds: int) -> str:
    """The configuration of nginx; Triton has to answer an inference within `seconds`.

    Raises:
        ValueError: a path has characters that mean something in a configuration.
    """
    folder = _path(places.folder)
    pages = {code: code for code in ERRORS} | _ALIASES
    errors = [f"        error_page {code} = {_ERROR_PATH}{page};" for code, page in pages.items()]
    plain_errors = "\n".join(f"                error_page {code} = @{code};" for code in _PLAIN_ERRORS)
    return f"""\
load_module {_quote(_path(places.js_module))};
daemon off;
{"" if places.user is None else f"user {places.user};"}
worker_processes {min(places.workers, MAX_WORKERS)};
worker_rlimit_nofile {places.open_files};
pcre_jit on;
worker_shutdown_timeout {SHUTDOWN_SECONDS}s;
pid {_quote(folder + "/nginx.pid")};
error_log stderr error;

events {{
    worker_connections {places.open_files // 2};
    multi_accept on;
}}

http {{
    client_body_temp_path {_quote(folder + "/body")};
    proxy_temp_path {_quote(folder + "/proxy")};
    fastcgi_temp_path {_quote(folder + "/fastcgi")};
    uwsgi_temp_path {_quote(folder + "/uwsgi")};
    scgi_temp_path {_quote(folder + "/scgi")};

{plain_call_maps(routes)}

    # Only what fails is logged, or all; the supervisor brings it into the form of all lines.
    log_format request escape=json '{_LOG_FORMAT}';
    map $status $is_logged {{ "~^[45]" 1; default {int(logs_all_requests)}; }}
    map $route $logged_route {{ "" $plain_route; default $route; }}
    map $route $logged_version {{ "" $plain_version; default $route_version; }}
    access_log /dev/stdout request if=$is_logged;

    js_path {_quote(_path(SCRIPTS))};
    js_import router from router.js;
    js_preload_object routes from {_quote(f"{folder}/{ROUTES}")};
    js_var $route;
    js_var $route_version;
    js_var $triton_path;
    js_var $inference_header_length;

    server_tokens off;
    default_type application/json;
    keepalive_timeout 300s;
    keepalive_requests 1000000;
    reset_timedout_connection on;
    # A slow client never holds Triton: bodies are read before Triton is asked, answers before they are sent.
    client_max_body_size {MAX_BODY_BYTES};
    # In one buffer, which the script reads; memory that a body does not fill is not used.
    client_body_buffer_size {MAX_BODY_BYTES + (64 << 10)};
    client_body_in_single_buffer on;
    subrequest_output_buffer_size {MAX_ANSWER_BYTES};

    upstream triton {{
        server {LOOPBACK}:{places.triton_port} max_fails=0;
        keepalive 256;
        keepalive_requests 1000000;
        keepalive_timeout 60s;
    }}
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    proxy_pass_request_headers off;
    proxy_next_upstream off;
    proxy_buffer_size 32k;
    proxy_buffers 8 32k;
    proxy_connect_timeout 5s;
    proxy_send_timeout {seconds}s;
    proxy_read_timeout {seconds}s;

    server {{
        listen {places.port} backlog=2048;
{chr(10).join(errors)}

        location = /invocations {{
            js_content router.invoke;
            proxy_intercept_errors on;
            recursive_error_pages on;
            proxy_hide_header Content-Type;
            proxy_hide_header Inference-Header-Content-Length;
            proxy_set_header Connection "";
            proxy_set_header Inference-Header-Content-Length $plain_length;
            if ($plain_path) {{
                proxy_pass http://triton$plain_path;
                add_header Content-Type $plain_answer_type always;
                # A model is not loaded, or fails so itself: the script asks again, and reads the answer.
                error_page 404 503 = @script;
{plain_errors}
            }}
        }}
        location @script {{
            js_content router.invoke;
        }}
        location = /-triton {{
            internal;
            client_max_body_size 0;
            # The router keeps the answer; nginx 1.22 stalls where its own buffers for one are full.
            proxy_buffering off;
            proxy_pass http://triton$triton_path;
            proxy_set_header Connection "";
            proxy_set_header Inference-Header-Content-Length $inference_header_length;
        }}
        location = /ping {{
            access_log off;
            if ($request_method !~ "^(GET|HEAD)$") {{ return 405; }}
            if (!-f {_quote(f"{folder}/{READY}")}) {{ return 503; }}
            proxy_pass http://triton/v2/health/live;
            proxy_pass_request_body off;
            proxy_set_header Connection "";
            proxy_set_header Content-Length "";
            proxy_read_timeout 2s;
        }}
{_metrics(places.metrics_port)}
        location / {{ return 404; }}
{_error_locations()}
    }}
}}
"""


_LOG_FORMAT = (
    '{"time":"$msec","method":"$request_method","path":"$uri","status":"$status","route":"$logged_route",'
    '"version":"$logged_version","seconds":"$request_time","bytes":"$request_length",'
    '"request":"$http_x_amzn_requestid"}'
)


def _metrics(port: int | None) -> str:
    if port is None:
        return ""
    return f"""\
        location = /metrics {{
            access_log off;
            if ($request_method !~ "^(GET|HEAD)$") {{ return 405; }}
            proxy_pass http://{LOOPBACK}:{port}/metrics;
            proxy_pass_request_body off;
            proxy_set_header Connection "";
            proxy_set_header Content-Length "";
        }}"""


def _error_locations() -> str:
    """By path; those of plain calls by name, as nginx then logs the call's own path and method."""
    paths = [f"= {_ERROR_PATH}{code} {{ internal; {_error(code)} }}" for code in ERRORS]
    names = [f"@{code} {{ {_error(code)} }}" for code in _PLAIN_ERRORS]
    return "\n".join(f"        location {location}" for location in paths + names)


def _error(code: int) -> str:
    return f"return {code} {_quote(json.dumps({'error': ERRORS[code]}))};"


def _path(path: Path | str) -> str:
    if not _SAFE_PATH.fullmatch(str(path)):
        raise ValueError(f"{str(path)!r} is not an absolute path of letters, digits, blanks and ._/@:+=,~-")
    return str(path)


def _quote(text: str) -> str:
    escaped_text = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped_text}"'
