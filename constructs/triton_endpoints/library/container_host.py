"""The role and the security groups of a container, which a TritonEndpoint and a SageMakerModel have."""

from __future__ import annotations

from aws_cdk import Resource
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sagemaker as sagemaker

from triton_endpoints.library.environment import is_wrong
from triton_endpoints.library.network import VpcPlacement


class ContainerHost(Resource):
    """A resource with a Model, whose role others grant to and whose connections they allow."""

    _model: sagemaker.CfnModel | None = None
    """None where the props are wrong."""
    _own_role: iam.CfnRole | None = None
    _role: iam.IRole | None = None
    """The one that was given; else None until somebody asks for it."""
    _placement: VpcPlacement | None = None

    @property
    def role(self) -> iam.IRole:
        """The container's role; the Model waits for what others grant to it."""
        if self._role is None:
            # By its name: an ARN that is a token is another account's to the CDK, which then grants twice.
            name = self._own_role.ref if self._own_role else "unresolved"
            self._role = iam.Role.from_role_name(self, "ExecutionRole", name)
            if self._model:
                self._model.node.add_dependency(self._role)
        return self._role

    @property
    def grant_principal(self) -> iam.IPrincipal:
        """The role, for the grants of other constructs: `bucket.grant_read(endpoint)`."""
        return self.role.grant_principal

    @property
    def connections(self) -> ec2.Connections:
        """The security groups of the containers.

        Raises:
            ValueError: it has no `vpc`.
        """
        if self._placement is None and is_wrong(self):
            return ec2.Connections()
        if self._placement is None:
            raise ValueError(f"{self.node.path} has no security groups: give it a `vpc`")
        return ec2.Connections(security_groups=list(self._placement.groups))
