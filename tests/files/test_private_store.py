"""A person's private files: theirs alone, and in no listing of the tenant's (ADR 50)."""

from collections.abc import Callable
from itertools import product

import pytest

from acta.engine.files.s3 import S3FileStore
from acta.engine.files.store import FileMissing, FileStore
from acta.engine.untrusted.path import PathRefused, private_folder
from tests.stores import in_memory
from tests.stores.backends import Aws, Stores

pytestmark = pytest.mark.contract


def listed(files: FileStore, tenant: str, prefix: str = "", limit: int = 100) -> list[str]:
    found, cursor = [], None
    while True:
        page = files.list(tenant, prefix, limit, cursor)
        assert len(page.files) == limit or page.cursor is None
        found += [info.path for info in page.files]
        cursor = page.cursor
        if cursor is None:
            return found


def test_a_private_file_is_read_replaced_and_deleted_by_its_owner_alone(stores: Stores, tenant: str) -> None:
    ann, bob = stores.files.seen_by("ann"), stores.files.seen_by("bob")
    assert ann.write(tenant, "~/diary.md", b"hers") is True
    assert ann.write(tenant, "~/diary.md", b"hers!") is False
    assert ann.read(tenant, "~/diary.md") == b"hers!"
    for path in ("~/diary.md", "diary.md"):
        with pytest.raises(FileMissing):
            bob.read(tenant, path)
        with pytest.raises(FileMissing):
            bob.delete(tenant, path)
        assert bob.versions(tenant, path) == ()
    assert bob.write(tenant, "~/diary.md", b"his") is True
    ann.delete(tenant, "~/diary.md")
    assert bob.read(tenant, "~/diary.md") == b"his"


def test_without_a_person_there_is_no_private_file(stores: Stores, tenant: str) -> None:
    stores.files.seen_by("ann").write(tenant, "~/diary.md", b"hers")
    acts: tuple[Callable[[FileStore], object], ...] = (
        lambda files: files.read(tenant, "~/diary.md"),
        lambda files: files.write(tenant, "~/diary.md", b""),
        lambda files: files.create(tenant, "~/diary.md", b""),
        lambda files: files.delete(tenant, "~/diary.md"),
        lambda files: files.versions(tenant, "~/diary.md"),
        lambda files: files.read_version(tenant, "~/diary.md", "v0"),
        lambda files: files.list(tenant, "~/", 10),
    )
    for nobody in (stores.files, stores.files.seen_by("ann").seen_by(None)):
        for act in acts:
            with pytest.raises(PathRefused, match="visibility private"):
                act(nobody)
        with pytest.raises(PathRefused, match="percent"):
            nobody.read(tenant, f"{private_folder('ann')}/diary.md")


def test_the_same_person_of_another_tenant_has_other_files(stores: Stores, tenant: str) -> None:
    stores.files.seen_by("ann").write(tenant, "~/diary.md", b"hers")
    with pytest.raises(FileMissing):
        stores.files.seen_by("ann").read(f"{tenant}x", "~/diary.md")


@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_a_listing_has_the_tenant_s_files_or_one_s_own_and_its_pages_tell_nothing_else(
    stores: Stores, tenant: str, limit: int
) -> None:
    shared = ["a.md", "z/b.md", "\xfc.md"]
    for path in shared:
        stores.files.write(tenant, path, b"x")
    for user, path in product(("ann", "bob"), ("diary.md", "plans/may.md", "\xfc.md")):
        stores.files.seen_by(user).write(tenant, f"~/{path}", b"x")
    for files in (stores.files, stores.files.seen_by("ann")):
        assert listed(files, tenant, "", limit) == shared
        assert listed(files, tenant, "~", limit) == []
    own = stores.files.seen_by("ann")
    assert listed(own, tenant, "~/", limit) == ["~/diary.md", "~/plans/may.md", "~/\xfc.md"]
    assert listed(own, tenant, "~/plans/", limit) == ["~/plans/may.md"]
    assert listed(stores.files.seen_by("eve"), tenant, "~/", limit) == []


def test_a_cursor_of_one_person_s_listing_is_none_of_another_s(stores: Stores, tenant: str) -> None:
    ann = stores.files.seen_by("ann")
    for path in ("~/a", "~/b"):
        ann.write(tenant, path, b"x")
    cursor = ann.list(tenant, "~/", 1).cursor
    assert cursor is not None
    for files, prefix in ((stores.files.seen_by("bob"), "~/"), (ann, "")):
        with pytest.raises(ValueError, match="cursor"):
            files.list(tenant, prefix, 1, cursor)


def test_on_aws_a_private_path_may_be_as_long_as_a_key_has_room(aws: Aws, tenant: str) -> None:
    files = S3FileStore(aws.bucket, aws.s3).seen_by("ann")
    room = 1_024 - len(f"files/{tenant}/{private_folder('ann')}/") + len("~/")
    files.write(tenant, "~/" + "p" * (room - 2), b"x")
    with pytest.raises(PathRefused, match=f"than {room} bytes"):
        files.write(tenant, "~/" + "p" * (room - 1), b"x")


def test_an_earlier_version_of_a_private_file_is_its_owner_s_to_restore(aws: Aws, tenant: str) -> None:
    aws.s3.put_bucket_versioning(Bucket=aws.bucket, VersioningConfiguration={"Status": "Enabled"})
    check_versions(S3FileStore(aws.bucket, aws.s3), tenant)


def test_sqlite_keeps_private_versions_as_s3_does(tenant: str) -> None:
    check_versions(in_memory.files(), tenant)


def check_versions(files: FileStore, tenant: str) -> None:
    ann, bob = files.seen_by("ann"), files.seen_by("bob")
    ann.write(tenant, "~/diary.md", b"first")
    bob.write(tenant, "~/diary.md", b"his")
    ann.delete(tenant, "~/diary.md")
    (first,) = (one.version_id for one in ann.versions(tenant, "~/diary.md") if not one.is_deletion)
    with pytest.raises(FileMissing):
        bob.read_version(tenant, "~/diary.md", first)
    ann.write(tenant, "~/diary.md", ann.read_version(tenant, "~/diary.md", first))
    assert (ann.read(tenant, "~/diary.md"), bob.read(tenant, "~/diary.md")) == (b"first", b"his")
