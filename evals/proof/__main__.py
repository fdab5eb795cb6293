"""Measure the rules of the loop's proof over committed cases; needs no service and no model.

python -m holdfast.evals.proof
"""

import sys
from collections import Counter

from holdfast.evals.proof.proof_cases import (
    delivered_cases,
    planted_faults,
    refused_cases,
    true_sentences,
)


def main() -> int:
    """Print the figures and return the exit code: 1 if a planted fault was delivered."""
    true, faults = true_sentences(), planted_faults()
    refused, delivered = refused_cases(true), delivered_cases(faults)
    print(f"true sentences refused: {len(refused)} of {len(true)}")
    for each in refused:
        print(f"  {each.text} ({each.why})")
    kinds = ", ".join(f"{count} {kind}" for kind, count in Counter(f.kind for f in faults).items())
    print(f"planted faults delivered: {len(delivered)} of {len(faults)} ({kinds})")
    for text in delivered:
        print(f"  {text}")
    return 1 if delivered else 0


if __name__ == "__main__":
    sys.exit(main())
