"""The files that a session sees which was given some (docs/design/sub-agents.md 25): all others do not exist for it."""

from collections.abc import Iterable, Iterator

from acta.engine.files.store import DeletedPage, FileInfo, FilePage, FileStore, FileVersion, FileWrite
from acta.engine.untrusted.path import PathRefused, check_folder, check_shown_path
from acta.engine.untrusted.quoting import clipped_name

MAX_NAMED = 5


def given_path(path: str) -> str:
    """The one spelling of a path that is given: a file, or all that is below a folder if it ends with /. Raises
    PathRefused.
    """
    return (
        check_folder(check_shown_path(path.removesuffix("/")))
        if path.endswith("/")
        else check_shown_path(path)
    )


def is_given(path: str, given: Iterable[str]) -> bool:
    """Whether a path, or all that is below it, is among those that were given."""
    return any(path == each or (each.endswith("/") and path.startswith(each)) for each in given)


class GivenFiles:
    """A FileStore of some files of another one: those at the given paths, which are only read, and those below the
    given folders, which are also written.
    """

    def __init__(self, files: FileStore, given: tuple[str, ...]) -> None:
        self._files = files
        self._given = tuple(sorted(each for each in {*given} if not is_given(each, {*given} - {each})))

    def seen_by(self, user: str | None) -> FileStore:
        return GivenFiles(self._files.seen_by(user), self._given)

    def list(self, tenant: str, prefix: str, limit: int, cursor: str | None = None) -> FilePage:
        """A page has the files of one given folder, or one file."""
        asked = [each if each.startswith(prefix) else prefix for each in self._reached(prefix)]
        number, _, inner = (cursor or "0:").partition(":")
        place = int(number)
        if place >= len(asked):
            return FilePage((), None)
        page = self._files.list(tenant, asked[place], limit, inner or None)
        found: tuple[FileInfo, ...] = tuple(each for each in page.files if is_given(each.path, self._given))
        is_file = not asked[place].endswith("/") and asked[place] in self._given
        if page.cursor is not None and not is_file:
            return FilePage(found, f"{place}:{page.cursor}")
        return FilePage(found, f"{place + 1}:" if place + 1 < len(asked) else None)

    def deleted(self, tenant: str, prefix: str, limit: int, cursor: str | None = None) -> DeletedPage:
        page = self._files.deleted(tenant, prefix, limit, cursor)
        return DeletedPage(
            tuple(each for each in page.files if is_given(each.path, self._given)), page.cursor
        )

    def read(self, tenant: str, path: str) -> bytes:
        return self._files.read(tenant, self._read(path))

    def write(self, tenant: str, path: str, data: bytes, write_id: str | None = None) -> bool:
        return self._files.write(tenant, self._written(path), data, write_id)

    def create(self, tenant: str, path: str, data: bytes, write_id: str | None = None) -> None:
        self._files.create(tenant, self._written(path), data, write_id)

    def etag(self, tenant: str, path: str) -> str:
        return self._files.etag(tenant, self._read(path))

    def replace(self, tenant: str, path: str, data: bytes, etag: str, write_id: str | None = None) -> None:
        self._files.replace(tenant, self._written(path), data, etag, write_id)

    def newest_write(self, tenant: str, path: str) -> FileWrite | None:
        return self._files.newest_write(tenant, self._read(path))

    def versions(self, tenant: str, path: str) -> tuple[FileVersion, ...]:
        return self._files.versions(tenant, self._read(path))

    def read_version(self, tenant: str, path: str, version_id: str) -> bytes:
        return self._files.read_version(tenant, self._read(path), version_id)

    def delete(self, tenant: str, path: str, etag: str | None = None) -> None:
        self._files.delete(tenant, self._written(path), etag)

    def _reached(self, prefix: str) -> Iterator[str]:
        """The given paths that have to do with the prefix."""
        for each in self._given:
            if each.startswith(prefix) or (each.endswith("/") and prefix.startswith(each)):
                yield each

    def _read(self, path: str) -> str:
        """Raises PathRefused."""
        if is_given(path, self._given):
            return path
        raise PathRefused(
            f"{clipped_name(path)} is not among the files that this session was given: {self._named()}"
        )

    def _written(self, path: str) -> str:
        """Raises PathRefused."""
        if any(each.endswith("/") and path.startswith(each) for each in self._given):
            return path
        raise PathRefused(
            f"this session may write only below the folders that it was given, and {clipped_name(path)} is below none "
            f"of them: {self._named()}"
        )

    def _named(self) -> str:
        names = [clipped_name(each) for each in self._given[:MAX_NAMED]]
        return ", ".join(names) + (" and others" if len(self._given) > MAX_NAMED else "") if names else "none"
