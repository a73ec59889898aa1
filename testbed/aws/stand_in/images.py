"""Images for nodes, and the parameters that name the newest of them.

Moto has neither, and takes no parameter below /aws from a caller. Names and parameters are those
that AWS publishes; ids are made from the name, so that they are the same in every run.
"""

import hashlib
from datetime import datetime, timezone

from moto.core.responses import ActionResult
from moto.core.utils import utcnow
from moto.ec2.models import ec2_backends
from moto.ec2.models.amis import Ami
from moto.ec2.responses import EC2Response
from moto.ssm.models import Parameter, SimpleSystemManagerBackend, ssm_backends

from .state import ACCOUNT

MINORS = ("1.35", "1.36")
# The last minor that Amazon Linux 2 was published for comes on top of those.
AL2_MINORS = ("1.32", *MINORS)
# The first of each is there to be named; the last is the newest.
RELEASES = ("v20260107", "v20260204")
BOTTLEROCKET_RELEASES = ("v1.51.0", "v1.52.0")
WINDOWS_YEARS = ("2019", "2022", "2025")

EKS_OWNER = "602401143452"
AL2023_VARIANTS = [
    ("x86_64", "standard"),
    ("x86_64", "nvidia"),
    ("x86_64", "neuron"),
    ("arm64", "standard"),
    ("arm64", "nvidia"),
]
AL2_VARIANTS = [
    ("amazon-linux-2", "amazon-eks-node", "x86_64"),
    ("amazon-linux-2-arm64", "amazon-eks-arm64-node", "arm64"),
    ("amazon-linux-2-gpu", "amazon-eks-gpu-node", "x86_64"),
]
BOTTLEROCKET_VARIANTS = [
    ("", "x86_64"),
    ("", "arm64"),
    ("-nvidia", "x86_64"),
    ("-nvidia", "arm64"),
]

SEEDED = set()


def install():
    """Deprecation, and names of parameters that lack an account."""
    EC2Response.describe_images = describe_images
    EC2Response.enable_image_deprecation = enable_image_deprecation
    EC2Response.disable_image_deprecation = disable_image_deprecation
    EC2Response.copy_image = with_tags_copied(EC2Response.copy_image)
    SimpleSystemManagerBackend._strip_parameter_arn = lambda _, name: name_of(name)


def seed(region):
    """Publishes everything in a region, once."""
    if region in SEEDED:
        return
    SEEDED.add(region)
    for month, release in enumerate(RELEASES, start=1):
        publish(region, "al2023", release, released(month))
        publish(region, "al2", release, released(month))
        publish(region, "windows", f"2026.0{month}.14", released(month))
    for month, release in enumerate(BOTTLEROCKET_RELEASES, start=1):
        publish(region, "bottlerocket", release, released(month))


def released(month):
    """A day on which images were published."""
    return datetime(2026, month, 8, 12, 0, tzinfo=timezone.utc).replace(tzinfo=None)


def publish(region, family, release, when=None):
    """Publishes one release of a family for every minor; the ids of its images."""
    families = {
        "al2023": al2023,
        "al2": al2,
        "bottlerocket": bottlerocket,
        "windows": windows,
    }
    ids = []
    for name, architecture, platform, parameters in families[family](release):
        ids.append(add_image(region, name, architecture, platform, when or utcnow()))
        for parameter in parameters:
            put_parameter(region, parameter, ids[-1])
    return ids


def al2023(release):
    """Amazon Linux 2023: every architecture and variant that EKS has."""
    for minor in MINORS:
        for architecture, variant in AL2023_VARIANTS:
            name = f"amazon-eks-node-al2023-{architecture}-{variant}-{minor}-{release}"
            folder = (
                f"/aws/service/eks/optimized-ami/{minor}/amazon-linux-2023/"
                f"{architecture}/{variant}"
            )
            yield name, architecture, None, named_and_recommended(folder, name)


def al2(release):
    """Amazon Linux 2."""
    for minor in AL2_MINORS:
        for folder, prefix, architecture in AL2_VARIANTS:
            name = f"{prefix}-{minor}-{release}"
            path = f"/aws/service/eks/optimized-ami/{minor}/{folder}"
            yield name, architecture, None, named_and_recommended(path, name)


def bottlerocket(release):
    """Bottlerocket, whose parameters have the version without its v."""
    for minor in MINORS:
        for variant, architecture in BOTTLEROCKET_VARIANTS:
            name = f"bottlerocket-aws-k8s-{minor}{variant}-{architecture}-{release}-5ed15786"
            path = f"/aws/service/bottlerocket/aws-k8s-{minor}{variant}/{architecture}"
            versions = ("latest", release.removeprefix("v"))
            yield name, architecture, None, [f"{path}/{v}/image_id" for v in versions]


def windows(release):
    """Windows Server Core; there is only a newest one."""
    for minor in MINORS:
        for year in WINDOWS_YEARS:
            kind = f"Windows_Server-{year}-English-Core-EKS_Optimized-{minor}"
            path = f"/aws/service/ami-windows-latest/{kind}/image_id"
            yield f"{kind}-{release}", "x86_64", "windows", [path]


def named_and_recommended(folder, name):
    """The two parameters of one image of EKS."""
    return [f"{folder}/recommended/image_id", f"{folder}/{name}/image_id"]


def add_image(region, name, architecture, platform, created):
    """Makes an image of Amazon's; its id."""
    backend = ec2_backends[ACCOUNT][region]
    image_id = "ami-" + hashlib.sha1(f"{region}/{name}".encode()).hexdigest()[:17]
    backend.amis[image_id] = image = Ami(
        backend,
        image_id,
        name=name,
        owner_id=EKS_OWNER,
        owner_alias="amazon",
        public=True,
        virtualization_type="hvm",
        architecture=architecture,
        creation_date=created,
        platform=platform,
        hypervisor="xen",
        root_device_type="ebs",
        root_device_name="/dev/sda1" if platform else "/dev/xvda",
        region_name=f"{region}a",
    )
    image.deprecation_time = f"{created.year + 2}-{created:%m-%dT%H:%M:%S}.000Z"
    return image_id


def put_parameter(region, name, value):
    """Sets a parameter below /aws, as only AWS can."""
    versions = ssm_backends[ACCOUNT][region]._parameters[name]
    versions.append(
        Parameter(
            account_id=ACCOUNT,
            name=name,
            value=value,
            parameter_type="String",
            description=None,
            allowed_pattern=None,
            keyid=None,
            last_modified_date=utcnow(),
            version=len(versions) + 1,
            data_type="aws:ec2:image",
        )
    )


def name_of(name):
    """The name in the ARN of a parameter; those of AWS's own have no account in them."""
    if not name.startswith("arn:"):
        return name
    return "/" + name.split(":parameter/", 1)[-1].lstrip("/")


def deprecate(region, image_id, at):
    """Says from when on an image is deprecated; None takes it back."""
    image = ec2_backends[ACCOUNT][region].describe_images(ami_ids=[image_id])[0]
    image.deprecation_time = at


def describe_images(response):
    """Images that are deprecated are left out unless asked for, or unless they are one's own."""
    images = response.ec2_backend.describe_images(
        ami_ids=response._get_param("ImageIds", []),
        filters=response._filters_from_querystring(),
        exec_users=response._get_param("ExecutableUsers", []),
        owners=response._get_param("Owners", []),
    )
    if not response._get_bool_param("IncludeDeprecated", False):
        images = [image for image in images if image.owner_id == ACCOUNT or not is_old(image)]
    start = int(response._get_param("NextToken") or 0)
    count = int(response._get_param("MaxResults") or len(images) or 1)
    more = str(start + count) if start + count < len(images) else None
    return ActionResult({"Images": images[start : start + count], "NextToken": more})


def is_old(image):
    """Whether an image's time of deprecation has come."""
    at = getattr(image, "deprecation_time", None)
    return at is not None and at <= utcnow().strftime("%Y-%m-%dT%H:%M:%S.000Z")


def enable_image_deprecation(response):
    """EnableImageDeprecation, which moto lacks."""
    at = response._get_param("DeprecateAt")
    text = at if isinstance(at, str) else at.strftime("%Y-%m-%dT%H:%M:%S.000Z")
    deprecate(response.region, response._get_param("ImageId"), text)
    return ActionResult({"Return": True})


def disable_image_deprecation(response):
    """DisableImageDeprecation, which moto lacks."""
    deprecate(response.region, response._get_param("ImageId"), None)
    return ActionResult({"Return": True})


def with_tags_copied(copy_image):
    """CopyImage with the tags of the source, where the caller wants them or gives new ones."""

    def copied(response):
        result = copy_image(response)
        backend, image_id = response.ec2_backend, result.result["ImageId"]
        if response._get_bool_param("CopyImageTags", False):
            source = ec2_backends[ACCOUNT][response._get_param("SourceRegion")]
            backend.create_tags([image_id], source.tags[response._get_param("SourceImageId")])
        tags = response._parse_tag_specification().get("image", {})
        backend.create_tags([image_id], tags)
        return result

    return copied
