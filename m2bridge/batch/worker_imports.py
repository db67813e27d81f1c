"""What the fork server imports; frozen, so that workers share its memory."""

from m2bridge.system import importing

with importing():
    import m2bridge.batch.worker  # noqa: F401
