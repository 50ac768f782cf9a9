"""People in Acta's own user pool, as an operator removes them."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from shared.adapters.aws.clients import Service
from shared.adapters.aws.errors import AwsRefused

TENANT = "custom:tenant"
SUBJECT = "sub"
PAGE = 60
"""Cognito's limit. Source: Amazon Cognito user pools API Reference, ListUsers."""


def pool_of(issuer: str) -> str | None:
    """The id of the pool whose URL this is; None: tokens come from somewhere else."""
    where = urlsplit(issuer)
    is_pool = (where.hostname or "").startswith("cognito-idp.")
    return where.path.strip("/") if is_pool and where.path.strip("/") else None


class PoolUsers:
    """`client`: a botocore Cognito client with an operator's credentials."""

    def __init__(self, pool: str, client: Any) -> None:
        self._pool = pool
        self._cognito = Service("cognito-idp", client)

    def names(self, tenant: str, subject: str | None = None) -> tuple[str, ...]:
        """Of all users of the tenant, or of one of them."""
        found = []
        for user in self._users():
            attributes = {each["Name"]: each["Value"] for each in user.get("Attributes", ())}
            if attributes.get(TENANT) == tenant and subject in (None, attributes.get(SUBJECT)):
                found.append(user["Username"])
        return tuple(found)

    def remove(self, names: Iterable[str]) -> int:
        """How many. Tokens that they have stay valid for as long as the pool says (`OwnPool.token_minutes`)."""
        return sum(self._delete(name) for name in names)

    def _delete(self, name: str) -> int:
        try:
            self._cognito.call("admin_delete_user", UserPoolId=self._pool, Username=name)
        except AwsRefused as refused:
            if refused.code != "UserNotFoundException":
                raise
            return 0
        return 1

    def _users(self) -> Iterator[Mapping[str, Any]]:
        """A filter cannot name an attribute of one's own."""
        more: dict[str, str] = {}
        while True:
            answer = self._cognito.call("list_users", UserPoolId=self._pool, Limit=PAGE, **more)
            yield from answer.get("Users", ())
            if "PaginationToken" not in answer:
                return
            more = {"PaginationToken": answer["PaginationToken"]}
