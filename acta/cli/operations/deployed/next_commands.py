"""What to do once an environment is deployed: the next commands, to be pasted."""

from collections.abc import Iterator

from acta.cli.operations.target import Target
from infra.issuers import OwnPool
from infra.names import secret_name

KEY_OF = "anthropic"


def next_commands(chosen: Target, *, is_first: bool) -> Iterator[str]:
    """Lines for a person. `is_first`: nothing was deployed before."""
    environment, region = chosen.environment, chosen.caller.region
    yield "Next:"
    if (
        is_first and not environment.is_local
    ):  # the local AWS has no keys: a rule-based stand-in plays the model
        yield f"  aws secretsmanager put-secret-value --region {region} \\"
        yield f"      --secret-id {secret_name(environment.name, KEY_OF)} --secret-string file://key.txt"
    if isinstance(environment.auth, OwnPool):
        yield f"  acta users add YOU@EXAMPLE.COM --env {environment.name} --tenant YOURS --role admin"
    yield f"  acta login --env {environment.name}"
    yield f'  acta run --env {environment.name} "List my files"'
