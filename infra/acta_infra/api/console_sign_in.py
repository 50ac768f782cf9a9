"""How people sign in on the page (`/console`): its client at the issuer, and what its Lambda has to know of both."""

from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from aws_cdk import Stack
from constructs import Construct

from acta_engine.settings import PREFIX
from acta_infra.api.user_pool import PAGE_SIGN_IN, SCOPES, UserPool, public_client
from acta_infra.environments import Environment
from acta_infra.issuers import ExternalIssuer, OwnPool

SIGNED_IN = "/console/signed-in"
"""Where the issuer sends people back to. `console/sign-in/code-flow.ts` has it, too."""


class ConsoleSignIn(Construct):
    """`self.variables`: of the function `console`. `self.audiences`: those that the gateway has to take beside the
    issuer's own. Of an environment whose issuer is a parameter of the stack nothing is known here: the local stack
    gives its function what it needs.
    """

    def __init__(
        self, scope: Construct, environment: Environment, pool: UserPool | None, api_url: str
    ) -> None:
        super().__init__(scope, "ConsoleSignIn")
        self.audiences: Sequence[str] = ()
        self.variables: Mapping[str, str] = {}
        auth = environment.auth
        if pool is not None and isinstance(auth, OwnPool):
            client = public_client(self, "Page", pool.pool, auth, (api_url + SIGNED_IN,), PAGE_SIGN_IN)
            self.audiences = (client.user_pool_client_id,)
            self.variables = _variables(
                pool.issuer_url,
                client.user_pool_client_id,
                SCOPES,
                "id_token",
                # Documents have one origin, the pages and tokens another, whose name is the other stack's, which does
                # not export it: so all of the region.
                (
                    pool.issuer_url.rpartition("/")[0],
                    f"https://*.auth.{Stack.of(self).region}.amazoncognito.com",
                ),
            )
        elif isinstance(auth, ExternalIssuer) and auth.page_client:
            parts = urlsplit(auth.issuer_url)
            self.variables = _variables(
                auth.issuer_url,
                auth.page_client,
                auth.sign_in_scopes,
                auth.sign_in_takes,
                (f"{parts.scheme}://{parts.netloc}", *auth.page_connects),
            )
            if auth.sign_in_takes == "id_token":  # its audience is the client
                self.audiences = (auth.page_client,)


def _variables(
    issuer: str, client: str, scopes: Sequence[str], takes: str, connects: Sequence[str]
) -> dict[str, str]:
    return {
        f"{PREFIX}CONSOLE_ISSUER": issuer,
        f"{PREFIX}CONSOLE_CLIENT": client,
        f"{PREFIX}CONSOLE_SCOPES": " ".join(scopes),
        f"{PREFIX}CONSOLE_TAKES": takes,
        f"{PREFIX}CONSOLE_CONNECTS": " ".join(connects),
    }
