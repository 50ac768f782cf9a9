"""How a Python tool reaches the files of the tenant whose session calls it: with credentials for that call (ADR 88).

They are those of `tool`'s second role, narrowed by a session policy to reading, or reading and writing, the tenant's
files. No private file of anybody is among them; a private session's call gets further ones, for that person's alone.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from acta.engine.aws.clients import Service
from acta.engine.aws.tenant_credentials import assume
from acta.engine.errors import ToolFailed
from acta.engine.store.keys import FILES, tenant_prefix
from acta.engine.tools.tool import FileAccess
from acta.engine.untrusted.path import PRIVATE, is_private, private_folder

LIFE_SECONDS = 900
"""The shortest time that STS gives. It is more than a call may take."""
ACTIONS: Mapping[FileAccess, Sequence[str]] = {
    "read": ("s3:GetObject",),
    "write": ("s3:GetObject", "s3:PutObject"),
}


class FileCredentials(NamedTuple):
    """`role_arn`: of the second role. `max_bytes`: of a file. `sts`: asked with the function's own role."""

    role_arn: str
    bucket: str
    max_bytes: int
    sts: Service = Service("sts")

    def for_call(
        self, tenant: str, person: str | None, access: FileAccess, only: tuple[str, ...] | None = None
    ) -> dict[str, Any]:
        """What the tool's function gets as `files`: `{"bucket", "access", "max_bytes", "shared": {"prefix", "keys"},
        "private"?: {"prefix", "keys"}, "given"?: [path]}`. `person`: whose private session it is; None: it is the
        tenant's. `only`: the files that the session was given; None: all.

        Raises ToolFailed where no policy is as narrow as that, AwsDenied, StoreThrottled, StoreUnavailable.
        """
        root = tenant_prefix(FILES, tenant)
        partition = self.role_arn.split(":")[1]
        given: dict[str, Any] = {"bucket": self.bucket, "access": access, "max_bytes": self.max_bytes}
        shared = None if only is None else [each for each in only if not is_private(each)]
        policy = shared_files_policy(partition, self.bucket, root, access)
        if shared is not None:
            given["given"] = list(only or ())
            policy = given_files_policy(partition, self.bucket, root, access, shared)
        given["shared"] = {"prefix": root, "keys": self._keys(tenant, policy)}
        if person is not None:
            own = f"{root}{private_folder(person)}/"
            policy = private_files_policy(partition, self.bucket, own, access)
            if only is not None:
                below = [each.removeprefix(PRIVATE) for each in only if is_private(each)]
                policy = given_files_policy(partition, self.bucket, own, access, below)
            given["private"] = {"prefix": own, "keys": self._keys(tenant, policy)}
        return given

    def _keys(self, tenant: str, policy: str) -> dict[str, str]:
        keys = assume(self.sts, self.role_arn, tenant, policy, LIFE_SECONDS)
        return {
            "aws_access_key_id": keys["AccessKeyId"],
            "aws_secret_access_key": keys["SecretAccessKey"],
            "aws_session_token": keys["SessionToken"],
        }


def shared_files_policy(partition: str, bucket: str, root: str, access: FileAccess) -> str:
    """The tenant's files but private ones, whose folders begin with `~`. A listing of everything would name those, so
    the top is listed by folder alone (`s3:delimiter`), and below it what does not begin with `~`.

    Short and without a `Version`, as `session_policy`'s.
    """
    bucket_arn = f"arn:{partition}:s3:::{bucket}"
    top = {"StringEquals": {"s3:prefix": root, "s3:delimiter": "/"}}
    below, private = ({"StringLike": {"s3:prefix": f"{root}{each}*"}} for each in ("?", "~"))
    return _policy(
        _allow(ACTIONS[access], f"{bucket_arn}/{root}*"),
        _deny("s3:*", f"{bucket_arn}/{root}~*"),
        {**_allow("s3:ListBucket", bucket_arn), "Condition": top},
        {**_allow("s3:ListBucket", bucket_arn), "Condition": below},
        {**_deny("s3:ListBucket", bucket_arn), "Condition": private},
        _encrypted(partition),
    )


def private_files_policy(partition: str, bucket: str, folder: str, access: FileAccess) -> str:
    """One person's private files, all of whose keys begin with `folder`."""
    bucket_arn = f"arn:{partition}:s3:::{bucket}"
    listed = {"StringLike": {"s3:prefix": f"{folder}*"}}
    return _policy(
        _allow(ACTIONS[access], f"{bucket_arn}/{folder}*"),
        {**_allow("s3:ListBucket", bucket_arn), "Condition": listed},
        _encrypted(partition),
    )


MOST_POLICY_CHARS = 2_048
"""Source: AWS STS API reference, AssumeRole, `Policy`."""
NOT_NARROWED = (
    "this tool reads files by itself, and what it may read cannot be limited to the files that this session was given: "
    "{why}. Read them with read_file and give the tool their text, or have the caller give a folder."
)


def given_files_policy(
    partition: str, bucket: str, root: str, access: FileAccess, paths: Sequence[str]
) -> str:
    """The files at these paths, and what is below those that end with /, where also is written. Raises ToolFailed."""
    bucket_arn = f"arn:{partition}:s3:::{bucket}"
    if any(set("*?") & set(path) for path in paths):  # a policy takes them for any characters
        raise ToolFailed(NOT_NARROWED.format(why="a name has * or ?"))
    keys = [f"{root}{path}{'*' if path.endswith('/') else ''}" for path in paths]
    folders = [f"{bucket_arn}/{key}" for key in keys if key.endswith("/*")]
    statements = [_encrypted(partition)]
    if keys:
        listed = {"StringLike": {"s3:prefix": keys}}
        statements += [
            _allow(ACTIONS["read"], [f"{bucket_arn}/{key}" for key in keys]),
            {**_allow("s3:ListBucket", bucket_arn), "Condition": listed},
        ]
    if folders and access == "write":
        statements.append(_allow("s3:PutObject", folders))
    policy = _policy(*statements)
    if len(policy) > MOST_POLICY_CHARS:
        raise ToolFailed(NOT_NARROWED.format(why="their names are too long together"))
    return policy


def _allow(actions: Sequence[str] | str, resource: Sequence[str] | str) -> dict[str, Any]:
    return {"Effect": "Allow", "Action": actions, "Resource": resource}


def _deny(actions: str, resource: str) -> dict[str, Any]:
    return {"Effect": "Deny", "Action": actions, "Resource": resource}


def _encrypted(partition: str) -> dict[str, Any]:
    """Where the deployment encrypts with a key of its own, a reader needs that key, too."""
    return _allow("kms:*", f"arn:{partition}:kms:*:*:*")


def _policy(*statements: Mapping[str, Any]) -> str:
    return json.dumps({"Statement": statements}, separators=(",", ":"))
