"""Questions to an endpoint's log, in the language of CloudWatch Logs Insights.

A line of Triton's begins with a letter for the severity, month and day, the time, a number and
`source.cc:line]`; what a model prints has no such head. The words for memory that ran out are those by which
Triton's SageMaker server knows it. Source: triton-inference-server/server `src/sagemaker_server.cc`, and the
log of a real Triton.
"""

from __future__ import annotations

from dataclasses import dataclass

from triton_fleet.spec.endpoint import Mode

FOLDER = "TritonFleet"
ERROR_HEAD = r"\bE\d{4} \d{2}:\d{2}:\d{2}"
ERROR_WORDS = (
    "failed to load",
    "out of memory",
    "CUDA_OUT_OF_MEMORY",
    "MemoryError",
    "OutOfMemory",
    "CNMEM_STATUS_OUT_OF_MEMORY",
    "CUDNN_STATUS_NOT_INITIALIZED",
    "CUBLAS_STATUS_ALLOC_FAILED",
    "CUBLAS_STATUS_NOT_INITIALIZED",
    "failed to allocate memory",
    "No space left on device",
    "Traceback",
    "^error: ",
)
ERRORS = f"@message like /{ERROR_HEAD}/ or @message like /(?i){'|'.join(ERROR_WORDS)}/"
OF_JSON = f'level = "error" or @message like /(?i){"|".join(ERROR_WORDS)}/'
"""In a shared container's log, whose lines are JSON; CloudWatch finds the fields of such lines itself."""
MESSAGE = r'/\w+\.\w+:\d+\] "?(?<text>[^"]+)/'
"""Not `message`: CloudWatch finds a field of that name itself where a container logs JSON."""
STARTS = r"""/(?:loading: |successfully loaded ')(?<model>[^'"]+?)(?::\d+)?['"]/"""


@dataclass(frozen=True)
class SavedQuery:
    """A query that is offered by its name; each line is a command."""

    name: str
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        """As CloudWatch takes it."""
        return "\n| ".join(self.lines)


def _errors(errors: str, *problem: str) -> SavedQuery:
    return SavedQuery(
        "errors",
        (
            "fields @timestamp, @logStream, @message",
            f"filter {errors}",
            *problem,
            "stats count(*) as lines, count_distinct(@logStream) as instances, min(@timestamp) as first,"
            " max(@timestamp) as last by problem",
            "sort lines desc",
            "limit 100",
        ),
    )


def _last_errors(errors: str) -> SavedQuery:
    lines = (
        "fields @timestamp, @logStream, @message",
        f"filter {errors}",
        "sort @timestamp desc",
        "limit 50",
    )
    return SavedQuery("Last errors in the log", lines)


SLOW_STARTS = SavedQuery(
    "slow starts",
    (
        "fields toMillis(@timestamp) as time, @logStream",
        f"parse @message {STARTS}",
        "filter ispresent(model)",
        "stats min(time) as first, max(time) as last by @logStream, model",
        # A later `stats` may take what one has computed. Source: CloudWatch Logs user guide,
        # CWL_QuerySyntax-Stats.html, multiple stats commands.
        "stats max((last - first) / 1000) as seconds by @logStream, model",
        "sort seconds desc",
        "limit 100",
    ),
)


def saved_queries(mode: Mode) -> tuple[SavedQuery, ...]:
    """The queries that are saved for an endpoint of a mode."""
    if mode is Mode.SHARED_CONTAINER:
        return _errors(OF_JSON, "fields substr(coalesce(message, @message), 0, 160) as problem"), SLOW_STARTS
    problem = (f"parse @message {MESSAGE}", "fields substr(coalesce(text, @message), 0, 160) as problem")
    return _errors(ERRORS, *problem), SLOW_STARTS


def last_errors(mode: Mode) -> SavedQuery:
    """The query of the dashboard."""
    return _last_errors(OF_JSON if mode is Mode.SHARED_CONTAINER else ERRORS)


def saved_name(endpoint: str, query: SavedQuery) -> str:
    """The name of a query in the account; slashes make folders."""
    return f"{FOLDER}/{endpoint}/{query.name}"
