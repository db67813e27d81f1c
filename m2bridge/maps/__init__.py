"""What a model is, and what works for every model without an engine: evaluation, differentiation, ranks, bounds.

The names of this room are imported from its modules; ``maps/model.py`` says what a model is.
"""
