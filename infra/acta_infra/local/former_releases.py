"""Former releases of an environment in the local AWS: kept as versions of its functions, so that it can go back to one.

In AWS a deployment publishes versions. Here its template publishes none, because each alias names `$LATEST`. So what is
there before a deployment is published first, and afterwards the aliases name the newest code again.
"""

from typing import Any

from acta_engine.aws.clients import Service
from acta_infra.deployed.releases import LATEST, NotPossible, forget_old, look
from acta_infra.names import ALIAS, function_name

KEPT_LOCALLY = 4
"""Each is some 50 MB in the state directory."""


def keep_release(environment: str, lambdas: Any) -> None:
    """Publishes what is deployed. Where nothing is, or it is of a release without aliases, it does nothing."""
    try:
        deployed = look(environment, lambdas)
    except NotPossible:
        return
    for name in deployed.live:
        Service("lambda", lambdas).call("publish_version", FunctionName=function_name(environment, name))


def take_newest(environment: str, lambdas: Any) -> None:
    """Every alias names the newest code, and of former releases the newest few are kept."""
    deployed = look(environment, lambdas)
    for name, version in deployed.live.items():
        if version != LATEST:
            Service("lambda", lambdas).call(
                "update_alias",
                FunctionName=function_name(environment, name),
                Name=ALIAS,
                FunctionVersion=LATEST,
            )
    forget_old(look(environment, lambdas), lambdas, KEPT_LOCALLY)
