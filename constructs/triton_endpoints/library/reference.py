"""An endpoint by its name: its grants, its metrics, and what an imported one serves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias, TypedDict, Unpack

import jsii
from aws_cdk import Aws, Duration, Resource, Stack, Token
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sagemaker as sagemaker
from aws_cdk.interfaces import aws_sagemaker as interfaces
from constructs import Construct

from triton_endpoints.library.declaration import Declaration, Resolution, resolve
from triton_endpoints.library.environment import EnvironmentProp
from triton_endpoints.library.model import TritonModel
from triton_endpoints.library.prop_types import has_right_types
from triton_endpoints.library.props import UNSET, Alarms, Instance, Metrics, Scaling
from triton_endpoints.library.spec import PropsSpec
from triton_endpoints.library.support import EndpointSupport
from triton_fleet.catalog.metrics import endpoint_metric
from triton_fleet.endpoint.resolved_endpoint import VARIANT

INVOKE = "sagemaker:InvokeEndpoint"


class MetricOptions(TypedDict, total=False):
    """Options of `aws_cloudwatch.Metric` that every metric of an endpoint takes."""

    account: str
    color: str
    label: str
    period: Duration
    region: str
    statistic: str
    unit: cloudwatch.Unit


@jsii.implements(sagemaker.IEndpoint)
class EndpointReference(Resource):
    """An endpoint that is deployed elsewhere: `TritonEndpoint.from_endpoint_name` and the like make one.

    It is the CDK's own `IEndpoint`, which the integration of an API takes, for example.

    Options of the metrics are `account`, `color`, `label`, `period`, `region`, `statistic` and `unit` of
    `aws_cloudwatch.Metric`. Metrics are of the one variant that every endpoint of this product has.
    """

    def __init__(
        self, scope: Construct, id: str, *, endpoint_name: str, endpoint_arn: str | None = None
    ) -> None:
        """Name an endpoint.

        Args:
            scope: The parent.
            id: The construct's own.
            endpoint_name: The endpoint's name.
            endpoint_arn: Its ARN; default: that of the name in the stack's account and region.
        """
        super().__init__(scope, id, environment_from_arn=endpoint_arn)
        self._name, self._arn = endpoint_name, endpoint_arn

    @property
    def endpoint_name(self) -> str:
        """The EndpointName for `invoke_endpoint`."""
        return self._name

    @property
    def endpoint_arn(self) -> str:
        """The ARN, in which SageMaker writes the name in lower case; a name that is a token has to be so."""
        if self._arn is not None:
            return self._arn
        name = self._name if Token.is_unresolved(self._name) else self._name.lower()
        return Stack.of(self).format_arn(service="sagemaker", resource="endpoint", resource_name=name)

    @property
    def endpoint_ref(self) -> interfaces.EndpointReference:
        """The reference by which generated constructs of the CDK take an endpoint."""
        return interfaces.EndpointReference(endpoint_arn=self.endpoint_arn)

    def grant_invoke(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let somebody invoke the endpoint, and no other."""
        return iam.Grant.add_to_principal(
            grantee=grantee, actions=[INVOKE], resource_arns=[self.endpoint_arn]
        )

    def metric(self, measure: str, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """A metric of the endpoint's variant.

        Args:
            measure: As the metrics catalog calls it: `invocations`, `model_latency`, `loaded_model_count`.
            **options: Those of every metric; the default statistic is the average.

        Raises:
            ValueError: SageMaker has no such metric.
        """
        try:
            metric = endpoint_metric(measure)
        except KeyError:
            raise ValueError(f"SageMaker has no metric {measure!r} of an endpoint") from None
        values = {"EndpointName": self._name, "VariantName": VARIANT}
        if self._arn is not None:
            options = {"account": self.env.account, "region": self.env.region, **options}
        result = cloudwatch.Metric(
            namespace=metric.namespace,
            metric_name=metric.name,
            dimensions_map={name: values[name] for name in metric.dimensions},
            **options,
        )
        # A dashboard or an alarm of another region then shows this one's.
        return result.attach_to(self)

    def metric_invocations(self, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Calls; the default statistic is the sum."""
        options.setdefault("statistic", "Sum")
        return self.metric("invocations", **options)

    def metric_invocations_per_instance(self, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Calls by instance; the default statistic is the sum."""
        options.setdefault("statistic", "Sum")
        return self.metric("invocations_per_instance", **options)

    def metric_invocation_4xx_errors(self, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Calls that fail with a 4xx status; the average is their share."""
        options.setdefault("statistic", "Sum")
        return self.metric("errors_4xx", **options)

    def metric_invocation_5xx_errors(self, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Calls that fail with a 5xx status; the average is their share."""
        options.setdefault("statistic", "Sum")
        return self.metric("errors_5xx", **options)

    def metric_model_latency(self, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """How long the container takes, in microseconds."""
        return self.metric("model_latency", **options)

    def metric_overhead_latency(self, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """The time that SageMaker adds to the container's, in microseconds."""
        return self.metric("overhead_latency", **options)

    def metric_gpu_utilization(self, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Use of all GPUs of an instance in percent, 100 for each."""
        return self.metric("gpu_utilization", **options)

    def metric_gpu_memory_utilization(self, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Memory of all GPUs of an instance in use, in percent, 100 for each."""
        return self.metric("gpu_memory_utilization", **options)

    def metric_cpu_utilization(self, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Use of all vCPUs of an instance in percent, 100 for each."""
        return self.metric("cpu_utilization", **options)

    def metric_memory_utilization(self, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Memory of an instance in use, in percent."""
        return self.metric("memory_utilization", **options)

    def metric_disk_utilization(self, **options: Unpack[MetricOptions]) -> cloudwatch.Metric:
        """Disk of an instance in use, in percent."""
        return self.metric("disk_utilization", **options)


class ImportedEndpoint(EndpointReference):
    """An endpoint that is deployed elsewhere, and what it serves: for TritonAlarms and the like beside it.

    Nothing of it is read from AWS: the rules check what is written here.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        endpoint_name: str,
        triton: str,
        instance: Instance,
        model: TritonModel,
        environment: EnvironmentProp | None = None,
        support: EndpointSupport | None = None,
        metrics: Metrics | None = None,
    ) -> None:
        """Describe an endpoint of the stack's account and region.

        Args:
            scope: The parent.
            id: The construct's own.
            endpoint_name: The endpoint's name.
            triton: Its container release, such as `25.04`.
            instance: Its machines.
            model: What it serves.
            environment: A name, the path of an environments/ENV.yaml, or a FleetEnvironment; default: the
                support's.
            support: What endpoints share; default: the environment's, if the app has declared it before.
            metrics: Metrics in addition to SageMaker's own; here `triton` is off by default, because only the
                containers of this product publish Triton's metrics to `TritonFleet/NAME`.
        """
        super().__init__(scope, id, endpoint_name=str(endpoint_name))
        self._spec: PropsSpec | None = None
        if not has_right_types(self, ImportedEndpoint, locals()):
            return
        metrics = metrics or Metrics()
        self._spec = PropsSpec(
            endpoint_name=endpoint_name,
            triton=triton,
            instance=instance,
            model=model,
            alarms=None,
            sections={"metrics": replace(metrics, triton=False) if metrics.triton is UNSET else metrics},
        )
        self._environment, self._support = environment, support


AnyEndpoint: TypeAlias = sagemaker.IEndpoint | sagemaker.CfnEndpoint
"""A TritonEndpoint, an ImportedEndpoint, a `CfnEndpoint`, or any `IEndpoint` of the CDK."""
UNKNOWN = str(Aws.NO_VALUE)
"""A fact of an endpoint that is not described; it is a token, as a value of the deploy."""


@dataclass(frozen=True, kw_only=True)
class Companion:
    """The props that alarms, scaling and a dashboard of an endpoint have in common.

    Attributes:
        environment: Default: that of a described endpoint, else `app`.
        support: What has the alarms' topics.
        instance_type: The type of the variant; default: as it is described, else not known.
        variant: The variant's name.
    """

    endpoint: AnyEndpoint
    environment: EnvironmentProp | None = None
    support: EndpointSupport | None = None
    instance_type: str | None = None
    variant: str = VARIANT

    @property
    def endpoint_name(self) -> str:
        """The endpoint's name, a token perhaps."""
        if isinstance(self.endpoint, sagemaker.CfnEndpoint):
            return self.endpoint.attr_endpoint_name
        return self.endpoint.endpoint_name

    def resolve(
        self,
        construct: Construct,
        *,
        alarms: Alarms | None = None,
        scaling: Scaling | None = None,
        shares: bool = False,
    ) -> Resolution | None:
        """The endpoint as it is described, with alarms and scaling of a construct; None where it is wrong."""
        description = self.endpoint if isinstance(self.endpoint, ImportedEndpoint) else None
        spec = description._spec if description else self._bare_spec()
        if spec is None:
            return None  # the description itself reports why
        if self.instance_type is not None:
            spec = replace(spec, instance=Instance(type=self.instance_type))
        environment, support = self.environment, self.support
        if description and environment is None and support is None:
            environment, support = description._environment, description._support
        if environment is None and support is None:
            environment = "app"
        declaration = Declaration(
            spec=replace(spec, alarms=alarms, scaling=scaling),
            environment=environment,
            support=support,
            variant=self.variant,
            declares_model=False,
        )
        return resolve(construct, declaration, shares=shares)

    def _bare_spec(self) -> PropsSpec:
        return PropsSpec(
            endpoint_name=self.endpoint_name,
            triton=UNKNOWN,
            instance=Instance(type=UNKNOWN),
            model=TritonModel.single(UNKNOWN),
            alarms=None,
            sections={"metrics": Metrics(triton=False)},
        )
