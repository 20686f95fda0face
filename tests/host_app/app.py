"""Somebody else's CDK app, which has the constructs from the wheel and a package `stacks` of its own."""

import aws_cdk as cdk
from cdk_nag import AwsSolutionsChecks
from stacks.search import SearchStack

app = cdk.App()
cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app))
SearchStack(
    app,
    "Search",
    env=cdk.Environment(account="123456789012", region="us-east-1"),
    model_data_url=app.node.get_context("model_data_url"),
)
app.synth()
