"""Links that sign somebody in on the local stack's page: of use once, within a minute (ADR 103).

A link's code is known to whoever made it. The state directory, which its owner alone reads, has a file by the code's
hash with who it stands for; whoever takes the file away has used it. So any process of the owner's can make one.
"""

import json
import secrets
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

FOLDER = "page-links"
LIVES = timedelta(minutes=1)


class Person(NamedTuple):
    tenant: str
    user: str
    roles: tuple[str, ...]


class PageLinks:
    """Of the stack of `state_dir`."""

    def __init__(self, state_dir: Path) -> None:
        self._folder = state_dir / FOLDER

    def make(
        self,
        url: str,
        tenant: str,
        user: str,
        roles: Sequence[str],
        place: str = "inbox",
        now: datetime | None = None,
    ) -> str:
        """`url`: the stack's. The code is in the fragment, which no server and no log is told."""
        until = (now or datetime.now(UTC)) + LIVES
        self._forget_old(until - LIVES)
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        code = secrets.token_urlsafe(24)
        kept = {"tenant": tenant, "user": user, "roles": list(roles), "until": until.isoformat()}
        path = self._file(code)
        path.touch(mode=0o600)
        path.write_text(json.dumps(kept), encoding="utf-8")
        return f"{url}/console/{place}#code={code}"

    def take(self, code: str) -> Person | None:
        """None: there is no such link, it was used, or its minute is over."""
        path = self._file(code)
        taken = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
        try:
            path.rename(taken)  # of several at a time one succeeds
            kept = json.loads(taken.read_text(encoding="utf-8"))
            taken.unlink()
        except (OSError, ValueError):
            return None
        if datetime.fromisoformat(kept["until"]) < datetime.now(UTC):
            return None
        return Person(kept["tenant"], kept["user"], tuple(kept["roles"]))

    def _file(self, code: str) -> Path:
        return self._folder / sha256(code.encode()).hexdigest()

    def _forget_old(self, now: datetime) -> None:
        for path in self._folder.glob("*") if self._folder.is_dir() else ():
            with suppress(OSError):
                if path.stat().st_mtime < (now - LIVES).timestamp():
                    path.unlink()
