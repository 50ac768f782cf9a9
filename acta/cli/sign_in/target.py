"""Where an environment is, and how people sign in to it: from options, from the last sign-in, or from its stack."""

from argparse import Namespace
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from acta.cli.exit_codes import CliError
from acta.cli.local_stack import local_sign_in
from acta.cli.terminal.text import cli_error, one_line
from acta.client.deployment import check_url, is_encrypted
from acta.client.sign_in.oidc import Application
from acta.client.sign_in.store import Store

LOCAL = "local"
"""The stack that `acta up` serves here. It is where it is now, not where it was at the last sign-in."""
Outputs = Mapping[str, str]
ID_TOKEN, ACCESS_TOKEN = "id_token", "access_token"


@dataclass(frozen=True)
class Target:
    api_url: str
    application: Application

    @property
    def options(self) -> tuple[str, ...]:
        """Of `acta login`, for somebody without AWS credentials."""
        named: tuple[str, ...] = ("--url", self.api_url, "--issuer", self.application.issuer)
        named += ("--client-id", self.application.client_id)
        usual = Application(self.application.issuer, self.application.client_id)
        if self.application.scopes != usual.scopes:
            named += ("--scopes", self.application.scopes)
        return named if self.application.takes == usual.takes else (*named, "--access-token")


def target_of(arguments: Namespace, store: Store, read_outputs: Callable[[str], Outputs]) -> Target:
    """Raises CliError and ClientError, before anybody signs in for nothing: also where it could not be kept."""
    if arguments.state and arguments.env != LOCAL:
        raise CliError(f"--state is for the stack that `acta up` serves: it goes with --env {LOCAL}")
    stored = store.read(arguments.env)
    given = [arguments.url, arguments.issuer, arguments.client_id]
    if all(given):
        return named_target(arguments)
    if any(given):
        raise CliError("--url, --issuer and --client-id go together: give all three, or none to look them up")
    if arguments.env == LOCAL:
        url, client_id = local_sign_in(arguments.state)
        return Target(url, Application(issuer=url, client_id=client_id))
    if stored is not None and not arguments.look_up:
        return Target(stored.api_url, stored.application)
    return target_from(arguments.env, read_outputs(arguments.env))


def named_target(arguments: Namespace) -> Target:
    check_url(arguments.url)
    if not is_encrypted(arguments.url):
        raise CliError(
            f"{one_line(arguments.url)} is not encrypted: a sign-in is sent to an https address alone"
        )
    application = Application(
        issuer=arguments.issuer,
        client_id=arguments.client_id,
        scopes=arguments.scopes or Application.scopes,
        takes="access_token" if arguments.access_token else "id_token",
    )
    return Target(arguments.url.rstrip("/"), application)


def target_from(environment: str, outputs: Outputs) -> Target:
    """What the stack says about itself. Raises CliError where people cannot sign in to it from here."""
    if not outputs.get("Issuer"):
        raise CliError(
            f"the release that is deployed to {environment} knows no sign-in: deploy this one, or bring a token with "
            "--api-url and --token"
        )
    if not outputs.get("SignInClient"):
        raise CliError(
            f"no client for a command line is registered for {environment}: set sign_in_client of its ExternalIssuer, "
            f"or bring a token of {one_line(outputs['Issuer'])} with --api-url and --token"
        )
    application = Application(
        issuer=outputs["Issuer"],
        client_id=outputs["SignInClient"],
        scopes=outputs.get("SignInScopes", Application.scopes),
        takes="access_token" if outputs.get("SignInTakes") == ACCESS_TOKEN else "id_token",
    )
    return Target(outputs["ApiUrl"].rstrip("/"), application)


def outputs_for_login(environment: str) -> Outputs:
    """With the caller's AWS credentials. Raises CliError."""
    from acta_infra.deployed.stacks import OutputsUnknown, callers_client, stack_outputs

    unknown = (
        "could not be looked up ({}): use AWS credentials of its account, or give --url, --issuer and --client-id, "
        "which whoever deployed it can tell you"
    )
    with cli_error(OutputsUnknown, words=f"where {environment} is {unknown}", cut=300):
        return stack_outputs(environment, callers_client(environment, "cloudformation"))
