"""Deep attention for all widths, ranks, tokens and numbers of layers:
docs/deep-attention.md#deep-all-sizes.
"""
