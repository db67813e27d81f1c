"""Proved dimensions of two layers of attention, beside the number of their weights."""

from m2bridge import DeepAttention, dimension

for width in (2, 3, 4):
    network = DeepAttention([width, width, width], a=[1, 2])
    found = dimension(network)
    print(f"width {width}: dimension {found.dimension} ({found.status})")

# It prints:
#   width 2: dimension 8 (proved)
#   width 3: dimension 18 (proved)
#   width 4: dimension 31 (proved)
