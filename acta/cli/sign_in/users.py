"""`acta users`: who may sign in to an environment with Acta's own pool, with an operator's AWS credentials."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from acta.cli.connection import Invocation
from acta.cli.exit_codes import CliError
from acta.cli.operations.target import SIGN_IN, aws_errors
from acta.cli.sign_in.login import Outputs, target_from
from acta.cli.terminal.text import one_line, show, show_list
from acta_infra.api.issuers import ROLE_NAME_PATTERN, TENANT_PATTERN

if TYPE_CHECKING:
    from acta_infra.deployed.users import Users

EMAIL_PATTERN = r"[^@\s]{1,64}@[^@\s]{1,190}"

Pool = tuple["Users", Outputs]
"""The users of an environment, and what its stack says about itself."""
Opens = Callable[[str], Pool]
"""Environment -> its users. Raises CliError."""


def pool_of(environment: str) -> Pool:
    """With the caller's AWS credentials. Raises CliError."""
    from acta_infra.deployed.stacks import OutputsUnknown, callers_client, stack_outputs
    from acta_infra.deployed.users import Users

    try:
        outputs = stack_outputs(environment, callers_client(environment, "cloudformation"))
        pool = callers_client(environment, "cognito-idp")
    except OutputsUnknown as error:
        raise CliError(
            f"{one_line(str(error), 300)}: users are kept with AWS credentials of the account, such as those of "
            "`aws sso login`"
        ) from None
    if not outputs.get("UserPoolId"):
        whose = outputs.get("Issuer")
        raise CliError(
            f"{environment} has no users of its own"
            + (
                f": add people at its issuer, {one_line(whose)}"
                if whose
                else ", or a release that does not tell"
            )
        )
    with aws_errors(SIGN_IN):
        return Users(outputs["UserPoolId"], pool), outputs


def add(arguments: Namespace, open_pool: Opens = pool_of) -> int:
    """Raises CliError."""
    from acta_infra.deployed.users import OtherTenant

    roles = arguments.role or ("member",)
    check(arguments.email, arguments.tenant, roles)
    users, outputs = open_pool(arguments.env)
    with aws_errors(SIGN_IN):
        try:
            is_new = users.add(arguments.email, arguments.tenant, roles, invite=not arguments.no_email)
        except OtherTenant as other:
            raise CliError(
                f"{arguments.email} belongs to the tenant {one_line(str(other))}, which never changes: "
                f"remove them first, `acta users remove {arguments.email} --env {arguments.env}`"
            ) from None
    told = {"email": arguments.email, "tenant": arguments.tenant, "roles": list(roles), "is_new": is_new}
    return show(told, _added(arguments, roles, outputs, is_new=is_new), as_json=arguments.json)


def _added(arguments: Namespace, roles: Sequence[str], outputs: Outputs, *, is_new: bool) -> Iterator[str]:
    named = ", ".join(roles)
    if not is_new:
        yield f"{arguments.email} was there, and now has {named} in {arguments.tenant}"
        return
    told_by = "has no password yet" if arguments.no_email else "gets a first password by email"
    yield f"{arguments.email} is in {arguments.tenant} as {named}, and {told_by}; they sign in with"
    program = Invocation.from_arguments(Namespace())
    yield f"  {program.line('login', '--env', arguments.env, *target_from(arguments.env, outputs).options)}"


def list_users(arguments: Namespace, open_pool: Opens = pool_of) -> int:
    """Raises CliError."""
    users, _ = open_pool(arguments.env)
    with aws_errors(SIGN_IN):
        found = [each for each in users.list() if arguments.tenant in (None, each.tenant)]
    found.sort(key=lambda each: (each.tenant, each.email))
    return show_list(
        [each._asdict() for each in found],
        ("EMAIL", "TENANT", "ROLES", "STATUS", "SUBJECT"),
        lambda one: (one["email"], one["tenant"], ", ".join(one["roles"]), one["status"], one["subject"]),
        as_json=arguments.json,
    )


def remove(arguments: Namespace, open_pool: Opens = pool_of) -> int:
    """Raises CliError."""
    from acta_infra.deployed.users import NoSuchUser

    users, _ = open_pool(arguments.env)
    with aws_errors(SIGN_IN):
        try:
            users.remove(arguments.email)
        except NoSuchUser:
            raise CliError(f"{arguments.env} has no user {one_line(arguments.email)}") from None
    said = f"{one_line(arguments.email)} is removed; a token that they have is valid to its end, an hour unless set"
    return show({"email": arguments.email, "removed": True}, [said], as_json=arguments.json)


def check(email: str, tenant: str, roles: Sequence[str]) -> None:
    """Raises CliError."""
    wrong: list[tuple[str, str]] = []
    if not re.fullmatch(EMAIL_PATTERN, email):
        wrong.append((email, "an email address, such as ann@example.com"))
    if not re.fullmatch(TENANT_PATTERN, tenant):
        wrong.append((tenant, "1 to 64 of A-Z a-z 0-9 . _ @ + : - with a letter or digit first"))
    wrong += [
        (role, "1 to 64 of A-Z a-z 0-9 . _ : -")
        for role in roles
        if not re.fullmatch(ROLE_NAME_PATTERN, role)
    ]
    for value, what in wrong:
        raise CliError(f"{one_line(value)} cannot be used: it has to be {what}")
