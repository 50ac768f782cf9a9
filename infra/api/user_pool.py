"""Acta's own Cognito user pool, for teams without an identity provider."""

from aws_cdk import Stack
from aws_cdk import aws_cognito as cognito
from constructs import Construct

from infra.data_stores import removal_policy
from infra.environments import Environment, OwnPool

ROLES = ("admin", "member")


class UserPool(Construct):
    """`self.issuer_url` and `self.audience` are what the gateway checks in ID tokens.

    The tenant is an attribute: an administrator writes it once, and no app client may write it. Roles are groups. Both
    are claims of the ID token, whose audience is the app client.
    """

    def __init__(self, scope: Construct, environment: Environment, auth: OwnPool) -> None:
        super().__init__(scope, "Users")
        pool = cognito.UserPool(
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
            removal_policy=removal_policy(environment),
        )
        # The attributes are listed: a client without a list may write every attribute, the tenant too.
        client = pool.add_client(
            "Client",
            auth_flows=cognito.AuthFlow(user_srp=True),
            # People sign in by SRP. Without this line CDK adds the implicit flow and a callback at example.com.
            disable_o_auth=True,
            generate_secret=False,
            prevent_user_existence_errors=True,
            read_attributes=cognito.ClientAttributes()
            .with_standard_attributes(email=True, email_verified=True, fullname=True)
            .with_custom_attributes("tenant"),
            write_attributes=cognito.ClientAttributes().with_standard_attributes(email=True, fullname=True),
        )
        for role in ROLES:
            cognito.CfnUserPoolGroup(self, role.capitalize(), user_pool_id=pool.user_pool_id, group_name=role)
        stack = Stack.of(self)
        self.arn = pool.user_pool_arn
        self.audience = client.user_pool_client_id
        self.issuer_url = f"https://cognito-idp.{stack.region}.{stack.url_suffix}/{pool.user_pool_id}"
