"""Stacks of CloudFormation: policies whose document is text, as `Fn::Sub` makes it, and the managed
policies of roles, which moto does not attach."""

import json

from moto.iam.models import ManagedPolicy, Role, iam_backends


def install():
    """Ours around moto's."""
    create_policy = ManagedPolicy.create_from_cloudformation_json.__func__
    create_role = Role.create_from_cloudformation_json.__func__

    def policy(cls, resource_name, cloudformation_json, *rest, **named):
        properties = cloudformation_json.get("Properties", {})
        document = properties.get("PolicyDocument")
        if isinstance(document, str):
            properties = {**properties, "PolicyDocument": json.loads(document)}
            cloudformation_json = {**cloudformation_json, "Properties": properties}
        return create_policy(cls, resource_name, cloudformation_json, *rest, **named)

    def role(cls, resource_name, cloudformation_json, account_id, region_name, **named):
        made = create_role(
            cls, resource_name, cloudformation_json, account_id, region_name, **named
        )
        arns = cloudformation_json.get("Properties", {}).get("ManagedPolicyArns", [])
        for arn in arns:
            iam_backends[account_id][made.partition].attach_role_policy(arn, made.name)
        return made

    ManagedPolicy.create_from_cloudformation_json = classmethod(policy)
    Role.create_from_cloudformation_json = classmethod(role)
