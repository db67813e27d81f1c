"""What can be done with ideals and maps, as their methods.

The methods delegate to functions in rooms above, which are imported when they are called, so that a ring knows nothing
of engines. Imports of those rooms here are for types only.
"""
