"""A tenant's files: by path, in path order, never another tenant's."""

from datetime import UTC, timedelta
from typing import Any

import pytest

from acta.engine.files.s3 import S3FileStore
from acta.engine.files.store import FileChanged, FileExists, FileMissing, FileStore
from acta.engine.untrusted.path import PathRefused
from tests.stores import in_memory
from tests.stores.backends import Aws, Stores, aws_stores

pytestmark = pytest.mark.contract


def listed(stores: Stores, tenant: str, prefix: str = "", limit: int = 100) -> list[list[str]]:
    pages, cursor = [], None
    while True:
        page = stores.files.list(tenant, prefix, limit, cursor)
        pages.append([info.path for info in page.files])
        cursor = page.cursor
        if cursor is None:
            return pages


def test_a_file_is_read_as_it_was_written(stores: Stores, tenant: str) -> None:
    data = bytes(range(256)) * 40
    assert stores.files.write(tenant, "notes/käse 📁.bin", data) is True
    assert stores.files.read(tenant, "notes/käse 📁.bin") == data
    assert stores.files.write(tenant, "notes/käse 📁.bin", b"") is False
    assert stores.files.read(tenant, "notes/käse 📁.bin") == b""


def test_a_write_that_is_repeated_is_told_what_it_did_the_first_time(stores: Stores, tenant: str) -> None:
    assert [stores.files.write(tenant, "a.md", b"x", "first") for _ in range(2)] == [True, True]
    assert [stores.files.write(tenant, "a.md", b"y", "second") for _ in range(2)] == [False, False]
    assert stores.files.read(tenant, "a.md") == b"y"
    stores.files.delete(tenant, "a.md")
    assert stores.files.write(tenant, "a.md", b"y", "second") is True


def test_a_file_is_created_once_and_never_over_another_one(stores: Stores, tenant: str) -> None:
    for _ in range(2):
        stores.files.create(tenant, "a.md", b"x", "first")
    for write_id in ("second", None):
        with pytest.raises(FileExists):
            stores.files.create(tenant, "a.md", b"y", write_id)
    assert stores.files.read(tenant, "a.md") == b"x"
    stores.files.create(tenant, "b.md", b"y")
    stores.files.delete(tenant, "a.md")
    stores.files.create(tenant, "a.md", b"z", "third")
    assert (stores.files.read(tenant, "a.md"), stores.files.read(tenant, "b.md")) == (b"z", b"y")


def test_a_file_is_replaced_or_deleted_only_as_the_one_that_is_meant(stores: Stores, tenant: str) -> None:
    files = stores.files
    assert files.etag(tenant, "a.md") == ""
    files.write(tenant, "a.md", b"first")
    first = files.etag(tenant, "a.md")
    assert first == files.versions(tenant, "a.md")[0].etag != ""
    for _ in range(2):  # its own write is no change
        files.replace(tenant, "a.md", b"second", first, "mine")
    second = files.etag(tenant, "a.md")
    for tag in (first, ""):
        with pytest.raises(FileChanged):
            files.delete(tenant, "a.md", tag)
    with pytest.raises(FileChanged):
        files.replace(tenant, "a.md", b"third", first, "another")
    assert files.read(tenant, "a.md") == b"second"
    files.delete(tenant, "a.md", second)
    with pytest.raises(FileMissing):
        files.delete(tenant, "a.md", second)
    assert files.etag(tenant, "a.md") == ""


def test_a_store_knows_by_which_write_a_file_came(stores: Stores, tenant: str) -> None:
    files = stores.files
    assert files.newest_write(tenant, "a.md") is None
    files.write(tenant, "a.md", b"x")
    found = files.newest_write(tenant, "a.md")
    assert found is not None
    assert (found.etag, found.by) == (files.etag(tenant, "a.md"), "api")
    files.write(tenant, "a.md", b"y", "ses_1/eff_1/abc")
    tag = files.etag(tenant, "a.md")
    assert files.newest_write(tenant, "a.md") == (tag, "ses_1/eff_1/abc", "agent", "ses_1")


def tag(stores: Stores, tenant: str) -> str:
    return stores.files.versions(tenant, "a.md")[0].etag


def test_a_file_is_replaced_only_while_it_is_the_one_that_is_meant(stores: Stores, tenant: str) -> None:
    stores.files.write(tenant, "a.md", b"first")
    first = tag(stores, tenant)
    stores.files.replace(tenant, "a.md", b"second", first)
    with pytest.raises(FileChanged):
        stores.files.replace(tenant, "a.md", b"third", first)
    assert stores.files.read(tenant, "a.md") == b"second"
    second = tag(stores, tenant)
    assert first != second
    stores.files.delete(tenant, "a.md")
    for path in ("a.md", "never.md"):
        with pytest.raises(FileChanged):
            stores.files.replace(tenant, path, b"third", second)
    assert stores.files.list(tenant, "", 10).files == ()


@pytest.fixture(params=["sqlite", "moto"])
def versioned(request: pytest.FixtureRequest) -> FileStore:
    """Stores that keep versions. SQLite's keep them always."""
    account: Aws = request.getfixturevalue(f"{request.param}_account")
    if request.param == "moto":
        account.s3.put_bucket_versioning(Bucket=account.bucket, VersioningConfiguration={"Status": "Enabled"})
    return S3FileStore(account.bucket, account.s3)


def gone(files: FileStore, tenant: str, prefix: str = "", limit: int = 100) -> list[list[str]]:
    pages, cursor = [], None
    while True:
        page = files.deleted(tenant, prefix, limit, cursor)
        pages.append([info.path for info in page.files])
        cursor = page.cursor
        if cursor is None:
            return pages


def test_deleted_files_are_listed_by_path_until_they_are_written_again(
    versioned: FileStore, tenant: str
) -> None:
    for path in ("b.md", "in/a.md", "in/c.md", "stays.md", "a.md"):
        versioned.write(tenant, path, b"x")
        versioned.write(tenant, path, b"y")
    for path in ("b.md", "in/a.md", "in/c.md", "a.md"):
        versioned.delete(tenant, path)
    versioned.write(f"{tenant}x", "other.md", b"x")
    versioned.delete(f"{tenant}x", "other.md")
    for limit, pages in (
        (10, [["a.md", "b.md", "in/a.md", "in/c.md"]]),
        (3, [["a.md", "b.md", "in/a.md"], ["in/c.md"]]),
    ):
        assert gone(versioned, tenant, limit=limit) == pages
    assert gone(versioned, tenant, "in/", limit=1) == [["in/a.md"], ["in/c.md"]]
    versioned.write(tenant, "b.md", b"again")
    assert gone(versioned, tenant) == [["a.md", "in/a.md", "in/c.md"]]
    (first, *_) = versioned.deleted(tenant, "", 1).files
    assert first.deleted_at.tzinfo == UTC
    with pytest.raises(ValueError, match="cursor"):
        versioned.deleted(tenant, "in/", 1, versioned.deleted(tenant, "", 1).cursor)


def test_deleted_private_files_are_listed_for_their_owner_alone(versioned: FileStore, tenant: str) -> None:
    mine = versioned.seen_by("ann")
    for path in ("~/secret.md", "z.md"):
        mine.write(tenant, path, b"x")
        mine.delete(tenant, path)
    assert [one.path for one in mine.deleted(tenant, "~/", 10).files] == ["~/secret.md"]
    assert [one.path for one in mine.deleted(tenant, "", 10).files] == ["z.md"]
    assert versioned.seen_by("bob").deleted(tenant, "~/", 10).files == ()


class LosesAnswers:
    """An S3 client whose every put is done, then its answer is lost: it makes the request again, as the SDK does."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def put_object(self, **request: Any) -> Any:
        self._client.put_object(**request)
        return self._client.put_object(**request)


@pytest.mark.parametrize("write_id", [None, "mine"])
def test_on_aws_a_write_whose_answer_was_lost_knows_that_the_file_is_its_own(
    aws: Aws, tenant: str, write_id: str | None
) -> None:
    files = S3FileStore(aws.bucket, LosesAnswers(aws.s3))
    assert files.write(tenant, "a.md", b"x", write_id) is True
    assert files.read(tenant, "a.md") == b"x"
    assert files.write(tenant, "a.md", b"y") is False
    files.create(tenant, "b.md", b"x", write_id)
    assert files.read(tenant, "b.md") == b"x"
    files.replace(tenant, "b.md", b"y", files.versions(tenant, "b.md")[0].etag)
    assert files.read(tenant, "b.md") == b"y"


def test_a_listing_gives_size_and_time(stores: Stores, tenant: str) -> None:
    stores.files.write(tenant, "a.md", b"12345")
    (info,) = stores.files.list(tenant, "", 10).files
    assert (info.path, info.bytes) == ("a.md", 5)
    assert info.modified_at.tzinfo is UTC
    assert abs(info.modified_at - stores.clock.now()) < timedelta(hours=1)


def test_files_are_listed_in_path_order_in_pages(stores: Stores, tenant: str) -> None:
    paths = ["B.md", "a.md", "a/1.md", "a/2.md", "a/b/3.md", "ab.md", "ü.md"]
    for path in reversed(paths):
        stores.files.write(tenant, path, b"x")

    assert listed(stores, tenant) == [paths]
    assert listed(stores, tenant, limit=3) == [paths[:3], paths[3:6], paths[6:]]
    assert listed(stores, tenant, "a/") == [["a/1.md", "a/2.md", "a/b/3.md"]]
    assert listed(stores, tenant, "a/", limit=2) == [["a/1.md", "a/2.md"], ["a/b/3.md"]]
    assert listed(stores, tenant, "none/") == [[]]


def test_a_deleted_file_is_gone(stores: Stores, tenant: str) -> None:
    stores.files.write(tenant, "a.md", b"x")
    stores.files.delete(tenant, "a.md")

    with pytest.raises(FileMissing):
        stores.files.read(tenant, "a.md")
    with pytest.raises(FileMissing):
        stores.files.delete(tenant, "a.md")
    assert listed(stores, tenant) == [[]]
    assert stores.files.write(tenant, "a.md", b"y") is True


def test_tenants_see_their_own_files_only(stores: Stores, tenant: str) -> None:
    stores.files.write(tenant, "files/a.md", b"mine")
    for other in (f"{tenant}/files", f"{tenant}x", tenant[:-1], f"{tenant}/../{tenant}", f"./{tenant}"):
        assert listed(stores, other) == [[]]
        with pytest.raises(FileMissing):
            stores.files.read(other, "a.md")
        with pytest.raises(FileMissing):
            stores.files.delete(other, "files/a.md")
    assert stores.files.read(tenant, "files/a.md") == b"mine"


def test_a_path_that_could_be_read_two_ways_reaches_no_store(stores: Stores, tenant: str) -> None:
    stores.files.write(tenant, "a", b"x")
    with pytest.raises(PathRefused):
        stores.files.write(tenant, "b/../a", b"y")
    with pytest.raises(PathRefused):
        stores.files.read(tenant, "b/../a")
    with pytest.raises(PathRefused):
        stores.files.delete(tenant, "b/../a")
    assert stores.files.read(tenant, "a") == b"x"


def test_a_forged_or_foreign_cursor_is_refused(stores: Stores, tenant: str) -> None:
    for path in ("a/1", "a/2", "b/1"):
        stores.files.write(tenant, path, b"x")
    cursor = stores.files.list(tenant, "", 1).cursor
    assert cursor is not None
    for other, prefix, used in ((tenant, "", "x"), (tenant, "a/", cursor), (f"{tenant}x", "", cursor)):
        with pytest.raises(ValueError, match="cursor"):
            stores.files.list(other, prefix, 1, used)


def test_on_aws_a_path_may_be_as_long_as_a_key_has_room(aws: Aws, tenant: str) -> None:
    files = aws_stores(aws).files
    room = 1_024 - len(f"files/{tenant}/")
    assert files.write(tenant, "p" * room, b"x") is True
    assert files.read(tenant, "p" * room) == b"x"
    with pytest.raises(PathRefused, match=str(room)):
        files.write(tenant, "p" * (room + 1), b"x")


def test_on_aws_the_folder_a_console_made_is_no_file(aws: Aws, tenant: str) -> None:
    stores = aws_stores(aws)
    aws.s3.put_object(Bucket=aws.bucket, Key=f"files/{tenant}/folder/", Body=b"")
    stores.files.write(tenant, "folder/a.md", b"x")
    assert listed(stores, tenant) == [["folder/a.md"]]


def test_what_was_replaced_or_deleted_can_be_written_again(aws: Aws, tenant: str) -> None:
    aws.s3.put_bucket_versioning(Bucket=aws.bucket, VersioningConfiguration={"Status": "Enabled"})
    check_versions(S3FileStore(aws.bucket, aws.s3), tenant)


def test_sqlite_keeps_versions_as_s3_does(tenant: str) -> None:
    check_versions(in_memory.files(), tenant)


def check_versions(files: FileStore, tenant: str) -> None:
    assert files.versions(tenant, "payroll.csv") == ()
    files.write(tenant, "payroll.csv", b"Ann,7")
    files.write(tenant, "payroll.csv.bak", b"x")
    files.write(tenant, "payroll.csv", b"")
    files.delete(tenant, "payroll.csv")
    found = files.versions(tenant, "payroll.csv")
    assert [one.is_current for one in found] == [True, False, False]
    assert sorted((one.bytes, one.is_deletion) for one in found) == [(0, False), (0, True), (5, False)]
    (first,) = (one.version_id for one in found if one.bytes == 5)
    (gone,) = (one.version_id for one in found if one.is_deletion)
    for missing in (gone, "no-such-version"):
        with pytest.raises(FileMissing):
            files.read_version(tenant, "payroll.csv", missing)
    with pytest.raises(FileMissing):
        files.read_version("other", "payroll.csv", first)
    files.write(tenant, "payroll.csv", files.read_version(tenant, "payroll.csv", first))
    assert files.read(tenant, "payroll.csv") == b"Ann,7"
    assert len(files.versions(tenant, "payroll.csv")) == 4
