"""`fleet history`: what an endpoint ran, who deployed it, and what each release changed."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from triton_fleet.awsapi.describe import described_endpoint
from triton_fleet.awsapi.errors import aws_errors_as_findings
from triton_fleet.cli.arguments import Endpoint, Env, OutputFormat, Profile
from triton_fleet.cli.aws_access import connect
from triton_fleet.cli.current_fleet import current_project
from triton_fleet.cli.output import say
from triton_fleet.core.formats import commit_words, count_of
from triton_fleet.endpoint.bucket_keys import ARCHIVES
from triton_fleet.printers.lines import print_json
from triton_fleet.project.project import require_member
from triton_fleet.spec.environment import deploy_command
from triton_fleet.spec.values import hexadecimal
from triton_fleet.store.release_history import HistoryEntry, history, lost_archives
from triton_fleet.store.releases import Release, last_releases

VERSION = 1
"""Raised when a field of the JSON is removed or changes its meaning, not when one is added."""


def history_command(
    endpoint: Endpoint,
    env: Env,
    limit: Annotated[
        int, typer.Option("--limit", min=1, metavar="N", help="How many releases to list, newest first.")
    ] = 20,
    format: Annotated[OutputFormat, typer.Option("--format", help="Text or JSON.")] = OutputFormat.HUMAN,
    profile: Profile = None,
) -> None:
    """List an endpoint's releases: who deployed what.

    Each has its time, who deployed it, the commit, and what it changed: keys of the spec, archives, the
    image. The endpoint need not have a spec any more. `fleet rollback --to` takes the id of a release.

    Exit code 1: no such endpoint; 2: AWS refuses or does not answer.
    """
    project = current_project(env)
    access = connect(project, profile)
    s3, bucket = access.client("s3"), project.deployment.bucket
    with aws_errors_as_findings(project.deployment):
        releases = last_releases(s3, bucket, endpoint)
        if not releases:
            require_member(endpoint, list(project.spec_files), "endpoint")
        description = described_endpoint(access.client("sagemaker"), endpoint)
        release_entries = history(releases, description["EndpointStatus"] if description else None)[:limit]
        lost_objects = lost_archives(s3, bucket, [entry.release for entry in release_entries])
    release_entries = [
        replace(entry, lost_keys=_lost_objects(entry.release, lost_objects)) for entry in release_entries
    ]
    if format is OutputFormat.JSON:
        entries = [entry_record(entry) for entry in release_entries]
        print_json({"version": VERSION, "endpoint": endpoint, "environment": env, "releases": entries})
        return
    if not release_entries:
        say(f"no release of {endpoint} in {env} is recorded; {deploy_command(env, endpoint)} records one")
        return
    rest = len(releases) - len(release_entries)
    say(f"{count_of(len(releases), 'release')} of {endpoint} in {env}, the newest first:")
    for entry in release_entries:
        is_oldest = entry.release is releases[-1]
        for line in entry_lines(entry, is_oldest=is_oldest):
            say(line)
    if rest:
        say(f"and {rest} more: `--limit {len(releases)}` lists all")


def _lost_objects(release: Release, missing_keys: frozenset[str]) -> tuple[str, ...]:
    return tuple(
        f"{ARCHIVES}{hexadecimal(archive.digest)}"
        for archive in release.archives
        if archive.digest in missing_keys
    )


def entry_lines(entry: HistoryEntry, *, is_oldest: bool) -> list[str]:
    """A release as it is printed: its id and state, and below who deployed what."""
    source = entry.release.source
    by = str(source.actor) if source else "not recorded"
    lines = [f"{entry.id}  {entry.state}", f"  by: {by}", f"  commit: {_commit(entry.release)}"]
    if source and source.actor.claimed_by_ci and source.actor.claimed_by_ci.url:
        lines.insert(2, f"  run: {source.actor.claimed_by_ci.url}")
    if entry.same_as:
        lines.append(f"  same as {entry.same_as}")
    lines += [f"  {change}" for change in entry.changes]
    if is_oldest:
        lines.append("  the oldest that is recorded")
    if entry.lost_keys:
        lines.append(f"  cannot be restored: the bucket no longer has {', '.join(entry.lost_keys)}")
    return lines


def _commit(release: Release) -> str:
    source = release.source
    if source is None or source.commit is None:
        return "unknown"
    return commit_words(source.commit, uncommitted=source.uncommitted)


def entry_record(entry: HistoryEntry) -> dict[str, object]:
    """A release as an object of the JSON; what is unknown is null."""
    source = entry.release.source
    return {
        "release": entry.id,
        "time": entry.release.time.isoformat().replace("+00:00", "Z"),
        "state": entry.state,
        "actor": source.actor.model_dump(mode="json") if source else None,
        "commit": source.commit if source else None,
        "uncommitted": source.uncommitted if source else None,
        "same_as": entry.same_as,
        "changes": list(entry.changes),
        "lost_archives": list(entry.lost_keys),
    }
