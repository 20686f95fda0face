"""Every case, in an order that never varies."""

from __future__ import annotations

from tests.e2e.agreement.backends import backend_cases
from tests.e2e.agreement.composition import composed_cases
from tests.e2e.agreement.ensembles import ensemble_cases
from tests.e2e.agreement.layouts import layout_cases
from tests.e2e.agreement.sequences import sequence_cases
from tests.e2e.agreement.settings import setting_cases
from tests.e2e.agreement.syntax import syntax_cases
from tests.e2e.agreement.tensors import tensor_cases
from tests.support.broken_repositories import Case


def all_cases() -> list[Case]:
    """The cases, each with an id of its own."""
    cases = [
        *tensor_cases(),
        *setting_cases(),
        *backend_cases(),
        *syntax_cases(),
        *sequence_cases(),
        *ensemble_cases(),
        *composed_cases(),
        *layout_cases(),
    ]
    ids = [case.id for case in cases]
    if len(set(ids)) < len(ids):
        raise ValueError(f"ids given twice: {sorted({item for item in ids if ids.count(item) > 1})}")
    return cases
