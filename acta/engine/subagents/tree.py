"""The tree of sessions below a session: who works, who waits for whom, and what it has cost so far."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

from acta.engine.bound_tenant import carried
from acta.engine.errors import FinalError, SchemaUnknown, SessionHidden
from acta.engine.log.head import Head
from acta.engine.log.store import SessionLog

MOST_NODES = 1_000
"""Sessions of one page, and those that a receipt sums up."""
READ_AT_ONCE = 16


class TreeNode(NamedTuple):
    head: Head
    depth: int
    parent_id: str | None


def tree(log: SessionLog, root: Head, after: Head | None = None) -> Iterator[TreeNode]:
    """The session and all below it, each before its children, those in the order of their calls and items. A session
    that was deleted or cannot be read is left out with those below it. `after`: only what comes after this one. Raises
    ValueError if it is not in the tree.
    """
    if after is None or after.session_id == root.session_id:
        way: tuple[str, ...] | None = None if after is None else ()
    else:
        above = [each.session_id for each in after.parent.chain] if after.parent is not None else []
        way = (*above[above.index(root.session_id) + 1 :], after.session_id)
    with ThreadPoolExecutor(READ_AT_ONCE) as pool:

        def walk(node: TreeNode, way: tuple[str, ...] | None) -> Iterator[TreeNode]:
            """`way`: the ids down to `after`; empty: it is this one; None: it was before this one."""
            if way is None:
                yield node
            head = node.head
            ids = log.children(head.tenant, head.session_id) if head.children_made else ()
            if way:
                ids = ids[ids.index(way[0]) :]
            for begin in range(0, len(ids), READ_AT_ONCE):
                some = ids[begin : begin + READ_AT_ONCE]
                found = pool.map(carried(partial(readable, log, head.tenant)), some)
                for session_id, child in zip(some, found, strict=True):
                    if child is not None:
                        below = way[1:] if way and session_id == way[0] else None
                        yield from walk(TreeNode(child, node.depth + 1, head.session_id), below)

        yield from walk(TreeNode(root, 0, None), way)


def readable(log: SessionLog, tenant: str, session_id: str) -> Head | None:
    """None: it was deleted, is hidden from the caller or cannot be read."""
    try:
        commit = log.latest(tenant, session_id)
    except (FinalError, SchemaUnknown, SessionHidden):
        return None
    return None if commit is None or commit.head.deleted else commit.head
