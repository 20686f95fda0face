"""The digests of templates, by which a promoted lock knows what another version makes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version

from triton_fleet.core.formats import canonical_digest
from triton_fleet.findings import Finding, Severity
from triton_fleet.product.distributions import VENDOR
from triton_fleet.project.project import Project
from triton_fleet.spec.lock import Lock

CHANGED_TEMPLATE = "FL844"


def product_version() -> str:
    """The version of triton-fleet that is running."""
    return version("triton-fleet")


def template_digests(project: Project, endpoints: Sequence[str]) -> tuple[str, Mapping[str, str]]:
    """This version, and the digest of the template that it makes of each endpoint.

    Raises:
        CannotRunError: the app failed; with what it reported.
    """
    from triton_fleet.product.synthesis import OWN_PYTHON, installation, project_templates  # slow, as below

    templates = project_templates(installation(OWN_PYTHON), project, endpoints)
    return product_version(), {name: canonical_digest(templates[name]) for name in endpoints}


def template_changes(project: Project) -> list[Finding]:
    """Promoted endpoints of which this version makes another template than the one that promoted them.

    Only locks of another version are looked at, and among them those whose files are the same since.

    Raises:
        CannotRunError: the app failed; with what it reported.
    """
    older = {name: lock for name in project.endpoints if (lock := _lock_of_another_version(project, name))}
    if not older:
        return []
    product, digests = template_digests(project, list(older))
    name = project.environment.environment
    return [
        Finding(
            code=CHANGED_TEMPLATE,
            severity=Severity.WARNING,
            message=f"version {product} makes another template of {endpoint} than {lock.product} did",
            hint=f"`fleet upgrade-check WHEEL --env {name}` shows the changes, with the wheels of version"
            f" {lock.product} from the history of {VENDOR}/; promote it again",
            file=project.lock_file(endpoint),
            line=1,
        )
        for endpoint, lock in older.items()
        if digests[endpoint] != lock.template
    ]


def _lock_of_another_version(project: Project, endpoint: str) -> Lock | None:
    file = project.lock_file(endpoint)
    if not file.is_file() or b"template" not in file.read_bytes():
        return None  # to read it as YAML takes far longer
    lock, loaded_spec = project.readable_lock(endpoint), project.specs.readable(endpoint)
    if (
        lock is None
        or loaded_spec is None
        or lock.template is None
        or lock.product in (None, product_version())
    ):
        return None
    from triton_fleet.store.promote.lock import inputs_digest  # slow imports that only such locks need

    return lock if lock.inputs == inputs_digest(project, loaded_spec, lock) else None
