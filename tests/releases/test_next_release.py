"""This release and the next one read what the other has written (docs/design/releases.md 6)."""

import base64
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from acta.engine.errors import SchemaUnknown
from acta.engine.log.commit import Commit
from acta.engine.store.schema import CURRENT, NEXT
from acta.engine.store.table_layout import from_commit, to_commit, unpack
from tests.releases.following import FIELD, run
from tests.stores.documents import full_commit, largest_commit, make_commit

pytestmark = pytest.mark.contract

COMMITS = (make_commit("t", "ses_1", 1), full_commit("t", "ses_1", 1), largest_commit("t", "ses_1"))
WRITES_AGAIN = """
import base64, json, sys
from acta.engine.store.table_layout import dump, to_commit
from acta.engine.log.beside import in_version
from acta.engine.store.schema import CURRENT, OLDEST_WRITTEN
def written(commit, version):
    return base64.b64encode(dump(in_version(commit, version), version)).decode()
read = [to_commit(OLDEST_WRITTEN, base64.b64decode(each)) for each in json.load(sys.stdin)]
assert {each.head.version for each in read} == {CURRENT}
json.dump([{version: written(each, version) for version in (OLDEST_WRITTEN, CURRENT)} for each in read], sys.stdout)
"""
"""What the next release does: it reads commits, and writes each in both versions that it may write."""


def in_json(body: bytes) -> Any:
    return json.loads(unpack(body))


def test_a_document_goes_there_and_back_between_two_releases(tmp_path: Path) -> None:
    given = [base64.b64encode(from_commit(each)).decode() for each in COMMITS]
    answers: list[Mapping[str, str]] = json.loads(run(tmp_path, WRITES_AGAIN, json.dumps(given)))
    assert len(answers) == len(COMMITS)
    for ours, answer in zip(COMMITS, answers, strict=True):
        older, newer = (base64.b64decode(answer[str(version)]) for version in (CURRENT, NEXT))
        assert older == from_commit(ours), "in our version the new field is left out"
        read = to_commit(NEXT, newer)
        value = in_json(newer)["head"][FIELD]
        assert without_unknown(read) == ours
        assert in_json(from_commit(read))["head"][FIELD] == value, "what we do not know is written back"
        with pytest.raises(SchemaUnknown):
            to_commit(NEXT + 1, newer)


def without_unknown(commit: Commit) -> Commit:
    head = {name: value for name, value in in_json(from_commit(commit))["head"].items() if name != FIELD}
    return commit.model_copy(update={"head": type(commit.head).model_validate(head)})
