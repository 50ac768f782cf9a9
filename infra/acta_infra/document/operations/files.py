"""The tenant's storage, which its agents' file tools read and write."""

from acta_engine.sessions.record_shapes import DeletedFile, File, FileVersion, WrittenFile
from acta_infra.document.operations.operation import NOTHING, Answer, Operation, ok

BYTES = {"application/octet-stream": {"type": "string", "format": "binary"}}

FILES = {
    "GET /v1/files": Operation(
        "listFiles",
        "List files",
        (
            Answer(
                200,
                "Files by path. With `deleted=1` those that were deleted.",
                (File, DeletedFile),
                form="page",
            ),
        ),
        about="A page of deleted files looks at 5,000 versions: it may be short, or empty, and have a `next_cursor`.",
        parameters={
            "prefix": "Only paths that begin so; `~/`: your own files.",
            "deleted": "`1`: files that were deleted and not written again, and not what there is.",
        },
    ),
    "GET /v1/files/{path}": Operation(
        "readFile",
        "Read a file, or list its versions",
        (
            Answer(
                200,
                "The file's bytes: text where they are text, else something to save. With `versions=1` a page of its "
                "newest 100 versions.",
                (FileVersion,),
                form="page",
                raw={"text/plain; charset=utf-8": {"type": "string"}, **BYTES},
            ),
        ),
        codes=("NOT_FOUND", "PAYLOAD_TOO_LARGE"),
        parameters={
            "versions": "`1`: its versions, and not its bytes.",
            "version": "The `version_id` of an earlier version, whose bytes are answered.",
        },
    ),
    "PUT /v1/files/{path}": Operation(
        "writeFile",
        "Write a file",
        (
            ok(WrittenFile, says="There was such a file; this is its newest version now."),
            ok(WrittenFile, says="The file is new.", status=201),
        ),
        about="The body is the file, at most 4 MB, whatever its Content-Type. Without a body the file is empty. "
        "With `If-None-Match: *` only a new file is written, with `If-Match` and the `etag` of its current version "
        "(of `versions=1`) only what you have seen is replaced: 412 otherwise.",
        codes=("PAYLOAD_TOO_LARGE", "PRECONDITION_FAILED"),
        takes=("If-Match", "If-None-Match"),
        sends=BYTES,
    ),
    "POST /v1/files/{path}": Operation(
        "restoreFile",
        "Restore an earlier version of a file",
        (ok(WrittenFile, says="It was written again, as a version more."),),
        about="With `If-Match` and the `etag` of the current version, or `If-None-Match: *` where it is deleted, only "
        "over what you have seen: 412 otherwise.",
        codes=("NOT_FOUND", "PRECONDITION_FAILED"),
        takes=("If-Match", "If-None-Match"),
        parameters={"restore": "The `version_id`."},
    ),
    "DELETE /v1/files/{path}": Operation(
        "deleteFile",
        "Delete a file",
        (NOTHING,),
        about="Earlier versions are kept for 30 days.",
        codes=("NOT_FOUND",),
    ),
}
