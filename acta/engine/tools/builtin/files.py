"""The built-in tools for files (docs/design/tools.md). A result is a sentence of Acta's or a text from outside."""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC
from itertools import islice

from acta.engine.errors import ToolFailed
from acta.engine.files.store import FileChanged, FileExists, FileInfo, FileMissing, FileStore
from acta.engine.tools.port import BuiltinCall
from acta.engine.tools.tool import BuiltinTool, FileArgument, fields, text
from acta.engine.untrusted.encodings import (
    AS_ASKED,
    BY_ITSELF,
    ENCODINGS,
    NOT_KEPT,
    DecodedText,
    NotText,
    check_own_label,
    decoded,
    decoded_as,
    named,
    own_label,
)
from acta.engine.untrusted.path import (
    PRIVATE,
    PathRefused,
    check_folder,
    check_new_path,
    check_shown_path,
    is_private,
)
from acta.engine.untrusted.quoting import OutsideText, clipped_name
from acta.engine.untrusted.validation_messages import similar
from acta.engine.untrusted.visible import visible

PATH = {"type": "string"}
"""Its rules are those of `untrusted/path.py`, whose refusals say how a path is written."""


def list_files(call: BuiltinCall) -> OutsideText:
    path, recursive = call.arguments.get("path", ""), call.arguments.get("recursive", True)
    return OutsideText("listing", path or "/", listing(call.files, call.context.tenant, path, recursive))


def read_file(call: BuiltinCall) -> OutsideText:
    path, tenant = usable_path(call.arguments["path"]), call.context.tenant
    try:
        data = call.files.read(tenant, path)
    except FileMissing:
        raise missing(call.files, tenant, path) from None
    try:
        read = _decoded(call, data)
    except NotText as other:
        raise ToolFailed(
            f"{clipped_name(path)} is {other} ({_count(len(data), 'byte')}), and only text can be read. If it is text, "
            "name its encoding."
        ) from None
    return OutsideText("file", path, read.text, note=read.note)


def _decoded(call: BuiltinCall, data: bytes) -> DecodedText:
    """In the encoding that the call names, if it names one. Raises NotText."""
    asked = call.arguments.get("encoding")
    return decoded_as(data, asked) if asked else decoded(data)


def create_file(call: BuiltinCall) -> str:
    """The write is named after the effect's id and the content. So the result says what the first attempt did, however
    often the call runs.
    """
    path, tenant = usable_path(call.arguments["path"], check_new_path), call.context.tenant
    content, replaces = call.arguments["content"], call.arguments.get("replace") is True
    try:
        data = plain = content.encode()
    except UnicodeEncodeError:
        raise ToolFailed("the content has half of a surrogate pair, which is not valid Unicode.") from None
    seen, is_new = call.seen_etag if replaces else "", True  # a person has approved that
    before, was = DecodedText(""), b""
    if seen != "" or call.arguments.get("encoding"):
        before, was = _replaced(call, path, content)
    label = own_label(content)
    own = named(label)
    # programs that open the file believe what it says of itself; what says nothing any more is in UTF-8 to them
    if own != before.encoding and (own or before.how == BY_ITSELF):
        before = DecodedText("", own or "UTF-8", BY_ITSELF)
    try:
        data = before.encode(content, was)
        check_own_label(content, label)
    except UnicodeEncodeError as lacking:
        char = visible(lacking.object[lacking.start])
        if lacking.reason == NOT_KEPT:
            number = lacking.object.count("\n", 0, lacking.start) + 1
            raise ToolFailed(
                f"{clipped_name(path)} has bytes that are not valid in {before.encoding}, and {char} stands for them. "
                f"A line with them is kept only as it is. Line {number} is another one: send it as it was read, or "
                "write what belongs there."
            ) from None
        raise ToolFailed(
            f"the content says of itself that it is in {label}, which has no {char}. Let it say UTF-8 instead."
            if own
            else f"{clipped_name(path)} is in {before.encoding}, which has no {char}. Leave such characters out, or "
            "write the text under another path, where it is stored in UTF-8. If it is in another one, name that as "
            "encoding."
        ) from None
    if len(data) > call.reach.max_file_bytes:
        raise ToolFailed(
            f"the content has {len(data)} bytes, a file at most {call.reach.max_file_bytes}. Split it up."
        )
    writer = f"{call.context.session_id}/{call.context.effect_id}"
    write_id = f"{writer}/{hashlib.sha256(plain).hexdigest()[:16]}"
    try:
        if seen is None:
            is_new = call.files.write(tenant, path, data, write_id)
        elif seen:
            is_new = False
            call.files.replace(tenant, path, data, seen, write_id)
        else:
            call.files.create(tenant, path, data, write_id)
    except FileChanged:
        raise _changed(call) from None
    except FileExists:
        if replaces:
            raise _changed(call) from None
        raise ToolFailed(
            f"there is a file {clipped_name(path)} already. Choose another path, or call create_file with replace "
            "true: then a person is asked before the file is replaced."
        ) from None
    marked = " with a byte order mark" * bool(before.mark)
    why = BY_ITSELF if own else AS_ASKED if before.how == AS_ASKED else "as before"
    kept = f" It is in {before.encoding}{marked}, {why}." if data != plain else ""
    return f"{'Created' if is_new else 'Replaced'} {path}, {_count(len(data), 'byte')}.{kept}"


def _replaced(call: BuiltinCall, path: str, content: str) -> tuple[DecodedText, bytes]:
    """What is at the path, and its bytes, if it is a text. What takes its place is stored in the same encoding, so what
    was read and written again has the same bytes, also where the encoding was guessed. A guess that was wrong is put
    right as in `read_file`.
    """
    try:
        data = call.files.read(call.context.tenant, path)
    except FileMissing:
        data = b""
    try:
        before = _decoded(call, data)
    except NotText as other:
        if call.arguments.get("encoding"):
            raise ToolFailed(f"the content was {other}.") from None
        return DecodedText(""), b""
    if call.context.rerun and before.how != AS_ASKED:
        # An earlier attempt may have written the content, of which the guess may be another.
        for name in (before.encoding, *ENCODINGS):
            with suppress(UnicodeEncodeError):
                if before._replace(encoding=name).encode(content, data) == data:
                    return before._replace(encoding=name), data
    return before, data


def delete_file(call: BuiltinCall) -> str:
    path, tenant = usable_path(call.arguments["path"]), call.context.tenant
    try:
        call.files.delete(tenant, path, call.seen_etag)
    except FileChanged:
        raise _changed(call) from None
    except FileMissing:
        if not call.context.rerun:  # else an earlier attempt of this call has deleted the file
            raise missing(call.files, tenant, path) from None
    return f"Deleted {path}."


def _changed(call: BuiltinCall) -> ToolFailed:
    """The error that the file is not the one that a person was shown. What an earlier attempt did stays done."""
    path = clipped_name(call.arguments["path"])
    earlier = (
        " An earlier attempt of this call may have had its effect before that." if call.context.rerun else ""
    )
    return ToolFailed(
        f"{path} was changed after a person was asked about this call, so the file was left as it is.{earlier} Look at "
        "it, and make the call again if it is still right; a person is asked again."
    )


TOOLS = (
    BuiltinTool(
        name="list_files",
        description="List the user's files and folders, with sizes and times of change.",
        input_schema=fields(
            path=text("A folder"), recursive={"type": "boolean", "description": "Default true"}
        ),
        bounded=True,
        run=list_files,
    ),
    BuiltinTool(
        name="read_file",
        description="Read one of the user's text files.",
        input_schema=fields(("path",), path=PATH, encoding=text("Where a guess was wrong", maxLength=60)),
        file=FileArgument(argument="path", use="read"),
        bounded=True,
        run=read_file,
    ),
    BuiltinTool(
        name="create_file",
        description=(
            "Write a file, such as reports/may.md. replace true overwrites one, after a person agrees."
        ),
        input_schema=fields(
            ("path", "content"),
            path=PATH,
            content={"type": "string"},
            replace={"type": "boolean"},
            encoding=text("As read_file needed it", maxLength=60),
        ),
        effect="idempotent",
        risk="write",
        file=FileArgument(argument="path", use="write", content="content", replace="replace"),
        bounded=True,
        run=create_file,
    ),
    BuiltinTool(
        name="delete_file",
        description="Delete a file. A person is asked first.",
        input_schema=fields(("path",), path=PATH),
        effect="idempotent",
        risk="write",
        high_stakes=True,
        file=FileArgument(argument="path", use="delete"),
        question="May the agent delete a file?",
        run=delete_file,
    ),
)

MAX_ENTRIES = 500
MAX_SCANNED = 5_000
"""The most files that are read to find the entries of one folder."""
PAGE = 1_000


def listing(files: FileStore, tenant: str, path: str, recursive: bool) -> str:
    """A line with the number of files and folders, then a line for each, files with their size in bytes and the time of
    their last change (`2026-11-27T08:00:00Z`).

    Paths start at the top of the tenant's storage. `recursive`: folders below are listed, too. Raises ToolFailed.
    """
    try:
        folder = check_folder(path)
    except PathRefused as refused:
        raise ToolFailed(
            f"{refused}. Name a folder such as reports, or leave path out for the top."
        ) from None
    found: dict[str, FileInfo] = {}
    folders: set[str] = set()
    more = False
    for scanned, file in enumerate(files_under(files, tenant, folder)):
        if scanned == MAX_SCANNED or len(found) + (0 if recursive else len(folders)) > MAX_ENTRIES:
            more = True
            break
        parts = file.path.removeprefix(folder).split("/")
        depths = range(1, len(parts)) if recursive else range(1, min(2, len(parts)))
        folders |= {folder + "/".join(parts[:depth]) + "/" for depth in depths}
        if recursive or len(parts) == 1:
            found[file.path] = file
    if not found and not folders:
        name = folder.removesuffix("/")
        if name and any(file.path == name for file in files.list(tenant, name, 1).files):
            raise ToolFailed(
                f"{clipped_name(name)} is a file, not a folder. Use read_file to see what is in it."
            )
        return f"No files in {_shown_folder(folder)}."
    shown = sorted([*found, *(() if recursive else folders)])
    head = f"{_count(len(found), 'file')}, {_count(len(folders), 'folder')} in {_shown_folder(folder)}:"
    if more or len(shown) > MAX_ENTRIES:
        shown = shown[:MAX_ENTRIES]
        head = (
            f"{_count(len(shown), 'entry', 'entries')} of more in {_shown_folder(folder)}; "
            "list a folder to see the others:"
        )
    return "\n".join([head, *(_line(name, found.get(name)) for name in shown)])


def _line(name: str, file: FileInfo | None) -> str:
    """A file with its size and the time of its last change, or only a name."""
    shown = visible(name, keep_newlines=False)
    if file is None:
        return shown
    changed = file.modified_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return f"{shown}  {_count(file.bytes, 'byte')}  {changed}"


def files_under(files: FileStore, tenant: str, folder: str) -> Iterator[FileInfo]:
    """The files under a folder. The next page is read only when the caller needs it."""
    cursor = None
    while True:
        page = files.list(tenant, folder, PAGE, cursor)
        yield from page.files
        cursor = page.cursor
        if cursor is None:
            return


def _shown_folder(folder: str) -> str:
    return folder if is_private(folder) else f"/{folder}"


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


MAX_COMPARED = 1_000
"""The most files whose names are compared with a missing one."""
MAX_NEAR = 3


def usable_path(path: str, check: Callable[[str], str] = check_shown_path) -> str:
    """Raises ToolFailed."""
    try:
        return check(path)
    except PathRefused as refused:
        raise ToolFailed(f"{refused}. Use a relative path such as reports/may.md.") from None


def missing(files: FileStore, tenant: str, path: str) -> ToolFailed:
    """The error that the file does not exist, with similar names of files that do: they are others' words."""
    near = similar_paths(files, tenant, path)
    if not near:
        return ToolFailed(
            f"there is no file {clipped_name(path)}. Use list_files to see which files there are."
        )
    lines = "\n".join(_line(name, None) for name in near)
    names = OutsideText("listing", "near names", lines)
    return ToolFailed(f"there is no file {clipped_name(path)}. These have near names:", names)


def similar_paths(files: FileStore, tenant: str, path: str) -> list[str]:
    """Files with the same name in other folders, then similar paths, then similar names; at most `MAX_NEAR`."""
    listed = files.list(tenant, PRIVATE if is_private(path) else "", MAX_COMPARED).files
    names = {file.path: file.path.rsplit("/", 1)[-1].casefold() for file in listed}
    name = path.rsplit("/", 1)[-1].casefold()
    same_name = [one for one, its_name in names.items() if its_name == name]
    similar_path = similar(path, names, MAX_NEAR)
    close = similar(name, set(names.values()), MAX_NEAR)
    similar_name = [one for wanted in close for one, its_name in names.items() if its_name == wanted]
    return list(islice(dict.fromkeys([*same_name, *similar_path, *similar_name]), MAX_NEAR))
