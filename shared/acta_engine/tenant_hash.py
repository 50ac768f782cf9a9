"""How log lines name a tenant: by a hash that is the same in all functions of a deployment (ADR 77)."""

import hmac
import os
from hashlib import sha256

from acta_engine.settings import PREFIX

CHARS = 16


def tenant_hash(tenant: str, deployment: str | None = None) -> str:
    """`deployment`: the name of its table, which no log has; None: this function's. It keeps names of tenants out of
    logs that are sent elsewhere. Whoever may read the deployment's configuration can try names.
    """
    key = os.environ.get(f"{PREFIX}TABLE", "") if deployment is None else deployment
    return hmac.new(key.encode(), tenant.encode("utf-8", "surrogatepass"), sha256).hexdigest()[:CHARS]
