"""Whether a certificate of equations is verified faster than it is made.

Processor time of both in one process that is new for each round, for (d, d', a) = (3, 2, 2), which
has 36 coordinates; maker and checker share nothing, so that neither finds what the other has
computed::

    python benchmarks/equations.py [--rounds 3]
"""

from __future__ import annotations

import sys

from measuring import options, output

ROUND = """
from time import process_time
from m2bridge import SingleLayerAttention
from m2bridge import verify
from m2bridge.certification.make import certify
begin = process_time()
certificate = certify(SingleLayerAttention(3, 2, 2), "equations")
made = process_time()
assert verify(certificate).accepted
print(made - begin, process_time() - made)
"""


def main() -> None:
    """Print both, and their ratio, for each round."""
    for _ in range(options("Making and verifying a certificate of equations.", 3).rounds):
        making, verifying = map(float, output([sys.executable, "-c", ROUND]).split())
        print(
            f"certify {making:.2f} s, verify {verifying:.2f} s, ratio {verifying / making:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
