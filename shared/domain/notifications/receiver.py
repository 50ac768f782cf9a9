"""Where a tenant is told, and with what it is signed (ADR 68). The secret itself is in AWS Secrets Manager alone."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from shared.domain.frozen_model import FrozenModel
from shared.domain.notifications.signature import MIN_KEY_BYTES, signing_key

MAX_URL_CHARS = 1_000
MAX_SECRET_CHARS = 512
SECRET_RULE = (
    f"A secret is {MIN_KEY_BYTES} to {MAX_SECRET_CHARS} printable ASCII characters without a space, or whsec_ and the "
    f"base64 of {MIN_KEY_BYTES} bytes or more."
)


class TenantReceiver(FrozenModel):
    """`url`: of the tenant's webhook; None: its sessions may have webhooks of their own, which are signed with the same
    secret. `updated_by`: the subject who wrote it last.
    """

    tenant: str
    url: Annotated[str, Field(max_length=MAX_URL_CHARS)] | None
    created_at: datetime
    updated_at: datetime
    updated_by: str


def is_usable_secret(secret: str) -> bool:
    """Whether the secret may be stored, see `SECRET_RULE`."""
    if not (
        len(secret) <= MAX_SECRET_CHARS and secret.isascii() and secret.isprintable() and " " not in secret
    ):
        return False
    try:
        signing_key(secret)
    except ValueError:
        return False
    return True
