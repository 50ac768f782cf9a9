"""An AWS account that asks IAM before moto, or the local AWS, carries a request out, and whose STS gives sessions of
roles.

It sees what leaves botocore, signed: which keys a request was signed with decides whose rights it has.
"""

import io
import itertools
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from urllib.parse import parse_qs

from botocore.auth import S3SigV4Auth, SigV4Auth
from botocore.awsrequest import AWSRequest, AWSResponse

from acta.engine.aws.clients import Service, make_client
from acta.engine.aws.tenant_credentials import Keys, TenantCredentials, data_of, tool_secrets_of
from tests.doubles.iam.policies import Ask, Document, is_allowed
from tests.doubles.iam.requests import BUCKETS, Signed, asks, s3_object

REGION = "us-east-1"
JSON = ("dynamodb", "secretsmanager")
"""Services that answer so."""
ANSWERED = "http://answered.invalid/"


class Role(NamedTuple):
    """`trusts`: the ARN of the role that may assume it; empty: the Lambda service, by `Account.running_as`."""

    arn: str
    policies: Sequence[Document]
    trusts: str = ""


class Session(NamedTuple):
    """Keys of a role that were given out. `policy`: None: the role was not narrowed."""

    role: Role
    keys: Keys
    policy: str | None
    until: datetime


class Store(NamedTuple):
    """What carries out what is allowed, in moto's place. `keys`: its operator's, with which that is signed anew."""

    endpoint_url: str
    keys: Any


class Own:
    """What a function runs with: keys that stay the same."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys

    def get_frozen_credentials(self) -> Keys:
        return self._keys


class Account:
    """`assumed`: what STS was asked for, in order. `sts_answers`: the next answers of STS instead of keys: a status and
    an error code, or None for no answer at all. `lasting`: how long new keys last. `packed`: how
    full STS finds a session policy, in percent. To be used inside `mock_aws` where
    there is no `store`.
    """

    def __init__(self, *roles: Role, store: Store | None = None) -> None:
        self.assumed: list[Mapping[str, str]] = []
        self.sts_answers: list[tuple[int, str]] = []
        self.lasting = timedelta(hours=1)
        self.packed = 64
        self.signed: list[tuple[str, str]] = []
        """Of each request that reached DynamoDB, S3 or Secrets Manager: the role's ARN and the action."""
        self._roles = {role.arn: role for role in roles}
        self._sessions: dict[str, Session] = {}
        self._numbers = itertools.count(1)
        self._store = store
        self._at: dict[str, Any] = {
            "region_name": REGION,
            "endpoint_url": store.endpoint_url if store else None,
        }
        keys = store.keys if store else Keys("operator", "secret", "token")
        self._operator = make_client(
            "s3", **{**_where(keys.access_key, keys.secret_key, keys.token), **self._at}
        )

    def running_as(self, role_arn: str) -> Own:
        """As Lambda gives a function its role's keys."""
        return Own(self._give(self._roles[role_arn], None).keys)

    def credentials(
        self,
        role_arn: str,
        own: Own,
        bucket: str = "contract",
        session_bucket: str = "contract",
    ) -> TenantCredentials:
        """A function's, whose second role this is."""
        return TenantCredentials(role_arn, data_of(bucket, session_bucket), own, self._sts(own))

    def credentials_for_secrets(self, role_arn: str, own: Own, environment: str) -> TenantCredentials:
        return TenantCredentials(role_arn, tool_secrets_of(environment), own, self._sts(own))

    def _sts(self, own: Own) -> Service:
        client = make_client("sts", attempts=1, **_where(*own.get_frozen_credentials()[:3]))
        return Service("sts", self.watched(client))

    def client(self, service: str, credentials: TenantCredentials) -> Any:
        return self.watched(make_client(service, credentials=credentials, **self._at))

    def watched(self, client: Any) -> Any:
        client.meta.events.register_first("before-send", self._before_send)
        return client

    def withdraw(self) -> None:
        """Ends all sessions of second roles at once, as an operator may."""
        self._sessions = {key: one for key, one in self._sessions.items() if not one.role.trusts}

    def _before_send(self, request: Any, **_: Any) -> AWSResponse | None:
        answer = self._answer(request)
        if answer is not None:
            request.url = ANSWERED  # botocore asks moto all the same, which knows no service there
        elif self._store is not None:
            _sign_anew(request, self._store.keys)
        return answer

    def _answer(self, request: Any) -> AWSResponse | None:
        """None: moto may carry it out."""
        body = request.body if isinstance(request.body, str | bytes) else b""  # an object's is a stream
        signed = Signed(
            request.method, request.url, _by_name(request), body.encode() if isinstance(body, str) else body
        )
        session = self._session(signed)
        if signed.service == "sts":
            return self._assume(signed, session)
        if session is None:
            return _refused(signed, "ExpiredTokenException")
        self.signed.extend((session.role.arn, ask.action) for ask in asks(signed))
        if not all(self._allows(session, ask) for ask in asks(signed)) or self._hides(signed, session):
            return _refused(signed, "AccessDeniedException" if signed.service in JSON else "AccessDenied")
        return None

    def _session(self, signed: Signed) -> Session | None:
        """None: the keys are not, or no longer, good."""
        session = self._sessions.get(signed.access_key)
        if session is None or session.until <= datetime.now(UTC):
            return None
        return session if signed.headers.get("x-amz-security-token") == session.keys.token else None

    def _allows(self, session: Session, ask: Ask) -> bool:
        narrowed = None if session.policy is None else json.loads(session.policy)
        return is_allowed(ask, session.role.policies, narrowed)

    def _hides(self, signed: Signed, session: Session) -> bool:
        """Whether S3 answers 403 in place of 404: to whoever may not list the whole bucket."""
        bucket, key = s3_object(signed) if signed.service == "s3" else ("", "")
        if not key or signed.method not in ("GET", "HEAD"):
            return False
        if self._allows(session, Ask("s3:ListBucket", f"{BUCKETS}{bucket}")):
            return False
        found = self._operator.list_objects_v2(Bucket=bucket, Prefix=key).get("Contents", ())
        return all(one["Key"] != key for one in found)

    def _assume(self, signed: Signed, session: Session | None) -> AWSResponse:
        asked = {name: values[0] for name, values in parse_qs(signed.body.decode()).items()}
        self.assumed.append(asked)
        if self.sts_answers:
            status, code = self.sts_answers.pop(0)
            return _sts_error(signed, status, code)
        role = self._roles.get(asked["RoleArn"])
        ask = Ask("sts:AssumeRole", asked["RoleArn"])
        if (
            session is None
            or role is None
            or role.trusts != session.role.arn
            or not self._allows(session, ask)
        ):
            return _sts_error(signed, 403, "AccessDenied")
        given = self._give(role, asked.get("Policy"))
        fields = {
            "AccessKeyId": given.keys.access_key,
            "SecretAccessKey": given.keys.secret_key,
            "SessionToken": given.keys.token,
            "Expiration": given.until.strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        inner = "".join(f"<{name}>{value}</{name}>" for name, value in fields.items())
        return _answer(
            signed,
            200,
            f'<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult>'
            f"<Credentials>{inner}</Credentials><PackedPolicySize>{self.packed}</PackedPolicySize>"
            "</AssumeRoleResult></AssumeRoleResponse>",
        )

    def _give(self, role: Role, policy: str | None) -> Session:
        name = f"ASIA{next(self._numbers):016d}"
        given = Session(
            role, Keys(name, f"secret-{name}", f"token-{name}"), policy, datetime.now(UTC) + self.lasting
        )
        self._sessions[name] = given
        return given


def _where(key: str, secret: str = "secret", token: str = "token") -> dict[str, Any]:
    return {
        "region_name": REGION,
        "aws_access_key_id": key,
        "aws_secret_access_key": secret,
        "aws_session_token": token,
    }


def _sign_anew(request: Any, keys: Any) -> None:
    service = Signed(request.method, request.url, _by_name(request), b"").service
    old = ("authorization", "x-amz-date", "x-amz-security-token", "x-amz-content-sha256")
    kept = {name: value for name, value in _by_name(request).items() if name not in old}
    again = AWSRequest(request.method, request.url, kept, request.body)
    (S3SigV4Auth if service == "s3" else SigV4Auth)(keys, service, REGION).add_auth(again)
    for name in old:
        request.headers.pop(name, None)
    for name, value in again.headers.items():
        if name.lower() in old:
            request.headers[name] = value


def _by_name(request: Any) -> dict[str, str]:
    return {
        name.lower(): value.decode() if isinstance(value, bytes) else value
        for name, value in request.headers.items()
    }


def _refused(signed: Signed, code: str) -> AWSResponse:
    if signed.service in JSON:
        return _answer(signed, 400, f'{{"__type": "com.amazon.coral.service#{code}"}}')
    return _answer(signed, 403, "" if signed.method == "HEAD" else f"<Error><Code>{code}</Code></Error>")


def _sts_error(signed: Signed, status: int, code: str) -> AWSResponse:
    return _answer(signed, status, f"<ErrorResponse><Error><Code>{code}</Code></Error></ErrorResponse>")


class _Raw(io.BytesIO):
    def stream(self, **_: Any) -> Any:
        yield self.read()


def _answer(signed: Signed, status: int, text: str) -> AWSResponse:
    return AWSResponse(signed.url, status, {}, _Raw(text.encode()))
