"""What extensions of the site ask about documents."""

from __future__ import annotations

from docutils import nodes


def ancestors(node: nodes.Node) -> list[nodes.Node]:
    """Return the nodes above one."""
    return [] if node.parent is None else [node.parent, *ancestors(node.parent)]
