"""The name in release 1.0 of ``statements.statement`` and ``maps.locus``, for packages."""

from m2bridge.maps.locus import *  # noqa: F403
from m2bridge.statements.statement import *  # noqa: F403
