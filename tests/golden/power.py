"""The power of the tests of independence from the formulas in src/lab/maths/power.rs, their integrals on a grid 1000 times as fine: the numbers in
tests/power.rs.

pip install scipy==1.17.1; python power.py
"""
import math

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

# Losses, weighted losses and how many images have them.
SAMPLES = {
    "few errors": [(0, 0, 880), (0, 0.5, 60), (0, 0.25, 20), (1, 0.5, 20), (1, 1, 20)],
    "half are errors": [(0, 0, 300), (0, 0.5, 200), (1, 0.5, 180), (1, 0.2, 20), (1, 1, 300)],
    "all gain": [(0, 0.5, 30), (0, 0.1, 10)],
}
LO, HI, DELTA = -8 / 9, 0.5, 0.05


def moments(kinds, of):
    n = sum(k for _, _, k in kinds)
    mean = sum(of(l, w) * k for l, w, k in kinds) / n
    return mean, sum((of(l, w) - mean) ** 2 * k for l, w, k in kinds) / n


def tilted(kinds, gap):
    t = lambda l, w: w - l
    weigh = lambda tilt: [(l, w, k * math.exp(tilt * t(l, w))) for l, w, k in kinds]
    return weigh(brentq(lambda tilt: moments(weigh(tilt), t)[0] - gap, -200, 200, xtol=1e-13))


def bernstein(m, variance, delta, length):
    l = math.log(3 / delta) / m
    return math.sqrt(2 * variance * l) + 3 * length * l


def beyond(mean, variance, m, bound):
    return norm.cdf((mean - bound) / math.sqrt(variance / m)) if variance > 0 else float(mean > bound)


def hedged(kinds, m, level):
    gap, variance = moments(kinds, lambda l, w: w - l)
    square = variance + gap**2
    angle = (np.arange(400_000) + 0.5) / 400_000 * math.pi / 2
    step = m * np.sin(2 * angle) * math.pi / 2 / 400_000
    seen = m * np.sin(angle) ** 2
    left = m * np.cos(angle) ** 2 * (-LO * HI + seen * square) / (seen + 1)
    passed = np.cumsum(square / (2 * left) * step)
    g = np.exp(-(passed - square / (4 * left) * step)) / np.sqrt(left)
    drift, spread = (g * step).sum(), (g * g * step).sum()
    start = norm.ppf(level / 1.05)
    return norm.cdf((start + gap * drift - 1.5 * -LO / math.sqrt(m * square)) / math.sqrt(variance * spread))


def capped(kinds, m, level):
    bet, start = 0.95 / -LO, norm.ppf(level / 1.05)
    gap, variance = moments(kinds, lambda l, w: w - l)
    if norm.pdf(start) / norm.cdf(start) / math.sqrt(m * (variance + gap**2)) < bet:
        return 1.0
    if moments(kinds, lambda l, w: (w - l) / (1 + bet * (w - l)))[0] < 0:
        return 1.0
    mean, variance = moments(kinds, lambda l, w: math.log(1 + bet * (w - l)))
    return beyond(mean, variance, m, math.log(1 / level) / m)


def powers(kinds, m):
    gap, variance = moments(kinds, lambda l, w: w - l)
    pairwise = beyond(gap, variance, m, bernstein(m, variance, DELTA, HI - LO))
    bound = sum(bernstein(m, moments(kinds, of)[1], DELTA / 2, 1) for of in [lambda l, w: l, lambda l, w: w])
    betting = [min(hedged(kinds, m, level), capped(kinds, m, level)) for level in (DELTA / 2, DELTA)]
    return [*betting, pairwise, beyond(gap, variance, m, bound)]


def least(holds, lo, hi):
    return brentq(holds, lo, hi, xtol=1e-10)


if __name__ == "__main__":
    for name in ("few errors", "all gain"):
        for m in (20, 60, 227, 233, 300, 1000, 5000):
            print(name, m, *["%.6f" % x for x in powers(SAMPLES[name], m)])
    for gap, m in ((0.1, 43), (0.2, 37)):
        print("half are errors", gap, m, *["%.6f" % x for x in powers(tilted(SAMPLES["half are errors"], gap), m)])
    for name in ("few errors", "half are errors"):
        kinds = SAMPLES[name]
        gaps = [least(lambda gap: powers(tilted(kinds, gap), 2000)[k] - 0.8, 0.001, 0.3) for k in range(4)]
        needed = [least(lambda m: powers(tilted(kinds, 0.01), m)[k] - 0.8, 100, 1e7) for k in range(4)]
        print(name, gaps, needed)
