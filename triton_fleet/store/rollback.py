"""Brings back an earlier lock of an endpoint, with its spec, if all that it names is still in the store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from re import fullmatch
from typing import TYPE_CHECKING, Any

from triton_fleet.awsapi.errors import aws_errors_as_findings
from triton_fleet.changes.lock_changes import content_changes
from triton_fleet.changes.spec_changes import spec_changes
from triton_fleet.context.context import EndpointContext
from triton_fleet.core.files import replace_file, write_problem
from triton_fleet.core.formats import short_commit
from triton_fleet.core.parallel import all_in_parallel
from triton_fleet.endpoint.locks import lock_findings
from triton_fleet.endpoint.resolve import resolve_endpoint
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.git.files import FULL_HISTORY, Commit, History
from triton_fleet.project.fleet_files import LOCK_BYTES
from triton_fleet.project.membership import promoted_spec
from triton_fleet.project.project import LoadedSpec, Project
from triton_fleet.project.reader import parse_source
from triton_fleet.project.spec_files import spec_files
from triton_fleet.spec.lock import Lock
from triton_fleet.spec.problems import validate
from triton_fleet.store.archive_requirements import MAX_PARALLEL_REQUESTS, ArchiveRequirement, contents_of
from triton_fleet.store.promote.copy import objects_of
from triton_fleet.store.promote.images import ImageCopies, Store

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

CODE = "FL846"
NAME = r"[a-zA-Z0-9](-*[a-zA-Z0-9])*"


@dataclass(frozen=True, kw_only=True)
class EarlierRelease:
    """The lock and the spec of an endpoint in a commit.

    Attributes:
        commit: The commit.
        contents: Its lock and its spec, by file.
        lock: The lock.
        loaded_spec: The spec as it holds in the environment now.
    """

    commit: Commit
    contents: dict[Path, bytes]
    lock: Lock
    loaded_spec: LoadedSpec


def earlier_release(project: Project, endpoint: str, reference: str | None) -> EarlierRelease:
    """The lock and the spec of an endpoint in an earlier commit.

    Args:
        project: The environment.
        endpoint: The endpoint, which the environment may not have any more.
        reference: The commit. Default: the last one in which they were not what they are in HEAD, or the
            earlier one whose lock and spec the work tree has already.

    Raises:
        FindingsError: no commit has another lock or spec, the one that is named has none, or they are wrong;
            or none is named and a return to the last one could undo a rollback.
        CannotRunError: Git is missing, the fleet is in no clone, or there is no such commit.
    """
    if not fullmatch(NAME, endpoint):
        message = f"{endpoint!r} is not the name of an endpoint"
        raise FindingsError([Finding(code="FL120", message=message)])
    history, files = History(project.root), _files(project, endpoint)
    lock_file, spec_file = files
    name = project.environment.environment
    commit = history.commit(reference) if reference else _default(history, files)
    contents = {file: history.content(commit, file) for file in files} if commit else {}
    contents_by_file = {file: content for file, content in contents.items() if content is not None}
    if commit is None or lock_file not in contents_by_file:
        problem = f"{commit} has no" if commit else "Git knows no earlier"
        message = f"{problem} lock of {endpoint!r} in {name}"
        hint = f"`git log -- {lock_file.relative_to(project.root)}` shows the commits of its lock"
        raise FindingsError(
            [Finding(code=CODE, message=message, hint=FULL_HISTORY if history.is_shallow else hint)]
        )
    if spec_file not in contents_by_file:
        path = spec_file.relative_to(project.root)
        message = f"{commit} has a lock of {endpoint!r} in {name}, but no {path} beside it"
        lock_path = lock_file.relative_to(project.root).as_posix()
        checkout = f"git checkout {short_commit(commit.id)} -- {lock_path}"
        hint = f"restore the lock alone: `{checkout}`"
        raise FindingsError([Finding(code=CODE, message=message, hint=hint)])
    lock = validate(Lock, parse_source(lock_file, _text(lock_file, contents_by_file[lock_file]), LOCK_BYTES))
    loaded_spec = project.load_source(parse_source(spec_file, _text(spec_file, contents_by_file[spec_file])))
    return EarlierRelease(commit=commit, contents=contents_by_file, lock=lock, loaded_spec=loaded_spec)


def _text(file: Path, content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = "the file was not UTF-8 text in that commit"
        raise FindingsError([Finding(code="FL101", message=message, file=file)]) from error


def require_contents(project: Project, release: EarlierRelease, s3: S3Client, ecr: Any) -> ResolvedEndpoint:
    """Check that the store has all that a release names, with the content that its lock has.

    Raises:
        FindingsError: the spec breaks a rule by now, or an archive or the image is gone or is another one.
        CannotRunError: AWS refuses or does not answer.
    """
    deployment = project.deployment
    lock_file = project.lock_file(release.loaded_spec.spec.endpoint)
    context = EndpointContext(
        loaded_spec=release.loaded_spec, environment=project.environment, lock=release.lock
    )
    spec = release.loaded_spec.spec
    command = project.environment.lock_command(spec.endpoint)
    wrong = lock_findings(release.lock, spec, lock_file, deployment.environment, command)
    endpoint, _ = resolve_endpoint(deployment, context, wrong)
    contents = contents_of([ArchiveRequirement(endpoint, archive) for archive in endpoint.archives])
    store = Store(s3=s3, ecr=ecr, deployment=deployment)
    with aws_errors_as_findings(deployment):
        all_in_parallel(contents, lambda content: objects_of(content, store), MAX_PARALLEL_REQUESTS)
    ImageCopies(store, store).plan([release.lock])
    return endpoint


def release_changes(project: Project, release: EarlierRelease) -> list[str]:
    """The keys of the spec and the contents of the lock that a rollback changes, in words.

    None of the spec, or of the lock, where the present one cannot be read.
    """
    name = release.loaded_spec.spec.endpoint
    loaded_spec = project.specs.readable(name) if name in project.spec_files else None
    lock = project.readable_lock(name)
    return [
        *map(str, spec_changes(loaded_spec, release.loaded_spec) if loaded_spec else []),
        *(content_changes(lock, release.lock) if lock else []),
    ]


def write_release(release: EarlierRelease, root: Path) -> list[Path]:
    """Write the files of a release, the lock last; return those that changed.

    Raises:
        CannotRunError: a file cannot be written, or is or is in a link below `root`.
    """
    changes = list[Path]()
    for file, content in reversed(release.contents.items()):
        try:
            if file.is_file() and file.read_bytes() == content:
                continue
            replace_file(file, content, root=root)
        except OSError as error:
            raise write_problem(file, error) from error
        changes.append(file)
    return changes


def _files(project: Project, endpoint: str) -> tuple[Path, Path]:
    """The lock and the spec of an endpoint, whether or not they exist."""
    root, name = project.root, project.environment.environment
    spec = promoted_spec(root, name, endpoint)
    if not project.is_promoted:
        spec = spec_files(root).by_endpoint.get(endpoint, root / "model_specs" / f"{endpoint}.yaml")
    return project.lock_file(endpoint), spec


def _default(history: History, files: tuple[Path, Path]) -> Commit | None:
    """The commit of a rollback for which none is named; None where Git knows no earlier lock.

    Which release is earlier follows from HEAD, because the work tree may have been rolled back already.
    """

    def has(commit: Commit, contents: Sequence[bytes | None]) -> bool:
        return all(
            _lines(history.content(commit, file)) == content
            for file, content in zip(files, contents, strict=True)
        )

    commits = list(history.commits(files))
    if not commits:
        return None
    latest, *older = commits
    head = [_lines(history.content(latest, file)) for file in files]
    work_tree = [_lines(file.read_bytes()) if file.is_file() else None for file in files]
    releases = (candidate for candidate in older if history.content(candidate, files[0]) is not None)
    before = next((release for release in releases if not has(release, head)), None)
    if before is None:
        return None
    if work_tree != head and work_tree[0] is not None:
        restoration = next((candidate for candidate in older if has(candidate, work_tree)), None)
        if restoration is not None:
            return restoration
    if history.is_shallow:
        raise _undecided_release(
            "this clone lacks a part of the history, which may be what was restored", FULL_HISTORY
        )
    source = (
        next((release for release in releases if has(release, head)), None) if head[0] is not None else None
    )
    if source is not None:
        problem = f"HEAD has restored what {source} had: the release before it was rolled back"
        raise _undecided_release(problem, "name a commit with `--to COMMIT`")
    contents_before = [_lines(history.content(before, file)) for file in files]
    if any(
        current not in pair
        for current, pair in zip(work_tree, zip(head, contents_before, strict=True), strict=True)
    ):
        problem = "the lock and the spec in the work tree are of no commit together"
        remedy = f"`--to {short_commit(before.id)}` restores the release before that of HEAD"
        raise _undecided_release(problem, f"{remedy}, `--to HEAD` reverts what is not committed")
    return before


def _undecided_release(problem: str, remedy: str) -> FindingsError:
    return FindingsError([Finding(code=CODE, message=problem, hint=remedy)])


def _lines(content: bytes | None) -> bytes | None:
    """A content whatever line ends Git writes in this clone."""
    return None if content is None else content.replace(b"\r\n", b"\n")
