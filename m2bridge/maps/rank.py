"""The name in release 1.0 of ``maps.jacobian_rank``, by which packages may import it."""

from m2bridge.maps.jacobian_rank import *  # noqa: F403
