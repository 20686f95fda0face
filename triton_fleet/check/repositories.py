"""Model repositories that are named on the command line, and the container they are checked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeAlias

from triton_fleet.catalog.images import release, releases
from triton_fleet.catalog.instances import instance
from triton_fleet.catalog.variables import out_of_memory
from triton_fleet.context.models import ContainerContext, ModelContext, ModelsContext, PlacedModel
from triton_fleet.findings import Finding, FindingsError, Severity
from triton_fleet.repository.config.judge import config_findings
from triton_fleet.repository.config.message import parsed_config
from triton_fleet.repository.contents import Contents
from triton_fleet.repository.entry_path import MODEL_NAME
from triton_fleet.repository.loading.entry_model import ROOT
from triton_fleet.repository.loading.load_plan import LoadPlan, plan_load
from triton_fleet.repository.loading.models import ServingContainer
from triton_fleet.repository.model_config import CONFIG, MAX_BYTES
from triton_fleet.repository.reading.folder import read
from triton_fleet.repository.text_format.tokens import PbtxtError
from triton_fleet.repository.text_format.tree import parse
from triton_fleet.rules.registry import rules
from triton_fleet.spec.endpoint import Mode
from triton_fleet.spec.lock import LockedModel
from triton_fleet.spec.source import MAX_FINDINGS, Mark
from triton_fleet.store.model_facts import ROOT_MODEL, model_facts


@dataclass(frozen=True, kw_only=True)
class RepositoryTarget:
    """The endpoint; None where a fact is unknown.

    Attributes:
        mode: How it holds its models.
        release: The Triton release, such as "25.04".
        instance: The instance type, such as "ml.g5.xlarge".
        default_model: The directory that answers on a single endpoint.
    """

    mode: Mode = Mode.SINGLE
    release: str | None = None
    instance: str | None = None
    default_model: str | None = None

    def container(self) -> ContainerContext:
        """The container, as rules see it."""
        return ContainerContext(
            mode=self.mode,
            triton=self.release,
            contents=release(self.release) if self.release in releases() else None,
            machine=instance(self.instance) if self.instance is not None else None,
        )

    def setting(self) -> ServingContainer:
        """The container that follows."""
        return ServingContainer(
            multi_model=self.mode is Mode.MULTI_MODEL,
            loads_all_models=self.mode is Mode.SHARED_CONTAINER,
            release=self.release,
            default_model=self.default_model,
        )


PBTXT = ".pbtxt"
ARCHIVES = (".tar.gz", ".tgz", ".tar")


def is_repository(path: Path) -> bool:
    """Whether a path leads to a configuration, an archive or a folder of models, and not to specs."""
    if path.is_dir():
        entries = [path_inside for path_inside in path.iterdir() if not path_inside.name.startswith(".")]
        holds_models = (path / CONFIG).exists() or any((entry / CONFIG).exists() for entry in entries)
        holds_specs = any(entry.suffix == ".yaml" and entry.is_file() for entry in entries)
        return holds_models or (bool(entries) and not holds_specs)
    return path.name.endswith((PBTXT, *ARCHIVES))


def leads_nowhere(path: Path) -> bool:
    """Whether a path is neither a repository nor what may be a spec: missing, empty, or of another kind."""
    return (
        not is_repository(path)
        and path.suffix != ".yaml"
        and not (path.is_dir() and any(path.glob("*.yaml")))
    )


def missing_path_finding(text: str) -> Finding:
    """The finding for a path that leads nowhere."""
    path = Path(text)
    hint = "endpoints are checked with --env; repositories are folders, .tar.gz files and .pbtxt files"
    if path.suffix == ".zip":
        hint = "SageMaker unpacks only .tar.gz"
    message = f"{text!r} does not exist" if not path.exists() else f"{text!r} contains nothing to check"
    return Finding(code="FL126", message=message, file=path, hint=hint)


def is_configuration(path: Path) -> bool:
    """Whether there is no model beside a configuration: it is checked without its folder."""
    return bool(_alone(path))


def named_findings(paths: Sequence[Path], target: RepositoryTarget) -> list[Finding]:
    """The findings of configurations, folders and archives."""
    findings, judgements = list[Finding](), dict[Path, LoadPlan]()
    for path in dict.fromkeys(paths):
        try:
            if alone := _alone(path):
                for file in alone:
                    findings += _of_config(file, target)
            else:
                contents = read(path)
                judgements[path] = plan_load(contents, target.setting())
                findings += judgements[path].findings
                findings += _of_facts(contents, judgements[path], target)
        except FindingsError as error:
            findings += error.findings
    if target.mode is Mode.MULTI_MODEL:
        findings += _of_set(judgements, target)
    return findings


def _alone(path: Path) -> list[Path]:
    """Configurations that are checked without their folders: a file, or those of a folder of nothing else."""
    if not path.is_dir():
        return [path] if path.name.endswith(PBTXT) else []
    visible_entries = [entry for entry in path.iterdir() if not entry.name.startswith(".")]
    has_models = (path / CONFIG).exists() or any(entry.is_dir() for entry in visible_entries)
    return [] if has_models else sorted(path.glob(f"*{PBTXT}"))


def _of_config(file: Path, target: RepositoryTarget) -> Iterator[Finding]:
    try:
        content = _content(file)
        config = parsed_config(content, file)
    except OSError as error:
        message = f"the file cannot be read: {error.strerror}"
        yield Finding(code="FL406", message=message, file=file, hint="pass a file that exists")
        return
    except FindingsError as error:
        yield from error.findings
        return
    yield from config_findings(config, target.release)
    name = config.name if MODEL_NAME.fullmatch(config.name) else ROOT_MODEL  # Triton takes the folder's
    contents = Contents(place=file, archive=False, entries={}, texts={f"{name}/{CONFIG}": content})
    facts = model_facts(contents, [name])
    yield from model_rule_findings(facts, target, lambda _, fields: _mark(file, content, fields), file)


def _content(file: Path) -> bytes:
    """As much of a file as is needed to see that it is too long; a pipe or a device might never end."""
    if file.exists() and not file.is_file():
        raise OSError(0, "it is not a file")
    with file.open("rb") as stream:
        return stream.read(MAX_BYTES + 1)


def _mark(file: Path, content: bytes, fields: Sequence[str]) -> Mark:
    """Where the first of the fields stands that a configuration has; its beginning if it has none."""
    with suppress(PbtxtError):
        tree = parse(content)
        names = {field.name for field in tree.root.fields}
        for field in fields:
            if field in names:
                return Mark(file, tree.line(field), tree.column(field))
    return Mark(file, 1, 1)


def _of_facts(contents: Contents, judgement: LoadPlan, target: RepositoryTarget) -> Iterator[Finding]:
    at_root = judgement.main == ROOT

    def mark_of(model: str, fields: Sequence[str]) -> Mark:
        path = contents.path("" if at_root else model, CONFIG)
        file = contents.file(path if contents.is_file(path) else model)
        return _mark(file, contents.texts.get(path, b""), fields)

    facts = model_facts(contents, [ROOT] if at_root else judgement.loaded_models)
    yield from model_rule_findings(facts, target, mark_of, contents.place)


def _of_set(judgements: Mapping[Path, LoadPlan], target: RepositoryTarget) -> Iterator[Finding]:
    """Findings of the archives of one endpoint: names in common, and words in names."""
    models = dict[str, Path]()
    for path, judgement in judgements.items():
        for word in out_of_memory():
            if word in path.name:
                message = (
                    f"the archive's name contains {word!r}: the container reads any error about it as"
                    " out of memory"
                )
                hint = (
                    "rename it: each failure would be answered with 507 and make SageMaker unload other"
                    " models"
                )
                yield Finding(code="FL467", message=message, file=path, hint=hint)
        for model in judgement.loaded_models:
            if model == judgement.main:  # it is called as its archive is
                continue
            first = models.setdefault(model, path)
            if first != path:
                message = f"{first} and {path} both contain a model {model!r}"
                yield Finding(
                    code="FL466",
                    message=message,
                    file=path,
                    hint="rename one of the two directories and its `name`",
                    severity=_severity(target.release),
                )


def _severity(release: str | None) -> Severity:
    """Before namespaces, which came with 23.04, models of one name excluded each other."""
    return Severity.ERROR if release is not None and release < "23.04" else Severity.WARNING


MarkOf: TypeAlias = Callable[[str, Sequence[str]], Mark]


def model_rule_findings(
    models: Mapping[str, LockedModel], target: RepositoryTarget, mark_of: MarkOf, place: Path
) -> Iterator[Finding]:
    """The findings of the rules that take no more than models and what is known of their container.

    Args:
        models: The facts of the models that are loaded, by directory.
        target: What is known of the container.
        mark_of: The place of the first of some fields that a model has.
        place: The repository.
    """
    context = _context(models, target)
    for rule in rules().values():
        for subject in rule.scope.of_models(context):
            for problem in islice(rule.check(subject), MAX_FINDINGS):
                if isinstance(subject, ModelContext):
                    models_at = [subject.model]
                else:
                    models_at = [
                        model for model in context.models if rule.fields and model.path == problem.path
                    ]
                mark = mark_of(models_at[0].name, rule.fields) if models_at else Mark(place, 1, 1)
                yield rule.finding(problem, mark, is_deploy=True)


def _context(models: Mapping[str, LockedModel], target: RepositoryTarget) -> ModelsContext:
    placed_models = tuple(
        PlacedModel(index=index, archive="", name=name, facts=facts)
        for index, (name, facts) in enumerate(models.items())
    )
    steps = {step for facts in models.values() for step in facts.steps}
    called_models = tuple(model for model in placed_models if model.name not in steps)
    if target.default_model is not None:
        called_models = tuple(model for model in placed_models if model.name == target.default_model)
    return ModelsContext(models=placed_models, reachable_models=called_models, container=target.container())
