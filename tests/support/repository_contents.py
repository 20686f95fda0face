"""Model repositories that exist in memory alone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from triton_fleet.findings import Finding, Severity
from triton_fleet.repository.contents import Contents, Entry, EntryKind
from triton_fleet.repository.loading.load_plan import LoadPlan, plan_load
from triton_fleet.repository.loading.models import ServingContainer

PLACE = Path("repository")
CODE = "class TritonPythonModel:\n    pass\n"
SINGLE, MULTI_MODEL = ServingContainer(release="25.04"), ServingContainer(release="25.04", multi_model=True)


def contents(files: Mapping[str, str], *, archive: bool = True) -> Contents:
    """A repository of these files; a path that ends in a slash is an empty folder."""
    entries = {path.rstrip("/"): Entry(EntryKind.FOLDER) for path in files if path.endswith("/")}
    entries |= {
        path: Entry(EntryKind.FILE, len(text)) for path, text in files.items() if not path.endswith("/")
    }
    for path in list(entries):
        entries |= {str(folder): Entry(EntryKind.FOLDER) for folder in list(PurePosixPath(path).parents)[:-1]}
    texts = {path: text.encode() for path, text in files.items() if path.endswith((".pbtxt", ".py"))}
    return Contents(place=PLACE, archive=archive, entries=dict(sorted(entries.items())), texts=texts)


def model(name: str, config: str = "", code: str = CODE) -> dict[str, str]:
    """A Python model that takes `x` and gives `y`, floats of any length, in batches of up to 8."""
    whole = f'backend: "python"\nmax_batch_size: 8\n{tensors()}{config}'
    return {f"{name}/config.pbtxt": whole, f"{name}/1/model.py": code}


def tensors(x: str = "x", y: str = "y", dims: str = "-1") -> str:
    """An input and an output."""
    return (
        f'input {{ name: "{x}" data_type: TYPE_FP32 dims: [ {dims} ] }}\n'
        f'output {{ name: "{y}" data_type: TYPE_FP32 dims: [ {dims} ] }}\n'
    )


def ensemble(*steps: str, name: str = "both", size: int = 8) -> dict[str, str]:
    """An ensemble of x to y through models that each take `x` and give `y`."""
    names = ["x", *(f"between_{index}" for index in range(1, len(steps))), "y"]
    written_text = "".join(
        f'  step {{ model_name: "{step}" model_version: -1\n'
        f'    input_map {{ key: "x" value: "{names[index]}" }}\n'
        f'    output_map {{ key: "y" value: "{names[index + 1]}" }} }}\n'
        for index, step in enumerate(steps)
    )
    text = (
        f'platform: "ensemble"\nmax_batch_size: {size}\n{tensors()}ensemble_scheduling {{\n{written_text}}}\n'
    )
    return {f"{name}/config.pbtxt": text, f"{name}/1/": ""}


def judgement(files: Mapping[str, str], setting: ServingContainer = SINGLE) -> LoadPlan:
    """The files that the container makes of them."""
    return plan_load(contents(files), setting)


def errors(files: Mapping[str, str], setting: ServingContainer = SINGLE) -> list[Finding]:
    """The reason why they are not loaded."""
    return [finding for finding in judgement(files, setting).findings if finding.severity is Severity.ERROR]


def warnings(files: Mapping[str, str], setting: ServingContainer = SINGLE) -> list[Finding]:
    """The doubt about them."""
    return [finding for finding in judgement(files, setting).findings if finding.severity is Severity.WARNING]
