"""Who gains which permission, from policies of two templates."""

from __future__ import annotations

from typing import Any

from triton_fleet.changes.permission_changes import permission_changes


def template(**resources: dict[str, Any]) -> dict[str, Any]:
    return {"Resources": resources}


def role(service: str = "sagemaker.amazonaws.com", **keys: Any) -> dict[str, Any]:
    trust = {
        "Statement": [{"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": service}}]
    }
    properties = {"AssumeRolePolicyDocument": trust, **keys}
    return {
        "Type": "AWS::IAM::Role",
        "Properties": properties,
        "Metadata": {"aws:cdk:path": "stack/Role/Resource"},
    }


def policy(**statement: Any) -> dict[str, Any]:
    document = {"Statement": [{"Effect": "Allow", **statement}]}
    return {
        "Type": "AWS::IAM::Policy",
        "Properties": {"PolicyDocument": document, "Roles": [{"Ref": "Role1"}]},
    }


def test_an_action_that_is_added_is_named_with_its_role_and_resource() -> None:
    before = template(Role1=role(), P=policy(Action="s3:GetObject", Resource="arn:a"))
    after = template(Role1=role(), P=policy(Action=["s3:GetObject", "s3:PutObject"], Resource="arn:a"))
    assert permission_changes(before, after) == ("the endpoint's role is now allowed s3:PutObject on arn:a",)
    assert permission_changes(after, before) == (
        "the endpoint's role is no longer allowed s3:PutObject on arn:a",
    )


def test_a_statement_that_is_only_divided_otherwise_is_no_change() -> None:
    before = template(Role1=role(), P=policy(Action=["a:B", "a:C"], Resource=["x", "y"]))
    halves = [{"Effect": "Allow", "Action": text, "Resource": ["y", "x"]} for text in ("a:C", "a:B")]
    whole = {"PolicyDocument": {"Statement": halves}, "Roles": [{"Ref": "Role1"}]}
    after = template(Role1=role(), P={"Type": "AWS::IAM::Policy", "Properties": whole})
    assert permission_changes(before, after) == ()


def test_a_condition_is_part_of_the_sentence() -> None:
    after = template(Role1=role(), P=policy(Action="a:B", Resource="*", Condition={"Bool": {"x": "true"}}))
    (permission_change,) = permission_changes(template(Role1=role()), after)
    assert permission_change == """the endpoint's role is now allowed a:B on * if {"Bool": {"x": "true"}}"""


def test_who_may_assume_a_role_is_a_permission_as_well() -> None:
    actual_permission_changes = permission_changes(
        template(Role1=role()), template(Role1=role("lambda.amazonaws.com"))
    )
    assert actual_permission_changes == (
        "lambda.amazonaws.com is now allowed sts:AssumeRole on the endpoint's role",
        "sagemaker.amazonaws.com is no longer allowed sts:AssumeRole on the endpoint's role",
    )


def test_everybody_on_a_bucket_and_a_managed_policy_are_seen() -> None:
    document = {"Statement": {"Effect": "Allow", "Principal": "*", "Action": "s3:*", "Resource": "arn:b"}}
    bucket = {"Type": "AWS::S3::BucketPolicy", "Properties": {"Bucket": "b", "PolicyDocument": document}}
    before = template(Role1=role())
    after = template(Role1=role(ManagedPolicyArns=["arn:admin"]), B=bucket)
    assert permission_changes(before, after) == (
        "everybody is now allowed s3:* on arn:b",
        "the endpoint's role is now allowed what the policy arn:admin allows",
    )


def test_a_denial_is_one() -> None:
    after = template(Role1=role(), P=policy(Effect="Deny", Action="a:B", Resource="*"))
    assert permission_changes(template(Role1=role()), after) == (
        "the endpoint's role is now denied a:B on *",
    )
