"""Who you are at a deployment in AWS, and who else may use it: `acta login` and `acta logout`; `acta console`, its page
in a browser; `acta users`, who may sign in to Acta's own pool, with an operator's AWS credentials.

The address of an environment and its sign-in come from options, from the last sign-in, or from its stack.
"""

import json
import re
import webbrowser
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import httpx2

from acta.cli import exit_codes
from acta.cli.connection import Invocation, deployment_signed_in_to
from acta.cli.exit_codes import CliError
from acta.cli.operations.target import SIGN_IN, aws_errors
from acta.cli.terminal.text import Columns, cli_error, echo, note, one_line, show, show_list
from acta.client.deployment import check_url, is_encrypted
from acta.client.sign_in import oidc
from acta.client.sign_in.loopback import PORTS, Receiver
from acta.client.sign_in.oidc import Application, AuthorizationRequest, IssuerClient, TokenSet
from acta.client.sign_in.store import SignIn, Store, folder
from acta.infra.api.issuers import ROLE_NAME_PATTERN, TENANT_PATTERN

if TYPE_CHECKING:
    from acta.engine.audit.record import OperatorAction
    from acta.infra.deployed.operator_trail import OperatorTrail
    from acta.infra.deployed.users import Users

LOCAL = "local"
"""The stack that `acta up` serves here. Its address is looked up each time, not kept from the last sign-in."""
Outputs = Mapping[str, str]


@dataclass(frozen=True)
class SignInTarget:
    api_url: str
    application: Application

    @property
    def options(self) -> tuple[str, ...]:
        """The options of `acta login` for somebody without AWS credentials."""
        named: tuple[str, ...] = ("--url", self.api_url, "--issuer", self.application.issuer)
        named += ("--client-id", self.application.client_id)
        usual = Application(self.application.issuer, self.application.client_id)
        if self.application.scopes != usual.scopes:
            named += ("--scopes", self.application.scopes)
        return named if self.application.takes == usual.takes else (*named, "--access-token")


def target_of(arguments: Namespace, store: Store, read_outputs: Callable[[str], Outputs]) -> SignInTarget:
    """Raises CliError and ClientError, also if a sign-in could not be kept here: nobody should sign in for nothing."""
    if arguments.state and arguments.env != LOCAL:
        raise CliError(f"--state is for the stack that `acta up` serves: it goes with --env {LOCAL}")
    stored = store.read(arguments.env)
    given = [arguments.url, arguments.issuer, arguments.client_id]
    if all(given):
        return named_target(arguments)
    if any(given):
        raise CliError("--url, --issuer and --client-id go together: give all three, or none to look them up")
    if arguments.env == LOCAL:
        from acta.cli.local_stack import local_sign_in  # only now: it loads what signs tokens

        url, client_id = local_sign_in(arguments.state)
        return SignInTarget(url, Application(issuer=url, client_id=client_id))
    if stored is not None and not arguments.look_up:
        return SignInTarget(stored.api_url, stored.application)
    return target_from(arguments.env, read_outputs(arguments.env))


def named_target(arguments: Namespace) -> SignInTarget:
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
    return SignInTarget(arguments.url.rstrip("/"), application)


def target_from(environment: str, outputs: Outputs) -> SignInTarget:
    """What the stack says about signing in. Raises CliError if people cannot sign in to it from a command line."""
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
        takes="access_token" if outputs.get("SignInTakes") == "access_token" else "id_token",
    )
    return SignInTarget(outputs["ApiUrl"].rstrip("/"), application)


def outputs_for_login(environment: str) -> Outputs:
    """Reads the stack's outputs with the caller's AWS credentials. Raises CliError."""
    from acta.infra.deployed.stacks import OutputsUnknown, callers_client, stack_outputs

    unknown = (
        "could not be looked up ({}): use AWS credentials of its account, or give --url, --issuer and --client-id, "
        "which whoever deployed it can tell you"
    )
    with cli_error(OutputsUnknown, words=f"where {environment} is {unknown}", cut=300):
        return stack_outputs(environment, callers_client(environment, "cloudformation"))


LONGEST_SIGN_IN_SECONDS = 600.0
"""A first sign-in may include setting a password and an authenticator app."""

Opens = Callable[[str], bool]
"""Shows an address to the person; False if that did not work."""


def login(
    arguments: Namespace,
    *,
    opens: Opens = webbrowser.open,
    read_outputs: Callable[[str], Outputs] = outputs_for_login,
    http: httpx2.Client | None = None,
    ports: tuple[int, ...] = PORTS,
    wait_seconds: float = LONGEST_SIGN_IN_SECONDS,
    store: Store | None = None,
) -> int:
    """Raises CliError and ClientError."""
    store = store or Store(folder())
    target = target_of(arguments, store, read_outputs)
    with oidc.issuer_of(target.application, http) as issuer:
        show_to = None if arguments.no_browser else opens
        tokens = signed_in_with_browser(issuer, show_to, ports, wait_seconds)
    with store.locked(arguments.env):
        store.write(arguments.env, SignIn(target.api_url, target.application, tokens))
    told = {
        "env": arguments.env,
        "api_url": target.api_url,
        "issuer": target.application.issuer,
        "subject": tokens.subject,
        "renews_itself": tokens.refresh_token is not None,
        "token_expires_at": datetime.fromtimestamp(tokens.expires_at, UTC).isoformat(),
    }
    return show(told, signed_in_lines(arguments.env, target, tokens), as_json=arguments.json)


def signed_in_with_browser(
    issuer: IssuerClient, opens: Opens | None, ports: tuple[int, ...], wait_seconds: float
) -> TokenSet:
    """`opens` None: the person opens the address themselves."""
    attempt, endpoints = AuthorizationRequest(), issuer.endpoints()
    with Receiver(attempt.state, ports) as receiver:
        address = issuer.address_to_open(endpoints, attempt, receiver.redirect_uri)
        # on standard error, so that --json stays alone on standard output
        if opens is not None and opens(address):
            note("acta: your browser was opened to sign in. If it was not, open:")
        else:
            note("acta: open this address in a browser on this machine to sign in:")
        note(one_line(address, 4_000))
        code = issuer.code(endpoints, attempt, receiver.wait(wait_seconds))
        return issuer.exchange(endpoints, attempt, code, receiver.redirect_uri)


def signed_in_lines(environment: str, target: SignInTarget, tokens: TokenSet) -> Iterator[str]:
    program = Invocation.from_arguments(Namespace())
    yield f"signed in to {environment} ({one_line(target.api_url)})"
    if tokens.refresh_token is None:
        ends = datetime.fromtimestamp(tokens.expires_at).astimezone().strftime("%H:%M")
        yield f"the issuer gave nothing to renew it with: this sign-in ends at {ends}"
    yield f"next: {program.line('sessions', '--env', environment)}"
    if environment != LOCAL:
        others = program.line("login", "--env", environment, *target.options)
        yield f"people without AWS credentials: {others}"


def logout(arguments: Namespace, *, http: httpx2.Client | None = None) -> int:
    """Forgets the tokens, and has the issuer forget the sign-in. Raises CliError and ClientError."""
    store = Store(folder())
    known = store.environments()
    if arguments.env is not None and arguments.env not in known:
        raise CliError(f"nobody has signed in to {one_line(arguments.env)} from this machine")
    ended = {name: end(store, name, http) for name in ([arguments.env] if arguments.env else known)}
    lines = [
        f"signed out of {name}" + ("" if revoked else "; the issuer was not told, or had nothing to revoke")
        for name, revoked in ended.items()
    ]
    told = [{"env": name, "revoked": revoked} for name, revoked in ended.items()]
    return show(told, lines or ["nobody is signed in"], as_json=arguments.json)


def end(store: Store, environment: str, http: httpx2.Client | None) -> bool:
    """Whether the issuer revoked the sign-in. The tokens here are deleted first, whatever the issuer answers."""
    before = store.sign_out(environment)
    if before is None or before.tokens is None or before.tokens.refresh_token is None:
        return False
    try:
        with oidc.issuer_of(before.application, http) as issuer:
            return issuer.revoke(issuer.endpoints(), before.tokens)
    except oidc.SIGN_IN_ERRORS:
        return False


PAGE = "/console"


def console(arguments: Namespace, *, opens: Opens = webbrowser.open) -> int:
    """Opens the page. The local stack's page opens signed in, by a link that works once, within a minute; in AWS people
    sign in on the page. Raises CliError and ClientError.
    """
    if arguments.env and arguments.env != LOCAL:
        address = f"{deployment_signed_in_to(arguments).api_url.rstrip('/')}{PAGE}"
    else:
        # imported only now: it loads what signs tokens
        from acta.cli.local_stack import link_of_local_stack

        address = link_of_local_stack(arguments.state, arguments.tenant, arguments.user, arguments.role or ())
    if arguments.json:
        echo(json.dumps({"url": address}))
        return exit_codes.OK
    if arguments.no_browser or not opens(address):
        echo(address)
    return exit_codes.OK


MEMBER_RULES = (
    (r"[^@\s]{1,64}@[^@\s]{1,190}", "an email address, such as ann@example.com"),
    (TENANT_PATTERN, "1 to 64 of A-Z a-z 0-9 . _ @ + : - with a letter or digit first"),
    (ROLE_NAME_PATTERN, "1 to 64 of A-Z a-z 0-9 . _ : -"),
)
"""What the email address, the tenant and a role have to match, and how that is said."""

Pool = tuple["Users", Outputs, "OperatorTrail"]
"""The users of an environment, what its stack says about itself, and its audit trail."""
OpensPool = Callable[[str], Pool]
"""Opens the users of an environment, given its name. Raises CliError."""


def pool_of(environment: str) -> Pool:
    """Opens the pool with the caller's AWS credentials. Raises CliError."""
    from acta.infra.deployed.account import Account
    from acta.infra.deployed.operator_trail import trail_of
    from acta.infra.deployed.stacks import OutputsUnknown, callers_client, stack_outputs
    from acta.infra.deployed.users import Users

    unknown = "{}: users are kept with AWS credentials of the account, such as those of `aws sso login`"
    with cli_error(OutputsUnknown, words=unknown, cut=300):
        outputs = stack_outputs(environment, callers_client(environment, "cloudformation"))
        pool = callers_client(environment, "cognito-idp")
    if not outputs.get("UserPoolId"):
        issuer = outputs.get("Issuer")
        instead = (
            f": add people at its issuer, {one_line(issuer)}"
            if issuer
            else ", or a release that does not tell"
        )
        raise CliError(f"{environment} has no users of its own{instead}")
    with aws_errors(SIGN_IN):
        account = Account(environment, {"region_name": pool.meta.region_name})
        return Users(outputs["UserPoolId"], pool), outputs, trail_of(account, outputs["AuditTableName"])


def add_user(arguments: Namespace, open_pool: OpensPool = pool_of) -> int:
    """Raises CliError."""
    from acta.infra.deployed.users import OtherTenant

    roles = arguments.role or ("member",)
    check_member(arguments.email, arguments.tenant, roles)
    users, outputs, trail = open_pool(arguments.env)
    with aws_errors(SIGN_IN), trail.recorded("user.add", arguments.tenant, roles=" ".join(roles)) as told:
        try:
            is_new = users.add(arguments.email, arguments.tenant, roles, invite=not arguments.no_email)
            told |= trail.person(arguments.tenant, users.find(arguments.email).get("sub", ""))
        except OtherTenant as other:
            raise CliError(
                f"{arguments.email} belongs to the tenant {one_line(str(other))}, which never changes: "
                f"remove them first, `acta users remove {arguments.email} --env {arguments.env}`"
            ) from None
    shown = {"email": arguments.email, "tenant": arguments.tenant, "roles": list(roles), "is_new": is_new}
    return show(shown, _added_lines(arguments, roles, outputs, is_new=is_new), as_json=arguments.json)


def _added_lines(
    arguments: Namespace, roles: Sequence[str], outputs: Outputs, *, is_new: bool
) -> Iterator[str]:
    named = ", ".join(roles)
    if not is_new:
        yield f"{arguments.email} was there, and now has {named} in {arguments.tenant}"
        return
    told_by = "has no password yet" if arguments.no_email else "gets a first password by email"
    yield f"{arguments.email} is in {arguments.tenant} as {named}, and {told_by}; they sign in with"
    program = Invocation.from_arguments(Namespace())
    yield f"  {program.line('login', '--env', arguments.env, *target_from(arguments.env, outputs).options)}"


def list_users(arguments: Namespace, open_pool: OpensPool = pool_of) -> int:
    """Raises CliError."""
    users, _, _ = open_pool(arguments.env)
    with aws_errors(SIGN_IN):
        found = [each for each in users.list() if arguments.tenant in (None, each.tenant)]
    found.sort(key=lambda each: (each.tenant, each.email))
    columns: Columns = {
        "EMAIL": "email",
        "TENANT": "tenant",
        "ROLES": lambda one: ", ".join(one["roles"]),
        "STATUS": "status",
        "SUBJECT": "subject",
    }
    return show_list([each._asdict() for each in found], columns, as_json=arguments.json)


def end_user(arguments: Namespace, open_pool: OpensPool = pool_of) -> int:
    """Signs a person out everywhere, or removes them as well. Raises CliError."""
    from acta.infra.deployed.users import NoSuchUser

    users, _, trail = open_pool(arguments.env)
    removes: bool = arguments.removes
    with aws_errors(SIGN_IN):
        try:
            found = users.find(arguments.email)
            tenant = found.get("custom:tenant")
            action: OperatorAction = "user.remove" if removes else "user.sign_out"
            with trail.recorded(action, tenant, **trail.person(tenant or "", found.get("sub", ""))):
                (users.remove if removes else users.sign_out)(arguments.email)
        except NoSuchUser:
            raise CliError(f"{arguments.env} has no user {one_line(arguments.email)}") from None
    done = "removed" if removes else "signed out everywhere"
    said = f"{one_line(arguments.email)} is {done}; a token that they have is valid to its end, an hour unless set"
    told = {"email": arguments.email, "signed_out": True, "removed": removes}
    return show(told, [said], as_json=arguments.json)


def check_member(email: str, tenant: str, roles: Sequence[str]) -> None:
    """Raises CliError."""
    for (pattern, what), values in zip(MEMBER_RULES, ((email,), (tenant,), roles), strict=True):
        for value in values:
            if not re.fullmatch(pattern, value):
                raise CliError(f"{one_line(value)} cannot be used: it has to be {what}")
