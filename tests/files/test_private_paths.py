"""Where a person's private files are, and what a listing shows."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acta.engine.untrusted.path import (
    AFTER_PRIVATE,
    PathRefused,
    check_new_path,
    check_path,
    listed_path,
    private_folder,
    stored_path,
)

SUBJECTS = [
    "ann",
    "Ann",
    "ann ",
    "\xe9",
    "e\u0301",
    "ann/bob",
    "../bob",
    "auth0|ann",
    "a" * 128,
    "a" * 127,
    "%",
    "~",
]


@given(st.text(min_size=1), st.text(min_size=1))
def test_two_subjects_have_two_folders(one: str, other: str) -> None:
    assert (private_folder(one) == private_folder(other)) == (one == other)


def test_folders_stay_apart_where_a_disk_ignores_case_and_unicode_s_forms() -> None:
    folded = {unicodedata.normalize("NFC", private_folder(subject)).casefold() for subject in SUBJECTS}
    assert len(folded) == len(SUBJECTS)


@pytest.mark.parametrize("subject", SUBJECTS)
def test_a_folder_has_one_length_and_no_separator_and_no_path_leads_into_it(subject: str) -> None:
    folder = private_folder(subject)
    assert re.fullmatch(r"~%[0-9a-f]{64}", folder)
    with pytest.raises(PathRefused, match="percent"):
        check_path(f"{folder}/notes.md")


def test_nobody_has_no_folder() -> None:
    with pytest.raises(ValueError, match="person"):
        private_folder("")


def test_the_home_is_the_asker_s_and_everything_else_is_the_tenant_s() -> None:
    assert stored_path("~/notes.md", "ann") == f"{private_folder('ann')}/notes.md"
    assert stored_path("a/~/notes.md", "ann") == "a/~/notes.md"
    assert stored_path("~old/notes.md", "ann") == "~old/notes.md"
    with pytest.raises(PathRefused, match="visibility private"):
        stored_path("~/notes.md", None)


@pytest.mark.parametrize("path", ["~", "~ann/notes.md", "~notes.md", "~.md"])
def test_no_new_file_has_a_name_that_looks_like_a_person_s(path: str) -> None:
    assert check_path(path) == path
    with pytest.raises(PathRefused, match="begins with ~"):
        check_new_path(path)
    assert check_new_path(f"~/{path}") == f"~/{path}"
    assert check_new_path(f"a/{path}") == f"a/{path}"


def test_a_tenant_s_listing_has_nobody_s_files_and_a_person_s_has_their_names() -> None:
    stored = stored_path("~/a/notes.md", "ann")
    assert listed_path(stored, "", "ann") is None
    assert listed_path("~old", "", "ann") == "~old"
    assert listed_path(stored, "~/a/", "ann") == "~/a/notes.md"
    assert stored < AFTER_PRIVATE < "~&"
