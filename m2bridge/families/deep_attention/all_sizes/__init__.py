"""Deep attention for all widths, ranks, tokens and numbers of layers at once; see ``docs/deep-attention.md#deep-all-sizes``."""
