"""Families of models: the registry, the base classes of families, and a package for each family."""
