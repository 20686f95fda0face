"""From a spec to an endpoint's parts in somebody's own stack, or to what is wrong with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import jsii
from aws_cdk import Annotations, CfnMapping, CfnResource, IStableAnyProducer, Lazy, Stack, TagManager
from aws_cdk import aws_iam as iam
from constructs import Construct

from triton_endpoints.endpoint.alarms import AlarmTargets
from triton_endpoints.endpoint.parts import EndpointParts, declare_endpoint
from triton_endpoints.library.alarm_actions import AlarmActions, OwnActions
from triton_endpoints.library.contexts import computed_names, contexts_of, runs_of
from triton_endpoints.library.environment import (
    EnvironmentProp,
    EnvironmentSource,
    bound_roles,
    is_name,
    read_environment,
    report,
    tag,
)
from triton_endpoints.library.image import ImagePlace, router_findings, shared_container_image
from triton_endpoints.library.network import VpcPlacement, VpcProps
from triton_endpoints.library.own_functions import OwnFunctions
from triton_endpoints.library.shared_parts import SharedParts, claim
from triton_endpoints.library.spec import FileSpec, PropsSpec, SpecData
from triton_endpoints.library.support import EndpointSupport, shared_by
from triton_endpoints.library.values import Values, is_token
from triton_fleet.catalog.images import image, partition_of, regions_of, releases
from triton_fleet.context.context import EndpointContext, volume_key
from triton_fleet.context.registries import Repository
from triton_fleet.endpoint.resolve import assemble_endpoint
from triton_fleet.endpoint.resolved_endpoint import VARIANT, ResolvedEndpoint
from triton_fleet.findings import Finding, FindingsError, Severity
from triton_fleet.project.project import LoadedSpec
from triton_fleet.rules.apply import rule_findings
from triton_fleet.spec.deployment import Deployment
from triton_fleet.spec.endpoint import Mode
from triton_fleet.spec.source import finding_at


@dataclass(frozen=True, kw_only=True)
class Declaration:
    """The props from which an endpoint is declared; `declares_model`: with its Model, and what that needs."""

    spec: PropsSpec | FileSpec
    environment: EnvironmentProp | None = None
    support: EndpointSupport | None = None
    alarm_actions: AlarmActions | None = None
    dashboard: bool | None = None
    role: iam.IRole | None = None
    image: ImagePlace | None = None
    network: VpcProps = VpcProps()  # noqa: RUF009 (it is frozen)
    variant: str = VARIANT
    declares_model: bool = True


@dataclass(frozen=True)
class Resolution:
    """An endpoint with everything decided; `shared_parts` is None where nobody declares a support."""

    endpoint: ResolvedEndpoint
    shared_parts: SharedParts | None


def declare(
    construct: Construct, declaration: Declaration, placement: VpcPlacement | None
) -> EndpointParts | None:
    """Declare an endpoint's parts below a construct; None where something is wrong, which fails the synth."""
    resolution = resolve(construct, declaration, placement, is_whole=True)
    if resolution is None:
        return None
    endpoint, shared_parts = resolution.endpoint, resolution.shared_parts
    if shared_parts is not None and shared_parts.deployment is None:
        return None  # the support itself reports why
    functions = shared_parts or OwnFunctions()
    try:
        tokens = functions.tokens(construct, endpoint)
    except FindingsError as error:
        report(construct, error.findings)
        return None
    if shared_parts is not None:
        report(construct, _first_deploy(construct, shared_parts, endpoint))
    targets = alarm_targets(construct, resolution, declaration.alarm_actions)
    parts = declare_endpoint(construct, endpoint, alarm_targets=targets, role=declaration.role, tokens=tokens)
    if parts.logs is not None:
        _follow_tags(parts.logs, parts.endpoint.tags)
    functions.serve(construct, parts)
    return parts


def resolve(
    construct: Construct,
    declaration: Declaration,
    placement: VpcPlacement | None = None,
    *,
    is_whole: bool = False,
    shares: bool = True,
) -> Resolution | None:
    """Resolve an endpoint, and report all that is wrong or doubtful at the construct's path.

    Args:
        construct: What is declared for the endpoint; it gets its tags, and its roles the boundary.
        declaration: What the endpoint is declared from.
        placement: Where its containers are.
        is_whole: Whether the construct is the endpoint itself, whose name no other one may have.
        shares: Whether it would use a support; one that is declared after it is then an error.
    """
    try:
        environment = _environment(construct, declaration)
        shared_parts = _find_shared_parts(construct, declaration, environment)
        if (
            shared_parts is not None
            and shared_parts.deployment is not None
            and is_name(declaration.environment)
        ):
            environment = shared_parts.read_for(construct)  # a name alone has no key, tags or boundary
        findings = declaration.network.findings()
        if shares and shared_parts is None:
            SharedParts.go_without(construct, environment.deployment)
        values = environment.values.copy()
        endpoint, warnings = _resolve(
            construct, declaration, environment, values, shared_parts, placement, findings
        )
        if is_whole:
            claim(construct, f"an endpoint {endpoint.name!r}", "give one of the two another name")
    except FindingsError as error:
        report(construct, map(declaration.spec.in_props, error.findings))
        return None
    report(construct, map(declaration.spec.in_props, warnings))
    if values.names:
        names = ", ".join(values.names)
        Annotations.of(construct).add_info(f"not checked, as the synth does not know it: {names}")
    tag(construct, endpoint.tags)
    bound_roles(construct, endpoint.deployment)
    return Resolution(endpoint, shared_parts)


def alarm_targets(construct: Construct, resolution: Resolution, actions: AlarmActions | None) -> AlarmTargets:
    """Whom an endpoint's alarms notify: their own actions, else the topics of a support, else nobody."""
    if actions is not None:
        return OwnActions(construct, actions)
    if resolution.shared_parts is not None:
        return resolution.shared_parts.alarm_targets(construct, resolution.endpoint)
    if resolution.endpoint.alarms:
        message = (
            "the alarms notify nobody, because there are neither `alarm_actions` nor a support with topics"
        )
        hint = f"give `alarm_actions`, or {_declare_support(resolution.endpoint.deployment)}"
        warning = Finding(code="FL617", message=message, hint=hint, severity=Severity.WARNING)
        report(construct, [warning])
    return AlarmTargets()


def _environment(construct: Construct, declaration: Declaration) -> EnvironmentSource:
    value, support = declaration.environment, declaration.support
    if value is not None:
        return read_environment(construct, value)
    if support is None:
        message = "neither `environment` nor `support` is given"
        hint = 'write `environment="prod"`, or give the EndpointSupport that the endpoint shares'
        raise FindingsError([Finding(code="FL608", message=message, hint=hint)])
    return shared_by(support).read_for(construct)


def _find_shared_parts(
    construct: Construct, declaration: Declaration, environment: EnvironmentSource
) -> SharedParts | None:
    """The parts that the endpoint shares with others of its environment; None where nobody declares them."""
    deployment = environment.deployment
    if declaration.support is None:
        return SharedParts.of(construct, deployment)
    shared_parts = shared_by(declaration.support)
    own = shared_parts.deployment or deployment
    if own.environment != deployment.environment:
        message = f"`environment` is {deployment.environment!r}, and `support` is of {own.environment!r}"
        raise FindingsError([Finding(code="FL608", message=message, hint="leave one of the two out")])
    if (own.account, own.region) != (deployment.account, deployment.region):
        message = (
            f"`support` is of account {own.account} and region {own.region!r}, and the endpoint's stack of"
            f" {deployment.account} and {deployment.region!r}"
        )
        hint = "declare an EndpointSupport in a stack of that account and region"
        raise FindingsError([Finding(code="FL608", message=message, hint=hint)])
    return shared_parts


def _resolve(
    construct: Construct,
    declaration: Declaration,
    environment: EnvironmentSource,
    values: Values,
    shared_parts: SharedParts | None,
    placement: VpcPlacement | None,
    earlier_findings: Sequence[Finding],
) -> tuple[ResolvedEndpoint, list[Finding]]:
    """The endpoint; what was found before is reported with all that is wrong with the props.

    Raises:
        FindingsError: every mistake.
    """
    deployment = (shared_parts.deployment if shared_parts else None) or environment.deployment
    try:
        contexts = contexts_of(declaration.spec, runs_of(environment), values, placement)
    except FindingsError as error:
        raise FindingsError([*earlier_findings, *error.findings]) from error
    loaded_spec, first_environment = contexts[0].loaded_spec, runs_of(environment)[0][0]
    own_environment = first_environment.model_copy(update={"environment": deployment.environment})
    data = declaration.spec.data(construct, loaded_spec, own_environment)
    contexts = [replace(context, lock=data.lock) for context in contexts]
    rule_results = values.common([rule_findings(context, is_deploy=True) for context in contexts])
    bucket_findings = [] if shared_parts else _bucket_findings(deployment, loaded_spec, data)
    image_issues = (
        router_findings(declaration.image, loaded_spec.spec, own_environment) if declaration.image else []
    )
    findings = [*earlier_findings, *bucket_findings, *data.findings, *image_issues, *rule_results]
    deployment = _with_dashboard(deployment, declaration.dashboard)

    def assemble(context: EndpointContext) -> ResolvedEndpoint:
        return assemble_endpoint(deployment, replace(context, lock=data.lock), findings, data.model_data)

    endpoints = [assemble(context) for context in contexts[:2]]
    endpoint = endpoints[0]
    if len(contexts) > 1:
        try:
            endpoint = values.put_back(*endpoints)
        except FindingsError as error:
            names = computed_names(declaration.spec, environment, values, placement, assemble)
            raise values.refusal(names) from error
    amis = {context.ami.name if context.ami else None for context in contexts}
    if contexts[0].named_ami is None and len(amis) > 1:
        endpoint = replace(endpoint, ami=None)  # which host image fits depends on a value
    if is_token(endpoint.instance.type):
        endpoint = _with_any_instance(endpoint, contexts)
    if place := _image_place(construct, declaration, endpoint):
        own = replace(endpoint.image, address=place.uri, is_own=True)
        repository = Repository(account="", name="", arn=place.repository.repository_arn)
        endpoint = replace(endpoint, image=own, repositories=(repository,))
    elif is_token(deployment.region):
        endpoint = _with_registry(construct, endpoint)
    endpoint = replace(endpoint, variant=declaration.variant)
    if data.assemble and declaration.declares_model:
        endpoint = replace(endpoint, given_data=data.assemble(endpoint))
    return placement.with_placement(endpoint) if placement else endpoint, findings


def _image_place(
    construct: Construct, declaration: Declaration, endpoint: ResolvedEndpoint
) -> ImagePlace | None:
    """The image of the app: the one that is given, or that of a shared container; None: the release's."""
    if declaration.image or not declaration.declares_model or not isinstance(declaration.spec, PropsSpec):
        return declaration.image
    is_shared = endpoint.spec.mode is Mode.SHARED_CONTAINER
    return shared_container_image(construct, endpoint) if is_shared else None


def _with_any_instance(endpoint: ResolvedEndpoint, contexts: Sequence[EndpointContext]) -> ResolvedEndpoint:
    """An endpoint of a type that is not known: it may have a volume, and graphs add up all that it has."""
    instance = replace(endpoint.instance, gpus=1, vcpus=1)
    key = endpoint.deployment.kms_key if any(map(volume_key, contexts)) else None
    return replace(endpoint, instance=instance, volume_key=key)


def _with_registry(construct: Construct, endpoint: ResolvedEndpoint) -> ResolvedEndpoint:
    """An endpoint of a stack without a region: another account keeps the release's image in some regions.

    A release that the deploy decides is one of the newest, as its stand-ins are.
    """
    stack, name = Stack.of(construct), endpoint.image.details.name
    release = releases()[-1] if is_token(name) else name
    accounts = {
        region: {"Account": image(release, region).account}
        for region in regions_of(release)
        if partition_of(region) == endpoint.deployment.partition
    }
    id = f"TritonRegistries{release}"
    mapping = stack.node.try_find_child(id) or CfnMapping(stack, id, mapping=accounts)
    assert isinstance(mapping, CfnMapping)  # noqa: S101 (it is of this module alone)
    account = mapping.find_in_map(endpoint.deployment.region, "Account")
    return replace(
        endpoint,
        image=replace(endpoint.image, account=account),
        engine_image=replace(endpoint.engine_image, account=account),
        repositories=tuple(replace(repository, account=account) for repository in endpoint.repositories),
    )


def _bucket_findings(deployment: Deployment, spec_file: LoadedSpec, data: SpecData) -> list[Finding]:
    """Findings about props that need a support's bucket, unless the environment names another."""
    if deployment.given_bucket is not None:
        return []
    needs, hint = [], f"{_declare_support(deployment)}, or name a bucket in the environment's file"
    if data.model_data is None:
        message = "`spec` without `model_data_url` needs an artifact bucket with the archives of its lock"
        needs.append((("models",), message, f"give `model_data_url`, {hint}"))
    if spec_file.spec.capture is not None:
        needs.append((("capture",), "`capture` needs an artifact bucket", hint))
    name = deployment.environment
    return [
        finding_at(spec_file.source.mark(path), "FL608", f"{message}: environment {name!r} has none", remedy)
        for path, message, remedy in needs
    ]


def _declare_support(deployment: Deployment) -> str:
    name = deployment.environment
    return (
        f'declare `EndpointSupport(stack, "Support", environment={name!r})` before it, or name a deployed'
        f' one: `support=EndpointSupport.from_environment(self, "Support", environment={name!r})`'
    )


def _first_deploy(
    construct: Construct, shared_parts: SharedParts, endpoint: ResolvedEndpoint
) -> list[Finding]:
    """SageMaker refuses a Model whose data is not in S3 yet, and a bucket of the same stack is empty."""
    same = shared_parts.declares_bucket and shared_parts.is_in_stack_of(construct)
    if not same or endpoint.given_data is not None:
        return []
    message = "the artifact bucket is in the endpoint's stack: the first deploy finds no archive"
    publish = f"fleet publish --env {endpoint.deployment.environment} {endpoint.name}"
    hint = f"put the EndpointSupport into a stack of its own, deploy that, and run `{publish}`"
    return [Finding(code="FL612", message=message, hint=hint, severity=Severity.WARNING)]


def _with_dashboard(deployment: Deployment, dashboard: bool | None) -> Deployment:
    return deployment if dashboard is None else replace(deployment, dashboards=dashboard)


@jsii.implements(IStableAnyProducer)
class _TagValues:
    """The tags of a resource when the app is synthesised, those that the app added as well."""

    def __init__(self, tags: TagManager) -> None:
        self._tags = tags

    def produce(self) -> dict[str, str]:
        """By key."""
        return dict(self._tags.tag_values())


def _follow_tags(logs: CfnResource, tags: TagManager) -> None:
    """Tag the log groups as the endpoint is: a custom resource has no tags of the CDK's."""
    logs.add_property_override("Tags", Lazy.any(_TagValues(tags)))
