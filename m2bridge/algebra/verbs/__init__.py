"""What can be done with ideals and maps, as their methods.

The methods delegate to functions in rooms above, which are imported when they are called, so that a ring knows nothing
of engines. Imports of those rooms here are for types only.
"""

from m2bridge.algebra.verbs.arithmetic import Arithmetic
from m2bridge.algebra.verbs.components import Components
from m2bridge.algebra.verbs.geometry import Geometry
from m2bridge.algebra.verbs.invariants import Invariants
from m2bridge.algebra.verbs.neighbours import Neighbours

__all__ = ["IdealVerbs"]


class IdealVerbs(Arithmetic, Invariants, Components, Geometry, Neighbours):
    """The methods of an ideal."""

    __slots__ = ()
