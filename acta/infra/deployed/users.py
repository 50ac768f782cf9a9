"""Who may sign in: the users of an environment's own Cognito pool, with an operator's AWS credentials.

A user's tenant is an attribute that is written once, when the user is made. Roles are groups of the pool, made when
they are first needed. Source: Amazon Cognito API reference.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from acta.engine.aws.clients import Service
from acta.infra.deployed.account import pages, unless

NO_USER = "UserNotFoundException"
PAGE = 60
"""The most that Cognito lists at once."""


class OtherTenant(Exception):
    """The user belongs to the tenant that `args` has, and a tenant is never changed."""


class NoSuchUser(Exception):
    pass


class User(NamedTuple):
    """`subject`: the user's name in the API and its records. `status`: Cognito's, such as CONFIRMED, or DISABLED."""

    email: str
    tenant: str
    roles: tuple[str, ...]
    subject: str
    status: str


class Users:
    """The users of one pool. `client`: a botocore client of `cognito-idp`. Every method raises AwsDenied, AwsRefused,
    StoreThrottled and StoreUnavailable, besides what it names.
    """

    def __init__(self, pool_id: str, client: Any) -> None:
        self._pool = {"UserPoolId": pool_id}
        self._cognito = Service("cognito-idp", client)

    def add(self, email: str, tenant: str, roles: Sequence[str], *, invite: bool = True) -> bool:
        """Creates the user, or gives an existing one the roles. `invite`: Cognito sends new users a first password by
        email. Returns False if the user existed. Raises OtherTenant.

        A user is created before they get a role, and can do nothing without one. So a failed call can be repeated.
        """
        attributes = {"email": email, "email_verified": "true", "custom:tenant": tenant}
        given = [{"Name": name, "Value": value} for name, value in attributes.items()]
        how = {"DesiredDeliveryMediums": ["EMAIL"]} if invite else {"MessageAction": "SUPPRESS"}
        made = self._call_unless(
            "UsernameExistsException", "admin_create_user", Username=email, UserAttributes=given, **how
        )
        if made is None:
            its_tenant = self.find(email).get("custom:tenant", "")
            if its_tenant != tenant:
                raise OtherTenant(its_tenant)
        for role in roles:
            self._call_unless("GroupExistsException", "create_group", GroupName=role)
            self._call("admin_add_user_to_group", Username=email, GroupName=role)
        return made is not None

    def list(self) -> Iterator[User]:
        """All of them, with their roles."""
        roles: dict[str, list[str]] = {}
        for group in self._pages("list_groups", "Groups", "NextToken"):
            name = group["GroupName"]
            for user in self._pages("list_users_in_group", "Users", "NextToken", GroupName=name):
                roles.setdefault(user["Username"], []).append(name)
        for user in self._pages("list_users", "Users", "PaginationToken"):
            attributes = attributes_of(user["Attributes"])
            yield User(
                email=attributes.get("email", ""),
                tenant=attributes.get("custom:tenant", ""),
                roles=tuple(sorted(roles.get(user["Username"], ()))),
                subject=attributes.get("sub", ""),
                status=user["UserStatus"] if user["Enabled"] else "DISABLED",
            )

    def sign_out(self, email: str) -> None:
        """Ends the user's sign-ins everywhere: no refresh token of theirs works any more. Their other tokens stay valid
        until they expire. Raises NoSuchUser.
        """
        if self._call_unless(NO_USER, "admin_user_global_sign_out", Username=email) is None:
            raise NoSuchUser(email)

    def remove(self, email: str) -> None:
        """Signs the user out and deletes them. Raises NoSuchUser."""
        self.sign_out(email)
        self._call("admin_delete_user", Username=email)

    def subjects(self, tenant: str) -> Mapping[str, str]:
        """User name -> subject, of the tenant's users. Reads all users: Cognito cannot filter by custom attributes."""
        found = {}
        for user in self._pages("list_users", "Users", "PaginationToken"):
            attributes = attributes_of(user.get("Attributes", ()))
            if attributes.get("custom:tenant") == tenant:
                found[user["Username"]] = attributes.get("sub", "")
        return found

    def delete_all(self, names: Iterable[str]) -> int:
        """Deletes users by their user names, and returns how many there were. Tokens that they have stay valid for as
        long as the pool says (`OwnPool.token_minutes`).
        """
        deleted = [self._call_unless(NO_USER, "admin_delete_user", Username=name) for name in names]
        return sum(each is not None for each in deleted)

    def find(self, email: str) -> Mapping[str, str]:
        """The user's attributes. Raises NoSuchUser."""
        found = self._call_unless(NO_USER, "admin_get_user", Username=email)
        if found is None:
            raise NoSuchUser(email)
        return attributes_of(found["UserAttributes"])

    def _pages(self, operation: str, items: str, cursor: str, **parameters: Any) -> Iterator[Any]:
        for page in pages(self._cognito, operation, cursor, **self._pool, Limit=PAGE, **parameters):
            yield from page[items]

    def _call_unless(self, code: str, operation: str, **parameters: Any) -> Any:
        return unless(code, self._cognito, operation, **self._pool, **parameters)

    def _call(self, operation: str, **parameters: Any) -> Any:
        return self._cognito.call(operation, **self._pool, **parameters)


def attributes_of(listed: Sequence[Mapping[str, str]]) -> dict[str, str]:
    return {each["Name"]: each.get("Value", "") for each in listed}
