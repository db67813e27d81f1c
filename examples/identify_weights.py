"""What the weights of a small network determine, and which heads are nearly of lower rank."""

from pathlib import Path

from m2bridge import weights

file = Path(__file__).parent / "blocks.npz"
names = {part: f"blocks.*.{part}" for part in ("query", "key", "value")}
found = weights(file, **names)
print(found.summary)
for head in found.heads:
    name, shape = f"head {head.layer}.{head.head}", head.shape
    print(f"{name}: {shape.parameters} weights, dimension {shape.dimension}")
for change in found.changes(1)[:3]:
    print(f"head {change.layer}.{change.head}: V is at distance {change.distance_V:.1g} of rank 1")

# It prints:
#   The network of 2 layers is determined by its function up to GL(2) on K and Q, rescaling of A
#   against V, GL(3) between layers (19 dimensions) and a finite ambiguity, at generic weights:
#   proved.
#   head 1.1: 28 weights, dimension 23
#   head 2.1: 18 weights, dimension 13
#   head 1.1: V is at distance 0.6 of rank 1
#   head 2.1: V is at distance 0.5 of rank 1
