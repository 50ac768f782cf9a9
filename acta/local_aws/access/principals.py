"""Whom a request comes from: which credentials there are in this run, and the principal that each stands for.

The table is ministack's own (`services.sts._sessions`), which its policy evaluation asks too (`AUTH=true`). It is never
saved, so no credentials of this run work in another. In it are:

- the operator, the account's root user: the person at the keyboard, the CDK, the command line, tests;
- each Lambda process, as the role of its function: `assumed-role/<role>/<function>`, as on AWS;
- whoever called AssumeRole in this run: the CDK does.

Nobody else. ministack itself knows further root users by their keys alone: "test", an account's number, or no key. They
are not in the table, nor are access keys of IAM users, which would outlive the run.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from acta.local_aws.credentials import FILE, Credentials
from acta.local_aws.ministack import module
from acta.local_aws.settings import ACCOUNT, Settings

FORGET_SECONDS = 60.0


@contextmanager
def operator(settings: Settings) -> Iterator[None]:
    """Admit the operator of this run. The credentials are in a file for as long as they work."""
    credentials = Credentials.new()
    admit(credentials, f"arn:aws:iam::{ACCOUNT}:root", "Root", ACCOUNT)
    path = settings.state_dir / FILE
    credentials.to_file(path)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def assume_role(role_arn: str, session: str) -> Credentials:
    """New temporary credentials of a role, as an AWS service gets them to work in its name. They do not expire.

    Raises ValueError if that is no role's ARN.
    """
    sts = module("services.sts")
    arn, refused = sts._assumed_role_arn(role_arn, session)
    if refused:
        raise ValueError("not the ARN of a role")
    credentials = Credentials.new(temporary=True)
    admit(credentials, arn, "AssumedRole", f"{sts._role_id(role_arn)}:{session}")
    return credentials


@contextmanager
def in_role(role_arn: str, session: str) -> Iterator[Credentials]:
    """As `assume_role`, for as long as the `with` block runs."""
    credentials = assume_role(role_arn, session)
    try:
        yield credentials
    finally:
        dismiss(credentials)


def admit(credentials: Credentials, arn: str, kind: str, user_id: str) -> None:
    """`kind` as ministack names it: Root, AssumedRole."""
    module("services.sts").register_session(
        credentials.access_key_id,
        {
            "Arn": arn,
            "UserId": user_id,
            "AccountId": ACCOUNT,
            "PrincipalType": kind,
            "SecretAccessKey": credentials.secret_access_key,
            "SessionToken": credentials.session_token,
        },
    )


def dismiss(credentials: Credentials) -> None:
    """Nobody can use them any more. A second call does nothing."""
    module("services.sts")._sessions.pop(credentials.access_key_id, None)


def is_admitted(access_key_id: str) -> bool:
    return access_key_id in module("services.sts")._sessions


def forget_the_expired(settings: Settings) -> None:
    """As ministack does, but once a minute at most, not each time that one is added: of thousands the walk takes longer
    than all else. And also while other threads add principals: its walk would raise then, and so would a list of the
    table's items. A copy is made in one go.

    Patches: `services.sts._evict_expired_sessions`.
    """
    sts = module("services.sts")
    last = -FORGET_SECONDS

    def forget() -> None:
        nonlocal last
        if time.monotonic() < last + FORGET_SECONDS:
            return
        last = time.monotonic()
        for key, session in sts._sessions.copy().items():
            if sts._session_expired(session):
                sts._sessions.pop(key, None)

    sts._evict_expired_sessions = forget


def give_functions_their_role(settings: Settings) -> None:
    """Functions of runtimes other than Python get credentials of their role, too.

    ministack gives them its own, or with `AUTH=true` some that anybody can derive from the function's name. Patches:
    `core.lambda_runtime.execution_credentials`, also by its name in `services.lambda_svc`. Python functions get theirs
    in `lambdas/process.py`.
    """

    def of_function(config: Mapping[str, Any]) -> dict[str, str]:
        role, name = str(config.get("Role", "")), str(config.get("FunctionName", ""))
        return assume_role(role, name).as_variables()

    module("core.lambda_runtime").execution_credentials = of_function
    module("services.lambda_svc").execution_credentials = of_function
