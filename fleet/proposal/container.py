"""Settings of the container that models ask for by their config.pbtxt or their code."""

from __future__ import annotations

from collections.abc import Sequence

from fleet.catalog.proposals import proposals
from fleet.endpoint.context.context import Decided
from fleet.proposal.key import Key

LOAD, CACHE = "--load-model=", "--cache-config=local,size="


def container_key(endpoint: Decided, further: Sequence[str]) -> Key | None:
    """What the container has to be told; None where it needs nothing.

    Args:
        endpoint: The endpoint without these settings.
        further: Models that code calls, and that nothing else loads.
    """
    settings, why = dict[str, object](), list[str]()
    flags = [f"{LOAD}{name}" for name in further]
    if further:
        why.append(
            f"The code of a Python model calls {', '.join(further)}: nothing else would have them loaded."
        )
    cached = [each.name for each in endpoint.models if each.facts.response_cache]
    if cached:
        flags.append(f"{CACHE}{proposals().response_cache_bytes}")
        why.append(f"{', '.join(cached)} asks for a response cache, which the server has only if it is told.")
    decoupled = [each.name for each in endpoint.answering_models() if each.facts.decoupled]
    if decoupled and endpoint.default_model is not None:
        settings["inference_type"] = "generate_stream"
        why.append(f"{', '.join(decoupled)} answers in several parts, and other calls of it are refused.")
    if flags:
        settings["additional_args"] = flags
    return Key(name="container", value=settings, why=tuple(why)) if settings else None
