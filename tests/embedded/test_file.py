"""What the embedded table keeps in its file, whoever dies, and what it tells of its changes."""

import os
import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from acta.embedded.objects import SqliteObjects
from acta.embedded.table import SqliteTable
from acta.engine.aws.errors import AwsRefused
from acta.engine.errors import StoreUnavailable
from acta.engine.store.table_layout import Item

PAIRS = """
import sys
from itertools import count
from pathlib import Path
from acta.embedded.table import SqliteTable

table = SqliteTable(Path(sys.argv[1]), streamed=["t"])
for number in count():
    puts = [{"Put": {"TableName": "t", "Item": {"pk": {"S": pk}, "sk": {"S": f"{number:09d}"}}}} for pk in ("a", "b")]
    table.transact_write_items(TransactItems=puts)
    print(number, flush=True)
"""

LEFT_AT_WORK = """
import sys
from itertools import count
from pathlib import Path
from threading import Event, Thread
from acta.embedded.table import SqliteTable

table = SqliteTable(Path(sys.argv[1]), streamed=["t"])
begun = [Event() for _ in range(8)]

def work(at):
    for number in count():
        table.put_item(TableName="t", Item={"pk": {"S": str(at)}, "sk": {"S": str(number)}})
        table.changes(10)
        begun[at].set()

for at in range(8):
    Thread(target=work, args=(at,), daemon=True).start()
for each in begun:
    each.wait()
table.database.hold()
"""


def item(sk: str, **attributes: dict[str, str]) -> Item:
    return {"pk": {"S": "p"}, "sk": {"S": sk}, **attributes}


def keys(table: SqliteTable, pk: str = "p") -> list[str]:
    found = table.query(
        TableName="t", KeyConditionExpression="pk = :pk", ExpressionAttributeValues={":pk": {"S": pk}}
    )
    return [each["sk"]["S"] for each in found["Items"]]


def test_what_was_answered_is_there_after_a_kill_and_no_transaction_is_half_there(tmp_path: Path) -> None:
    path = tmp_path / "state" / "acta.sqlite"
    with subprocess.Popen(
        [sys.executable, "-c", PAIRS, str(path)], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        answered = [next(writer.stdout).strip() for _ in range(200)][-1]
        os.kill(writer.pid, signal.SIGKILL)
        writer.wait()
        answered = [answered, *writer.stdout.read().split()][-1]

    table = SqliteTable(path, streamed=["t"])
    assert keys(table, "a") == keys(table, "b")
    assert int(keys(table, "a")[-1]) >= int(answered)
    assert len(table.changes(1_000_000)) == 2 * len(keys(table, "a"))
    assert path.stat().st_mode & 0o077 == 0, "others of the machine may read it"


def test_threads_share_it_and_no_addition_is_lost() -> None:
    table = SqliteTable(None)

    def add(_: int) -> None:
        table.update_item(
            TableName="t",
            Key=item("n"),
            UpdateExpression="ADD n :one",
            ExpressionAttributeValues={":one": {"N": "1"}},
        )

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(add, range(400)))
    assert table.get_item(TableName="t", Key=item("n"))["Item"]["n"] == {"N": "400"}


def test_items_whose_time_is_over_are_gone_when_the_file_is_opened_again(tmp_path: Path) -> None:
    table = SqliteTable(tmp_path / "a")
    table.put_item(TableName="t", Item=item("over", ttl={"N": "1"}))
    table.put_item(TableName="t", Item=item("later", ttl={"N": "99999999999"}))
    table.put_item(TableName="t", Item=item("always"))
    table.close()
    assert keys(SqliteTable(tmp_path / "a")) == ["always", "later"]


def test_changes_are_kept_in_their_order_until_they_are_forgotten(tmp_path: Path) -> None:
    table = SqliteTable(tmp_path / "a", streamed=["t"])
    table.changed.clear()
    table.put_item(TableName="t", Item=item("a"))
    table.put_item(TableName="t", Item=item("a"))
    table.put_item(TableName="t", Item=item("a", n={"N": "1"}))
    table.put_item(TableName="unread", Item=item("a"))
    with pytest.raises(AwsRefused):
        table.put_item(TableName="t", Item=item("a"), ConditionExpression="attribute_not_exists(pk)")
    table.delete_item(TableName="t", Key=item("a"))
    assert table.changed.is_set()
    table.close()

    table = SqliteTable(tmp_path / "a", streamed=["t"])
    assert table.changed.is_set(), "nobody would look at those of an earlier process"
    first, *others = table.changes(100)
    assert [each["eventName"] for each in (first, *others)] == ["INSERT", "MODIFY", "REMOVE"]
    assert first["dynamodb"]["Keys"] == item("a")
    position = int(first["dynamodb"]["SequenceNumber"])
    table.forget_changes(position)
    assert table.changes(100) == others


def test_what_the_stores_do_not_use_says_that_it_is_not_known() -> None:
    table = SqliteTable(None)
    with pytest.raises(NotImplementedError, match="ReturnConsumedCapacity"):
        table.get_item(TableName="t", Key=item("a"), ReturnConsumedCapacity="TOTAL")
    with pytest.raises(NotImplementedError, match="ReturnValues=ALL_OLD"):
        table.put_item(TableName="t", Item=item("a"), ReturnValues="ALL_OLD")
    with pytest.raises(NotImplementedError, match="IndexName=by_age"):
        table.query(TableName="t", IndexName="by_age", KeyConditionExpression="pk = :pk")
    with pytest.raises(NotImplementedError, match=r"size\(z\)"):
        table.put_item(TableName="t", Item=item("a"), ConditionExpression="size(z) > :n")
    with pytest.raises(NotImplementedError, match="Delimiter"):
        SqliteObjects(table).list_objects_v2(Bucket="b", Delimiter="/")
    assert keys(table) == []


def test_a_file_that_another_program_holds_is_a_store_that_does_not_answer(tmp_path: Path) -> None:
    table = SqliteTable(tmp_path / "a")
    with table.database.reading() as connection:
        connection.execute("PRAGMA busy_timeout=0")
    other = sqlite3.connect(tmp_path / "a", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailable, match="locked"):
        table.put_item(TableName="t", Item=item("a"))
    other.execute("ROLLBACK")
    table.put_item(TableName="t", Item=item("a"))
    assert keys(table) == ["a"]


REFUSED = """
import sys
from acta.engine.agents.agent import built_in
from acta.engine.agents.store import DefinitionExists
from acta.testing.in_process import InProcess

definitions = InProcess(None).definitions
agent = built_in().model_copy(update={"agent_id": "own"})
definitions.create_agent("acme", agent)
try:
    definitions.create_agent("acme", agent)
except DefinitionExists:
    print("refused", [name for name in ("boto3", "botocore") if name in sys.modules])
"""


def test_no_sdk_is_imported_even_where_a_request_is_refused() -> None:
    ran = subprocess.run([sys.executable, "-c", REFUSED], capture_output=True, text=True, check=True)
    assert ran.stdout == "refused []\n"


def test_a_process_ends_in_order_while_its_threads_are_at_work(tmp_path: Path) -> None:
    for _ in range(5):
        program = [sys.executable, "-c", LEFT_AT_WORK, str(tmp_path / "acta.db")]
        ended = subprocess.run(program, capture_output=True, text=True, check=False)
        assert (ended.returncode, ended.stderr) == (0, "")
