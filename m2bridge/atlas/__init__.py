"""An atlas: one page for each case that a folder of certificates is about, and an overview; it needs no server."""

from m2bridge.atlas.content import Atlas, Sheet, Value
from m2bridge.atlas.read import atlas
from m2bridge.atlas.write import write_atlas

__all__ = ["Atlas", "Sheet", "Value", "atlas", "write_atlas"]
