"""Acta's own Cognito user pool, for teams without an identity provider (ADR 74, 81), and how people sign in on the page
(`/console`): the page's client at the issuer, and what the page's Lambda has to know about pool and client.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from aws_cdk import Duration, Fn, Stack
from aws_cdk import aws_cognito as cognito
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from acta.engine.settings import PREFIX
from acta.infra.api import machine_claims
from acta.infra.api.issuers import RENEWAL_GRACE_SECONDS, ExternalIssuer, OwnPool
from acta.infra.data_stores import removal_policy
from acta.infra.environments import Environment

ROLES = ("admin", "member")
PAGE_SIGN_IN = Duration.hours(12)
SCOPES = ("openid", "email", "profile")
READ = (
    cognito.ClientAttributes()
    .with_standard_attributes(email=True, email_verified=True, fullname=True)
    .with_custom_attributes("tenant")
)
WRITTEN = cognito.ClientAttributes().with_standard_attributes(email=True, fullname=True)
"""The attributes that clients may write. The tenant is not among them; a client without such a list could write it."""
EVERY_CLIENT: Mapping[str, Any] = {
    # If no flow is named, Cognito allows signing in by SRP past the pages. This one needs triggers that the pool does
    # not have, so nobody can use it. REFRESH_TOKEN_AUTH cannot be named: Cognito refuses it for tokens that rotate.
    "auth_flows": cognito.AuthFlow(custom=True),
    "supported_identity_providers": [cognito.UserPoolClientIdentityProvider.COGNITO],
    "enable_token_revocation": True,
    "prevent_user_existence_errors": True,
    "read_attributes": READ,
    "write_attributes": WRITTEN,
}
LOOPBACK_URLS = tuple(f"http://127.0.0.1:{port}/callback" for port in (22820, 22821, 22822))
"""Where `acta login` waits for the browser (`acta/client/sign_in/loopback.py`). Cognito also compares ports, so three
are registered. Source: Amazon Cognito API reference, CreateUserPoolClient, CallbackURLs."""


class UserPool(Construct):
    """`self.issuer_url` and `self.audiences` are what the gateway checks in ID tokens. `self.client_id`: that of the
    command line. `self.page_client_id`: None where no page has one. `self.machine_ids`: name -> client id.
    `self.pool`, `self.pool_id` and `self.arn` are the pool's.

    The tenant is an attribute: an administrator writes it once, and no app client may write it. Roles are groups. Both
    are claims of the ID token, whose audience is the app client.
    """

    def __init__(self, scope: Construct, environment: Environment, auth: OwnPool) -> None:
        super().__init__(scope, "Users")
        self._auth = auth
        self.pool = cognito.UserPool(
            self,
            "Pool",
            user_pool_name=f"acta-{environment.name}",
            self_sign_up_enabled=False,
            sign_in_aliases=cognito.SignInAliases(email=True),
            custom_attributes={"tenant": cognito.StringAttribute(min_len=1, max_len=64, mutable=False)},
            password_policy=cognito.PasswordPolicy(
                min_length=14,
                require_digits=True,
                require_lowercase=True,
                require_uppercase=True,
                require_symbols=True,
            ),
            mfa=cognito.Mfa.REQUIRED if auth.mfa == "required" else cognito.Mfa.OPTIONAL,
            mfa_second_factor=cognito.MfaSecondFactor(sms=False, otp=True),
            account_recovery=cognito.AccountRecovery.EMAIL_ONLY,
            deletion_protection=environment.deletion_protection,
            removal_policy=removal_policy(environment, protected=environment.deletion_protection),
            # The plan Lite has no trigger for machines. Without machines, AWS's default plan is kept.
            feature_plan=cognito.FeaturePlan.ESSENTIALS if auth.machines else None,
        )
        days = Duration.days(auth.sign_in_days)
        command_line = public_client(self.pool, "Client", self.pool, auth, LOOPBACK_URLS, days)
        self.client_id = command_line.user_pool_client_id
        self.page_client_id: str | None = None
        if auth.page_urls:
            page = public_client(self.pool, "Page", self.pool, auth, auth.page_urls, PAGE_SIGN_IN)
            self.page_client_id = page.user_pool_client_id
        self.machine_ids = self._machines(environment) if auth.machines else {}
        people = [each for each in (self.client_id, self.page_client_id) if each is not None]
        self.audiences = [*people, *self.machine_ids.values()]
        for role in ROLES:
            cognito.CfnUserPoolGroup(
                self, role.capitalize(), user_pool_id=self.pool.user_pool_id, group_name=role
            )
        stack = Stack.of(self)
        # All accounts of a region share one set of names for sign-in pages, so this name has the UUID that
        # CloudFormation gave the stack, and not the environment's name, which could have words that Cognito forbids.
        prefix = f"acta-{Fn.select(2, Fn.split('/', stack.stack_id))}"
        self.pool.add_domain("Domain", cognito_domain=cognito.CognitoDomainOptions(domain_prefix=prefix))
        self.arn = self.pool.user_pool_arn
        self.pool_id = self.pool.user_pool_id
        self.issuer_url = f"https://cognito-idp.{stack.region}.{stack.url_suffix}/{self.pool_id}"

    def _machines(self, environment: Environment) -> Mapping[str, str]:
        """Creates a client with a secret for each machine, and the trigger that puts its tenant into its tokens."""
        machines = self._auth.machines
        # The role allows nothing, not even a log: the trigger's event contains attributes of people who sign in.
        role = iam.Role(self, "MachineClaimsRole", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        trigger = lambda_.Function(
            self,
            "MachineClaims",
            # What `acta deploy --policies` writes lets CloudFormation make functions of such names only.
            function_name=f"acta-{environment.name}-machine-claims",
            runtime=lambda_.Runtime(
                "python{}.{}".format(*environment.python),
                lambda_.RuntimeFamily.PYTHON,
                supports_inline_code=True,
            ),
            handler="index.handler",
            code=lambda_.Code.from_inline(Path(machine_claims.__file__).read_text(encoding="utf-8")),
            environment={machine_claims.MACHINES: self._auth.machine_table},
            role=role,
            timeout=Duration.seconds(5),
            description="Names the tenant and the roles in tokens of machine clients",
        )
        self.pool.add_trigger(
            cognito.UserPoolOperation.PRE_TOKEN_GENERATION_CONFIG, trigger, cognito.LambdaVersion.V3_0
        )
        scopes = {
            name: cognito.ResourceServerScope(scope_name=name, scope_description=f"Is the machine {name}")
            for name in machines
        }
        server = self.pool.add_resource_server(
            "Machines",
            identifier=machine_claims.SCOPE.rstrip("/"),
            user_pool_resource_server_name=machine_claims.SCOPE.rstrip("/"),
            scopes=[*scopes.values()],
        )
        token = Duration.minutes(self._auth.token_minutes)
        return {
            name: self.pool.add_client(
                f"Machine-{name}",
                generate_secret=True,
                o_auth=cognito.OAuthSettings(
                    flows=cognito.OAuthFlows(client_credentials=True),
                    scopes=[cognito.OAuthScope.resource_server(server, scope)],
                ),
                access_token_validity=token,
                **EVERY_CLIENT,
            ).user_pool_client_id
            for name, scope in scopes.items()
        }


def public_client(
    scope: Construct,
    name: str,
    pool: cognito.IUserPool,
    auth: OwnPool,
    callback_urls: Sequence[str],
    sign_in: Duration,
) -> cognito.UserPoolClient:
    """A client without a secret, which gets its tokens by the code grant alone. Each refresh token works once."""
    token = Duration.minutes(auth.token_minutes)
    return cognito.UserPoolClient(
        scope,
        name,
        user_pool=pool,
        generate_secret=False,
        o_auth=cognito.OAuthSettings(
            flows=cognito.OAuthFlows(authorization_code_grant=True, implicit_code_grant=False),
            scopes=[cognito.OAuthScope.custom(each) for each in SCOPES],
            callback_urls=list(callback_urls),
        ),
        id_token_validity=token,
        access_token_validity=token,
        refresh_token_validity=sign_in,
        refresh_token_rotation_grace_period=Duration.seconds(RENEWAL_GRACE_SECONDS),
        **EVERY_CLIENT,
    )


SIGNED_IN = "/console/signed-in"
"""The path to which the issuer sends people back. `console/sign-in/code-flow.ts` has the same path."""


class ConsoleSignIn(Construct):
    """`self.variables`: variables for the function `console`. `self.audiences`: audiences that the gateway has to
    accept besides the issuer's own. If the issuer is a parameter of the stack, both are empty, and the local stack
    gives the function what it needs.
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
                # Documents have one origin. Pages and tokens have another, whose name the other stack does not export,
                # so all of the region are allowed.
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
