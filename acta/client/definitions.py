"""Calls about files and definitions: agents, tools and their secrets, notifications, prompts, memories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from acta.client.callers import C, Calls, listing, operation
from acta.client.flows import (
    Flow,
    Request,
    Stream,
    content,
    data,
    file_path,
    given,
    pages,
    path_of,
    tool_secret_path,
)

if TYPE_CHECKING:
    from acta.client import shapes

Fields = Mapping[str, Any]
"""Of a body, as the deployment's document has them."""


class FileCalls(Calls[C]):
    """The tenant's storage, which the agents' file tools see. A path `~/…` is your own; nobody else sees it."""

    @listing
    def list(self, prefix: str | None = None) -> Stream[shapes.File]:
        return pages(path_of("files"), prefix=prefix)

    @operation
    def read(self, path: str, version_id: str | None = None) -> Flow[bytes]:
        """As it is, or as it was in that version."""
        return content(Request("GET", file_path(path), {"version": version_id}))

    @operation
    def write(
        self, path: str, content: bytes, *, new: bool = False, etag: str | None = None
    ) -> Flow[shapes.WrittenFile]:
        """Replaces what is there. PreconditionFailed with `new` where something is, with `etag` where it is not the
        version that has this one.
        """
        headers = {"Content-Type": "application/octet-stream", **given(**{"If-Match": etag})}
        if new:
            headers["If-None-Match"] = "*"
        return data(Request("PUT", file_path(path), content=content, headers=headers))

    @operation
    def delete(self, path: str) -> Flow[None]:
        return data(Request("DELETE", file_path(path)))

    @listing
    def deleted(self, prefix: str | None = None) -> Stream[shapes.DeletedFile]:
        """Those that were deleted and not written again. `versions` and `restore` bring one back."""
        return pages(path_of("files"), prefix=prefix, deleted="1")

    @listing
    def versions(self, path: str) -> Stream[shapes.FileVersion]:
        """What it was, newest first, also of a deleted one."""
        return pages(file_path(path), versions="1")

    @operation
    def restore(self, path: str, version_id: str) -> Flow[shapes.WrittenFile]:
        """Writes the earlier version again."""
        return data(Request("POST", file_path(path), {"restore": version_id}, body={}))


class AgentCalls(Calls[C]):
    """Who works: a prompt, a model, tools, limits. Changed by admins, in force from the next turn."""

    @listing
    def list(self) -> Stream[shapes.Agent]:
        return pages(path_of("agents"))

    @operation
    def get(self, agent_id: str) -> Flow[shapes.Agent]:
        return data(Request("GET", path_of("agents", agent_id)))

    @operation
    def create(self, definition: Fields) -> Flow[shapes.Agent]:
        return data(Request("POST", path_of("agents"), body=dict(definition)))

    @operation
    def replace(self, agent_id: str, definition: Fields) -> Flow[shapes.Agent]:
        """The whole definition. With its `version`, Conflict where somebody has changed it since."""
        return data(Request("PUT", path_of("agents", agent_id), body=dict(definition)))

    @operation
    def delete(self, agent_id: str, version: int | None = None) -> Flow[None]:
        """With its `version`, Conflict where somebody has changed it since."""
        return data(Request("DELETE", path_of("agents", agent_id), {"version": version}))


class ToolCalls(Calls[C]):
    """What agents may call. Changed by admins."""

    @listing
    def list(self) -> Stream[shapes.Tool]:
        return pages(path_of("tools"))

    @operation
    def get(self, name: str) -> Flow[shapes.Tool]:
        return data(Request("GET", path_of("tools", name)))

    @operation
    def create(self, definition: Fields) -> Flow[shapes.Tool]:
        return data(Request("POST", path_of("tools"), body=dict(definition)))

    @operation
    def replace(self, name: str, definition: Fields) -> Flow[shapes.Tool]:
        """The whole tool. With its `version`, Conflict where somebody has changed it since."""
        return data(Request("PUT", path_of("tools", name), body=dict(definition)))

    @operation
    def delete(self, name: str, version: int | None = None, *, force: bool = False) -> Flow[None]:
        """With its `version`, Conflict where somebody has changed it since. `force`: although agents name it."""
        wanted = {"version": version, "force": True if force else None}
        return data(Request("DELETE", path_of("tools", name), wanted))

    @operation
    def call(self, name: str, input: Fields, *, confirm: bool = False) -> Flow[shapes.ToolTrial]:
        """Tries it once outside a session. `confirm`: also a tool of high stakes. For admins."""
        body = {"input": dict(input), "confirm": confirm}
        return data(Request("POST", path_of("tools", name, "call"), body=body))


class McpServerCalls(Calls[C]):
    """Servers whose tools agents may have, once they are confirmed. For admins."""

    @listing
    def list(self) -> Stream[shapes.McpServer]:
        return pages(path_of("mcp-servers"))

    @operation
    def get(self, name: str) -> Flow[shapes.McpServer]:
        return data(Request("GET", path_of("mcp-servers", name)))

    @operation
    def write(self, name: str, definition: Fields) -> Flow[shapes.McpServer]:
        """The whole server, new or not. With its `version`, Conflict where somebody has changed it since."""
        return data(Request("PUT", path_of("mcp-servers", name), body=dict(definition)))

    @operation
    def delete(self, name: str, version: int | None = None, *, force: bool = False) -> Flow[None]:
        """With its `version`, Conflict where somebody has changed it since. `force`: although agents name its tools."""
        wanted = {"version": version, "force": True if force else None}
        return data(Request("DELETE", path_of("mcp-servers", name), wanted))

    @operation
    def refresh(self, name: str) -> Flow[shapes.ListedMcpTools]:
        """What the server says of its tools now, beside what was confirmed. Nothing is stored."""
        return data(Request("POST", path_of("mcp-servers", name, "refresh"), body={}))

    @operation
    def confirm(self, name: str, tools: Fields) -> Flow[shapes.McpServer]:
        """Lets agents have tools. `tools`: by the server's names, with the `pin` of what was looked at."""
        return data(Request("POST", path_of("mcp-servers", name, "confirm"), body={"tools": dict(tools)}))


class ToolSecretCalls(Calls[C]):
    """Credentials that tools send along. Set by admins, read by nobody."""

    @listing
    def list(self) -> Stream[shapes.ToolSecret]:
        return pages(path_of("tool-secrets"))

    @operation
    def write(self, name: str, value: str, hosts: Sequence[str] | None = None) -> Flow[shapes.ToolSecret]:
        """`hosts`: tools may send it there alone; None: those that it has already, else any."""
        named = None if hosts is None else [*hosts]
        return data(Request("PUT", tool_secret_path(name), body=given(value=value, hosts=named)))

    @operation
    def delete(self, name: str) -> Flow[None]:
        return data(Request("DELETE", tool_secret_path(name)))


class NotificationCalls(Calls[C]):
    """Where the tenant is told of questions and ended sessions. For admins."""

    @operation
    def read(self) -> Flow[shapes.Notifications]:
        """Raises NotFound where nothing is set."""
        return data(Request("GET", path_of("notifications")))

    @operation
    def write(self, url: str | None = None, secret: str | None = None) -> Flow[shapes.Notifications]:
        """`url`: of the tenant's webhook; None: only sessions with a `notify_url` are told of. `secret`: what
        notifications are signed with; None: as before.
        """
        return data(Request("PUT", path_of("notifications"), body=given(url=url, secret=secret)))

    @operation
    def delete(self) -> Flow[None]:
        return data(Request("DELETE", path_of("notifications")))


class PromptCalls(Calls[C]):
    """The managed prompts, for admins."""

    @listing
    def list(self) -> Stream[shapes.Prompt]:
        """The versions in force."""
        return pages(path_of("admin", "prompts"))

    @operation
    def get(self, name: str) -> Flow[shapes.PromptInForce]:
        return data(Request("GET", path_of("admin", "prompts", name)))

    @operation
    def write(
        self,
        name: str,
        content: str,
        *,
        comment: str | None = None,
        expected_version: int | None = None,
        applied: Fields | None = None,
        active: bool | None = None,
    ) -> Flow[shapes.Prompt]:
        """A new version, in force unless `active` is false: then sessions may try it. With `expected_version`, Conflict
        where another one is in force. `applied`: the files it comes from; None: as it was.
        """
        body = given(
            content=content,
            comment=comment,
            expected_version=expected_version,
            applied=applied,
            active=active,
        )
        return data(Request("PUT", path_of("admin", "prompts", name), body=body))

    @listing
    def versions(self, name: str) -> Stream[shapes.Prompt]:
        """Newest first."""
        return pages(path_of("admin", "prompts", name, "versions"))

    @operation
    def restore(
        self, name: str, version: int, *, comment: str | None = None, expected_version: int | None = None
    ) -> Flow[shapes.Prompt]:
        """A new version with the text of an earlier one."""
        path = path_of("admin", "prompts", name, "versions", str(version), "restore")
        return data(Request("POST", path, body=given(comment=comment, expected_version=expected_version)))


class MemoryCalls(Calls[C]):
    """What agents remember from one session to the next."""

    @listing
    def list(self, agent_id: str | None = None) -> Stream[shapes.Memory]:
        return pages(path_of("memories"), agent_id=agent_id)

    @operation
    def get(self, memory_id: str) -> Flow[shapes.Memory]:
        return data(Request("GET", path_of("memories", memory_id)))

    @operation
    def create(
        self, kind: str, text: str, *, tags: Sequence[str] = (), agent_id: str | None = None
    ) -> Flow[shapes.Memory]:
        body = given(kind=kind, text=text, tags=[*tags], agent_id=agent_id)
        return data(Request("POST", path_of("memories"), body=body))

    @operation
    def replace(
        self,
        memory_id: str,
        kind: str,
        text: str,
        *,
        tags: Sequence[str] = (),
        shared: Literal[True] | None = None,
    ) -> Flow[shapes.Memory]:
        """The whole memory. `shared`: everybody's sessions may be reminded of it from now on."""
        body = given(kind=kind, text=text, tags=[*tags], shared=shared)
        return data(Request("PUT", path_of("memories", memory_id), body=body))

    @operation
    def delete(self, memory_id: str) -> Flow[None]:
        return data(Request("DELETE", path_of("memories", memory_id)))
