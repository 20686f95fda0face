"""Which model of an archive answers on a multi-model endpoint.

Source: triton-inference-server/server, src/sagemaker_server.cc: the front end takes the directory whose
config.pbtxt matches the expression below, else whichever directory the file system lists last.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from fleet.findings import Finding, FindingsError
from fleet.repository.layout import config_of

ENSEMBLE = re.compile(r'platform:(\s)*"ensemble"')
LITERAL = 'platform: "ensemble"'


def main_model(repository: Path, models: Sequence[str]) -> str:
    """The one directory of `models` that Triton is certain to load.

    Raises:
        FindingsError: it is undefined which one.
    """
    if len(models) == 1:
        return models[0]
    ensembles = [name for name in models if _is_ensemble(repository / name)]
    if len(ensembles) == 1:
        return ensembles[0]
    if ensembles:
        message = (
            f"the archive contains {len(ensembles)} ensembles, {', '.join(ensembles)}: any of them may answer"
        )
        hint = "put each ensemble into its own archive"
        raise FindingsError([Finding(code="FL409", message=message, hint=hint, file=repository)])
    message = (
        f"the archive contains {len(models)} models and no ensemble, {', '.join(models)}:"
        " any of them would be loaded, and the others not"
    )
    hint = f"put each into its own archive; an ensemble is recognised by the literal `{LITERAL}`"
    raise FindingsError([Finding(code="FL408", message=message, hint=hint, file=repository)])


def _is_ensemble(model: Path) -> bool:
    return ENSEMBLE.search((config_of(model) or b"").decode("utf-8", "replace")) is not None
