"""The route that reads a session's tree."""

from itertools import islice
from typing import Annotated

from pydantic import Field

from acta.engine.api.app import Api
from acta.engine.api.envelope import Response, page
from acta.engine.api.listing_cursor import ListingCursor, listing_cursor
from acta.engine.errors import SessionNotFound
from acta.engine.sessions.answers import session_view
from acta.engine.sessions.pages import Json, page_of_items
from acta.engine.store.keys import from_cursor, to_cursor
from acta.engine.subagents.answers import node_view
from acta.engine.subagents.tree import MOST_NODES, TreeNode, readable, tree


def read_tree(
    api: Api,
    session_id: str,
    limit: Annotated[int, Field(ge=1, le=MOST_NODES)] = 100,
    cursor: ListingCursor = None,
) -> Response:
    """A page of the tree. A read for each session of the page."""
    log, tenant, now = api.app.log, api.caller.tenant, api.app.clock.now()
    root = log.latest(tenant, session_id)
    if root is None or root.head.deleted:
        raise SessionNotFound("There is no such session.")
    scope = f"tree/{session_id}"
    with listing_cursor():
        last = None if cursor is None else readable(log, tenant, from_cursor(scope, cursor))
        if cursor is not None and last is None:
            raise ValueError("the session is gone")
        nodes = list(islice(tree(log, root.head, last), limit + 1))

    def cursor_after(node: TreeNode) -> str:
        return to_cursor(scope, node.head.session_id)

    def view(node: TreeNode) -> Json:
        return node_view(node.head, node.depth, node.parent_id, session_view(node.head, now=now))

    following = cursor_after(nodes[limit - 1]) if len(nodes) > limit else None
    return page(*page_of_items(nodes[:limit], view, cursor_after, following))
