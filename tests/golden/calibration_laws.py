"""The interval of a calibration error by enumeration: every number of right answers in one or two bins, with its binomial probability: the numbers in
tests/calibration.rs.

Laws are tried along three ways from "right as often as said": as the bins were found, more often everywhere, less often everywhere. The
interval holds the errors of those under which neither an error as large nor one as small as was found has 2.5% or less. Prints, by case:
the error, its mean by chance, its interval.

pip install scipy==1.18.1; python calibration_laws.py
"""

import numpy as np
from scipy.optimize import brentq
from scipy.stats import binom

CASES = [  # (answers, confidence, right) of each bin
    ([(20, 0.8, 10)], "both"),
    ([(20, 0.5, 11)], "both"),
    ([(24, 0.6, 22)], "both"),
    ([(400, 0.7, 220)], "both"),
    ([(400, 0.7, 285)], "both"),
    ([(400, 0.7, 280)], "both"),
    ([(300, 0.99, 290)], "both"),
    ([(300, 0.02, 14)], "both"),
    ([(200, 0.9, 150), (100, 0.5, 60)], "expected"),
    ([(200, 0.9, 150), (100, 0.5, 60)], "maximum"),
]


def known(bins, error):
    n = sum(count for count, _, _ in bins)

    def combined(gaps):
        gaps = [np.abs(gap) for gap in gaps]
        if error == "maximum":
            return np.max(np.broadcast_arrays(*gaps), axis=0)
        return sum(gap * count for gap, (count, _, _) in zip(gaps, bins)) / n

    grids = np.meshgrid(*[np.arange(count + 1) for count, _, _ in bins], indexing="ij")
    errors = combined([grid / count - said for grid, (count, said, _) in zip(grids, bins)])
    gaps = [right / count - said for count, said, right in bins]
    found = float(combined(gaps))
    most = max(abs(gap) for gap in gaps) or 1.0

    def law(more):
        p = [np.clip(said + m, 0, 1) for (_, said, _), m in zip(bins, more)]
        weights = [binom.pmf(grid, count, q) for grid, (count, _, _), q in zip(grids, bins, p)]
        return np.prod(weights, axis=0), float(combined([q - said for q, (_, said, _) in zip(p, bins)]))

    def share(fits, more):
        return float(law(more)[0][fits].sum())

    large, small = errors >= found - 1e-12, errors <= found + 1e-12
    none = [0.0] * len(bins)
    chance = float((law(none)[0] * errors).sum())

    def boundary(fits, rises, way):
        holds = lambda s: (share(fits, [s * w for w in way]) - 0.025) * rises
        if holds(0) > 0:
            return 0.0
        return 1.0 if holds(1) <= 0 else brentq(holds, 0, 1)

    ways = [[gap / most for gap in gaps], [1.0] * len(bins), [-1.0] * len(bins)]
    truth = lambda way, s: law([s * w for w in way])[1]
    lo = min(truth(way, boundary(large, 1, way)) for way in ways)
    hi = max(truth(way, boundary(small, -1, way)) for way in ways)
    return found, chance, lo, hi


if __name__ == "__main__":
    for bins, error in CASES:
        for one in ["expected", "maximum"] if error == "both" else [error]:
            print(bins, one, *["%.6f" % x for x in known(bins, one)])
