"""Paths of the API. What is put into them cannot leave its place."""

from urllib.parse import quote


def session_path(session_id: str, *rest: str) -> str:
    """`/v1/sessions/{session_id}`, with the parts of `rest` below it."""
    return path_of("sessions", session_id, *rest)


def tool_secret_path(name: str) -> str:
    return path_of("tool-secrets", name)


def file_path(name: str) -> str:
    return f"/v1/files/{quote(name, safe='/')}"


def path_of(*parts: str) -> str:
    """`/v1/` and the parts."""
    return "/".join(["/v1", *(quote(part, safe="") for part in parts)])
