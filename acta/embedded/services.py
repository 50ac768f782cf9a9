"""Other services of AWS in one process: Lambda, SQS and Secrets Manager, in the form of botocore's clients. Each knows
the requests that Acta makes of it, and no others.
"""

import io
import json
import time
from collections.abc import Callable, Mapping
from sqlite3 import Connection
from threading import Event
from typing import Any, NamedTuple

from acta.embedded.database import Database
from acta.engine.aws.errors import NOT_FOUND, AwsRefused
from acta.engine.tools.secret_reader import EXISTS

Data = dict[str, Any]


class FunctionFailed(Exception):
    """`kind`: the type of the error as Lambda tells it, such as `Runtime.ExitError`."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


class Functions:
    """Lambda. `functions`: by name, without an alias; each takes an event, and what it raises is the function's error.
    `later`: has an invocation done that nobody waits for. `tool`: calls a folder of Python tools, for which an
    execution environment is named; None: there is no such folder.
    """

    def __init__(
        self,
        functions: Mapping[str, Callable[[Data], Data]],
        later: Callable[[str, Data], None],
        tool: Callable[[str, str, Data], Data | None],
    ) -> None:
        self._functions = functions
        self._later = later
        self._tool = tool

    def invoke(self, **asked: Any) -> Data:
        name, event = asked["FunctionName"].partition(":")[0], json.loads(asked["Payload"])
        if asked["InvocationType"] == "Event":
            self._later(name, event)
            return {"Payload": io.BytesIO(b"")}
        function = self._functions.get(name)
        try:
            answer = (
                function(event)
                if function is not None
                else self._tool(name, asked.get("TenantId", ""), event)
            )
        except Exception as error:
            kind = error.kind if isinstance(error, FunctionFailed) else type(error).__name__
            raised = {"errorType": kind, "errorMessage": str(error)}
            return {"FunctionError": "Unhandled", "Payload": io.BytesIO(json.dumps(raised).encode())}
        if answer is None:
            raise AwsRefused("invoke", NOT_FOUND)
        return {"Payload": io.BytesIO(json.dumps(answer).encode())}


class StoredSecrets:
    """Secrets Manager, in the file that the stores share. Only the file's owner can read it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        with database.writing() as connection:
            connection.execute(
                "CREATE TABLE IF NOT EXISTS secrets (name TEXT PRIMARY KEY, text TEXT NOT NULL)"
            )

    def get_secret_value(self, **asked: Any) -> Data:
        with self._database.reading() as connection:
            found = connection.execute(
                "SELECT text FROM secrets WHERE name = ?", (asked["SecretId"],)
            ).fetchone()
        if found is None:
            raise AwsRefused("get_secret_value", NOT_FOUND)
        return {"SecretString": found[0]}

    def put_secret_value(self, **asked: Any) -> Data:
        statement = "UPDATE secrets SET text = ? WHERE name = ?"
        self._change("put_secret_value", NOT_FOUND, statement, asked["SecretString"], asked["SecretId"])
        return {}

    def create_secret(self, **asked: Any) -> Data:
        statement = "INSERT INTO secrets VALUES (?, ?) ON CONFLICT DO NOTHING"
        self._change("create_secret", EXISTS, statement, asked["Name"], asked["SecretString"])
        return {}

    def delete_secret(self, **asked: Any) -> Data:
        self._change("delete_secret", NOT_FOUND, "DELETE FROM secrets WHERE name = ?", asked["SecretId"])
        return {}

    def _change(self, operation: str, otherwise: str, statement: str, *values: str) -> None:
        """Raises AwsRefused with the code `otherwise` where nothing is changed."""
        with self._database.writing() as connection:
            changed = connection.execute(statement, values).rowcount
        if not changed:
            raise AwsRefused(operation, otherwise)


class QueuedMessage(NamedTuple):
    number: int
    queue: str
    record: Data
    """As Lambda brings it."""


class Queues:
    """SQS, in the file that the stores share: a message comes again until somebody has taken it away."""

    def __init__(self, database: Database, *, again_seconds: float, kept_seconds: float) -> None:
        """`again_seconds`: the time between two attempts at a message. `kept_seconds`: then it is given up."""
        self._database = database
        self._again = again_seconds
        self._kept = kept_seconds
        self.sent = Event()
        """Set after each message that was sent. Whoever waits for messages clears it before receiving them."""
        with database.writing() as connection:
            connection.execute(
                "CREATE TABLE IF NOT EXISTS messages (number INTEGER PRIMARY KEY, queue TEXT NOT NULL,"
                " body TEXT NOT NULL, sent REAL NOT NULL, due REAL NOT NULL, received INTEGER NOT NULL)"
            )

    def send_message(self, **asked: Any) -> Data:
        with self._database.writing() as connection:
            self.put(connection, asked["QueueUrl"], asked["MessageBody"], asked.get("DelaySeconds", 0))
        return {}

    def put(self, connection: Connection, queue: str, body: str, delay_seconds: float = 0) -> None:
        """Sends a message in a transaction that writes more than that."""
        now = time.time()
        connection.execute(
            "INSERT INTO messages (queue, body, sent, due, received) VALUES (?, ?, ?, ?, 0)",
            (queue, body, now, now + delay_seconds),
        )
        self.sent.set()

    def receive(self, most: int) -> list[QueuedMessage]:
        """What is due. It is due again later, unless it is taken away."""
        now = time.time()
        with self._database.writing() as connection:
            connection.execute("DELETE FROM messages WHERE sent < ?", (now - self._kept,))
            rows = connection.execute(
                "UPDATE messages SET due = ?, received = received + 1 WHERE number IN"
                " (SELECT number FROM messages WHERE due <= ? ORDER BY due LIMIT ?)"
                " RETURNING number, queue, body, sent, received",
                (now + self._again, now, most),
            ).fetchall()
        return [
            QueuedMessage(number, queue, _record(number, queue, body, sent, received))
            for number, queue, body, sent, received in rows
        ]

    def take_away(self, message: QueuedMessage) -> None:
        with self._database.writing() as connection:
            connection.execute("DELETE FROM messages WHERE number = ?", (message.number,))


def _record(number: int, queue: str, body: str, sent: float, received: int) -> Data:
    told = {"SentTimestamp": str(int(sent * 1_000)), "ApproximateReceiveCount": str(received)}
    arn = f"arn:aws:sqs:::{queue}"
    return {
        "eventSource": "aws:sqs",
        "eventSourceARN": arn,
        "messageId": str(number),
        "body": body,
        "attributes": told,
    }
