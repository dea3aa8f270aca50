"""What a call costs beside the sums, in a release build: python src/python/tests/overhead.py [FILE OF `metastable bench rhs --format json`].

The overhead is the time of the smallest call: two tokens, whose sums take a tenth of a microsecond. With the file of a bench at n = 512, d = 64 of the same
machine the velocity is compared with the call from Rust."""

import json
import sys
import timeit

import metastable as ms
import numpy as np


def best(call, number, repeat=15):
    """The least of several means: others at work on the machine only add."""
    return min(timeit.repeat(call, number=number, repeat=repeat)) / number


sa = ms.Dynamics("sa", beta=1.0)
pair, out = np.eye(2), np.empty((2, 2))
print(f"velocity of two tokens: {1e6 * best(lambda: sa.velocity(pair), 5000):.2f} us, into an array {1e6 * best(lambda: sa.velocity(pair, out), 5000):.2f} us")
print(f"by name: {1e6 * best(lambda: ms.velocity(pair, 'sa', 1.0), 2000):.2f} us")

x = ms.tokens("uniform", 512, 64)
big = best(lambda: sa.velocity(x), 20)
print(f"velocity at n = 512, d = 64: {1e6 * big:.0f} us")
if len(sys.argv) > 1:
    with open(sys.argv[1]) as file:
        rust = json.load(file)["median_seconds"]
    print(f"from Rust: {1e6 * rust:.0f} us, ratio {big / rust:.3f}")
