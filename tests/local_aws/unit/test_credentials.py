"""The credentials of a run are random, in a file of their owner's, and in nothing that is printed."""

import os
import stat
from configparser import ConfigParser
from pathlib import Path

import pytest

from acta.local_aws.credentials import Credentials, NoCredentials


def test_each_run_has_its_own() -> None:
    made = [Credentials.new() for _ in range(20)]
    assert len({each.access_key_id for each in made}) == len({each.secret_access_key for each in made}) == 20
    assert {(each.access_key_id[:4], len(each.access_key_id)) for each in made} == {("AKIA", 20)}


def test_temporary_ones_have_a_token() -> None:
    temporary = Credentials.new(temporary=True)
    assert temporary.access_key_id.startswith("ASIA")
    assert temporary.as_variables()["AWS_SESSION_TOKEN"] == temporary.session_token
    assert set(Credentials.new().as_variables()) == {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}


def test_the_file_is_its_owner_s_and_replaces_that_of_the_run_before(tmp_path: Path) -> None:
    path, credentials = tmp_path / "credentials", Credentials.new()
    path.write_text("of a run that was killed")
    path.chmod(0o644)
    (tmp_path / "credentials.new").write_text("half written")
    before = os.umask(0)
    try:
        credentials.to_file(path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert Credentials.from_file(path) == credentials
    assert [each.name for each in tmp_path.iterdir()] == ["credentials"]


def test_the_file_is_one_that_aws_tools_read(tmp_path: Path) -> None:
    credentials = Credentials.new()
    credentials.to_file(tmp_path / "credentials")
    read = ConfigParser(interpolation=None)
    read.read(tmp_path / "credentials")
    assert dict(read["default"]) == credentials.as_arguments()


@pytest.mark.parametrize(
    "content", [None, "", "[default]\n", "no section\n", "[default]\naws_access_key_id = A\n"]
)
def test_without_a_run_one_line_says_where_it_was_looked_for(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "credentials"
    if content is not None:
        path.write_text(content)
    with pytest.raises(NoCredentials) as none:
        Credentials.from_file(path)
    assert str(path) in str(none.value)
    assert "\n" not in str(none.value)


def test_no_secret_is_printed() -> None:
    credentials = Credentials.new(temporary=True)
    assert credentials.session_token is not None
    for secret in (credentials.secret_access_key, credentials.session_token):
        assert secret not in f"{credentials} {credentials!r}"
