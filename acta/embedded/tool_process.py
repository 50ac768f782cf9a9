"""`python -m acta.embedded.tool_process FOLDER`: calls the tools of a folder, in a process of its own, for the process
that has Acta. It does what `acta.tools.handler` does in Lambda.

It reads a line of JSON for each call, `{"event": …, "secrets": {name: value}}`, and answers with `{"answer": …}` or
`{"raised": type}`. In between it may ask for files, `{"files": [method, …]}`, and gets `{"said": …}`. What a tool
prints goes to standard error, as in its log. When nobody can ask any more, it ends.
"""

import os
import signal
import sys
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from contextlib import suppress
from importlib import import_module
from json import dumps, loads
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any, BinaryIO

from acta.tools.call import File, Files, SecretMissing, no_secrets
from acta.tools.define import MODULE, tools_in
from acta.tools.files import CheckedFiles, writer_of
from acta.tools.log import CallLog
from acta.tools.run import answer


class Pipe:
    """Lines of JSON, to and from the process that has Acta."""

    def __init__(self, given: BinaryIO, out: BinaryIO) -> None:
        self._given = given
        self._out = out
        self._lines: SimpleQueue[Any] = SimpleQueue()
        Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self._given:
            self._lines.put(loads(line))
        with suppress(
            ProcessLookupError
        ):  # nobody waits for what runs now, nor for the processes that it began
            os.killpg(os.getpid(), signal.SIGKILL)
        os._exit(0)

    def get(self) -> Any:
        return self._lines.get()

    def put(self, said: Mapping[str, Any]) -> None:
        self._out.write(dumps(said).encode() + b"\n")
        self._out.flush()

    def ask(self, *asked: Any) -> Any:
        self.put({"files": asked})
        return self.get()["said"]


class AskedFiles(CheckedFiles):
    """Files that the process that has Acta reads and writes."""

    def __init__(self, pipe: Pipe, event: Mapping[str, Any]) -> None:
        given = event["files"]
        super().__init__(
            writer_of(event),
            writes=given["access"] == "write",
            private=given["person"] is not None,
            max_bytes=given["max_bytes"],
        )
        self._pipe = pipe

    def _listed(self, prefix: str) -> Iterable[File]:
        return [File(*each) for each in self._pipe.ask("list", prefix)]

    def _stored(self, path: str) -> bytes | None:
        said = self._pipe.ask("read", path)
        return None if said is None else b64decode(said)

    def _store(self, path: str, data: bytes, write_id: str, *, replace: bool) -> bool:
        return bool(self._pipe.ask("write", path, b64encode(data).decode(), write_id, replace))


def serve(folder: Path, pipe: Pipe, log: CallLog) -> None:
    sys.path.insert(0, str(folder))
    while True:
        asked = pipe.get()
        event, secrets = asked["event"], asked["secrets"]

        def read_secret(name: str, secrets: Mapping[str, str | None] = secrets) -> str:
            if name not in secrets:
                no_secrets(name)
            value = secrets[name]
            if value is None:
                raise SecretMissing(
                    f"the secret {name} has no value: start acta dev with the variable {name}."
                )
            return value

        try:
            with log.during(event):
                files: Files | None = AskedFiles(pipe, event) if "files" in event else None
                tools = tools_in(import_module(MODULE))
                said = answer(tools, event, files=files, read_secret=read_secret, tell=log.failed)
            pipe.put({"answer": said})
        except BaseException as error:  # SystemExit, too, would end the process
            pipe.put({"raised": type(error).__name__})


def main(folder: Path) -> None:
    given, out = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(
        os.open(os.devnull, os.O_RDONLY), 0
    )  # what a tool reads and prints by itself is none of the lines
    os.dup2(2, 1)
    log = CallLog.install()
    serve(folder, Pipe(given, out), log)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
