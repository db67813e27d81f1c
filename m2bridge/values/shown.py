"""How values show themselves at a prompt, alone and in lists."""

from __future__ import annotations

from dataclasses import fields

from m2bridge.layout import shortened

MOST = 300
"""Characters of a value."""


class AsText:
    """A value whose ``repr`` is its text, as that of SymPy's expressions: rings, their elements, ideals."""

    __slots__ = ()

    def __repr__(self) -> str:
        return one_line(self)


class Named:
    """A value whose ``repr`` is its text with the name of its class."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {one_line(self)}>"


class AsCode:
    """A value whose ``repr`` is the call that makes it, without what is as usual."""

    __slots__ = ()

    def __repr__(self) -> str:
        given = [(getattr(self, field.name), field.default) for field in fields(self)]  # type: ignore[arg-type]
        while given and given[-1][0] == given[-1][1]:
            given.pop()
        return f"{type(self).__name__}({', '.join(repr(value) for value, _ in given)})"


def one_line(value: object) -> str:
    """The text of a value in one line, its middle left out if it is long."""
    return shortened("; ".join(str(value).splitlines()), MOST)
