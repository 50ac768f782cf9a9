"""Whether `cdk bootstrap` has prepared an account and region: found out before anything is synthesised for it."""

import json
from pathlib import Path
from typing import Any

from acta_engine.aws.clients import Service
from acta_engine.aws.errors import AwsRefused
from acta_engine.errors import AwsDenied, StoreThrottled, StoreUnavailable
from acta_infra.deployed.account import client_in
from acta_infra.deployed.permissions import QUALIFIER
from acta_infra.environments import Environment
from acta_infra.options import EDGE_REGION

CDK_JSON = Path(__file__).resolve().parents[3] / "cdk.json"
CHOSEN = "@aws-cdk/core:bootstrapQualifier"
ABSENT = "ParameterNotFound"
OLDEST = 6
"""The version of the bootstrap that the templates ask for (`requiresBootstrapStackVersion` in the cloud assembly)."""


class NotBootstrapped(RuntimeError):
    """The message has the command that does it."""


def check_bootstrap(environment: Environment, account: str, region: str, client: Any = None) -> None:
    """`client`: a botocore SSM client of every region; None: those of the caller. Who may not ask is told nothing: then
    cdk itself says it, later. Raises NotBootstrapped.
    """
    for each in regions_of(environment, region):
        try:
            version = _version(client or client_in(each, "ssm"))
        except (AwsDenied, AwsRefused, StoreThrottled, StoreUnavailable):
            continue
        if version is None or version < OLDEST:
            found = "not prepared" if version is None else f"prepared as of version {version}, not {OLDEST},"
            raise NotBootstrapped(
                f"account {account}, region {each} is {found} for deployments. Once: "
                f"{command(environment, account, each)} (docs/deploy.md, Who may deploy: how to give it fewer rights)"
            )


def regions_of(environment: Environment, region: str) -> tuple[str, ...]:
    """Those that the environment's stacks are in."""
    return tuple(dict.fromkeys((region, *((EDGE_REGION,) if environment.edge is not None else ()))))


def command(environment: Environment, account: str, region: str) -> str:
    return f"npx cdk bootstrap aws://{account}/{region} -c env={environment.name}"


def qualifier(cdk_json: Path = CDK_JSON) -> str:
    """Of the bootstrap that the app is synthesised for."""
    context = json.loads(cdk_json.read_text(encoding="utf-8")).get("context", {})
    return str(context.get(CHOSEN, QUALIFIER))


def _version(client: Any) -> int | None:
    """None: there is none. Raises what `Service.call` raises."""
    name = f"/cdk-bootstrap/{qualifier()}/version"
    try:
        return int(Service("ssm", client).call("get_parameter", Name=name)["Parameter"]["Value"])
    except AwsRefused as refused:
        if refused.code == ABSENT:
            return None
        raise
