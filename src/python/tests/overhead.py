"""The overhead of a call, in a release build: python src/python/tests/overhead.py [PROGRAM].

The overhead is the time of the smallest call: two tokens, whose sums take a tenth of a microsecond.
With the path of the program, the velocity at n = 512, d = 64 is compared with the time of the same
call from Rust (`bench rhs`). Both are measured in turn and compared by ratio, because the speed of a
shared machine changes."""

import json
import statistics
import subprocess
import sys
import timeit

import metastable as ms
import numpy as np


def best(call, number, repeat=15):
    """The smallest of several means: other load on the machine only adds time."""
    return min(timeit.repeat(call, number=number, repeat=repeat)) / number


sa = ms.Dynamics("sa", beta=1.0)
pair, out = np.eye(2), np.empty((2, 2))
print(f"velocity of two tokens: {1e6 * best(lambda: sa.velocity(pair), 5000):.2f} us, into an array {1e6 * best(lambda: sa.velocity(pair, out), 5000):.2f} us")
print(f"by name: {1e6 * best(lambda: ms.velocity(pair, 'sa', 1.0), 2000):.2f} us")

x = ms.tokens("uniform", 512, 64)


def here():
    return statistics.median(timeit.repeat(lambda: sa.velocity(x), number=1, repeat=300))


def there():
    command = [sys.argv[1], "bench", "rhs", "--n", "512", "--d", "64", "--beta", "1", "--format", "json"]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["alone_seconds"]


if len(sys.argv) > 1:
    rounds = [(here(), there()) for _ in range(11)]
    ratios = sorted(python / rust for python, rust in rounds)
    python, rust = (min(times) for times in zip(*rounds))
    print(f"velocity at n = 512, d = 64: {1e6 * python:.0f} us, from Rust {1e6 * rust:.0f} us (least of 11 rounds), ratio {python / rust:.3f}")
    print(f"ratio of a round: median {ratios[5]:.3f}, quartiles {ratios[2]:.3f} and {ratios[8]:.3f}")
else:
    print(f"velocity at n = 512, d = 64: {1e6 * here():.0f} us")
