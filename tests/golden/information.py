"""What is known of mutual information, by brute force: the numbers in src/lab/maths/information/answers.rs and interval.rs. Leaving out works
on samples without the image, shuffling goes through all permutations or very many, noncentral chi-square is SciPy's.

pip install mpmath==1.3.0 scipy==1.17.1; python information.py
"""
import itertools
import math
import random
from collections import Counter

from scipy.optimize import brentq
from scipy.stats import chi2, ncx2, norm

from entropy_cwj import entropy as cwj


def entropy(counts):
    return float(cwj(counts)) if sum(counts) > 1 else 0.0


def plain(rows):
    n = len(rows)
    h = lambda of: -sum(c / n * math.log(c / n) for c in Counter(of).values())
    return h([y for _, y, _ in rows]) + h([t for _, _, t in rows]) - h([(y, t) for _, y, t in rows])


def by_species(rows):
    h = lambda of: entropy(list(Counter(of).values()))
    return h([y for _, y, _ in rows]) + h([t for _, _, t in rows]) - h([(y, t) for _, y, t in rows])


def without(rows, image):
    return [row for row in rows if row[0] != image]


def images(rows):
    return sorted({image for image, _, _ in rows})


def several(rows):
    return len(rows) > len(images(rows))


def estimate(rows):
    if not several(rows):
        return by_species(rows)
    n = len(images(rows))
    left = [plain(without(rows, image)) for image in images(rows)]
    return n * plain(rows) - (n - 1) * sum(left) / n


def variance(rows):
    n, of = len(images(rows)), plain if several(rows) else by_species
    left = [of(without(rows, image)) for image in images(rows)]
    mean = sum(left) / n
    return (n - 1) / n * sum((x - mean) ** 2 for x in left)


def contingency(rows):
    n, ys, ts = len(rows), Counter(y for _, y, _ in rows), Counter(t for _, _, t in rows)
    both = Counter((y, t) for _, y, t in rows)
    wanted = {(y, t): ys[y] * ts[t] / n for y in ys for t in ts}
    return sum((both[cell] - e) ** 2 / e for cell, e in wanted.items()) / n


def rare(rows):
    cells = Counter()
    for image in images(rows):
        cells.update({(y, t) for i, y, t in rows if i == image})
    return list(cells.values()).count(1), list(cells.values()).count(2)


def unseen(rows):
    n, (once, twice) = len(images(rows)), rare(rows)
    ys, ts, both = ({key(row) for row in rows} for key in [lambda r: r[1], lambda r: r[2], lambda r: r[1:]])
    if not once:
        return 0.0
    alike = once / n / (len(ys) * len(ts) - len(both) + once)
    seen = 2 * twice / ((n - 1) * once + 2 * twice) if twice else 2 / ((n - 1) * (once - 1) + 2)
    # The sum of (1 - a)^(r - n + 1) / r for r from n.
    more = lambda a: once / n * sum((1 - a) ** (r - n + 1) / r for r in range(n, n + 20000)) if a < 1 else 0.0
    return max(more(alike) - more(seen), 0.0) / (1 + twice)


def shuffled(rows, draws):
    of_images = {image: y for image, y, _ in rows}
    names, labels = list(of_images), list(of_images.values())
    if draws is None:
        orders = itertools.permutations(labels)
    else:
        orders = (random.sample(labels, len(labels)) for _ in range(draws))
    values, once = [], []
    for order in orders:
        new = dict(zip(names, order))
        other = [(image, new[image], t) for image, _, t in rows]
        values.append(estimate(other))
        once.append(rare(other)[0])
    found = estimate(rows)
    mean = sum(values) / len(values)
    spread = math.sqrt(sum((x - mean) ** 2 for x in values) / len(values))
    reached = sum(x >= found - 1e-12 for x in values) / len(values)
    above = norm.logsf((found - mean) / spread)
    return mean, spread, reached, above, min(rare(rows)[0] / (sum(once) / len(once)), 1) if sum(once) else 0.0


def interval(n, value, most, excess, pearson, variance, mean, spread, chance, sparse, unseen, few, delta):
    scale = 2 * n
    found, most = min(max(scale * value, 0), scale * most), scale * most
    own = max(excess + 2 * pearson, 1)
    degrees = own + (1 if few else sparse) * max((scale * spread) ** 2 / 2 - own, 0)
    width = math.sqrt(2 * degrees)
    share = min(max(scale * value / most, 0), 1)
    linear, next_one = max(n * n * variance - degrees, 0), ((math.log(n) + max(value, 0)) * share) ** 2
    near = width**2 / (width + found)
    k = (linear + next_one + near) / (found + near)

    def law(true, bias):
        x, away = scale * value + degrees - bias - (1 - k) * true, k * true
        return (ncx2.cdf(x, degrees, away) if away > 0 else chi2.cdf(x, degrees)) if x > 0 else 0.0

    upper = lambda true: delta / 2 * (1 + math.exp(-true / width))
    bias = (max(scale * mean, scale * mean * sparse) if few else scale * mean * sparse) + scale * unseen
    low = lambda true: 1 - law(true, bias) - upper(true)
    high = lambda true: law(true, min(scale * mean * sparse, 0)) - delta + upper(true)
    lo = 0.0 if chance > delta or found <= 0 or low(0) >= 0 else brentq(low, 0, found, xtol=1e-9)
    hi = most if high(most) >= 0 else brentq(high, found, most, xtol=1e-9)
    return lo / scale, hi / scale


SAMPLES = {
    "one": [(i, i % 4, i % 4 if i * 7 % 10 < 4 else (i * i + 1) % 5) for i in range(40)],
    "sparse": [(i, i % 6, i % 6 if i * 3 % 7 < 4 else (i * i + 2) % 7) for i in range(18)],
    "several": [(i, i % 3, (i % 3 if (i + j) % 3 else (i + 2 * j) % 4)) for i in range(14) for j in range(1 + i % 3)],
    "seven": [(i, y, t) for i, (y, t) in enumerate([(0, 0), (0, 0), (1, 1), (1, 0), (2, 2), (2, 1), (1, 1)])],
    "seven several": [(0, 0, 0), (0, 0, 1), (1, 0, 0), (2, 1, 1), (3, 1, 1), (3, 1, 2), (3, 1, 2), (4, 2, 2), (5, 2, 0), (6, 1, 1)],
    "right": [(i, i % 3, i % 3 if i % 9 else 0) for i in range(36)],
}

# As KnownInformation has them, and delta.
KNOWN = [
    (200, 0.01, 1.6, 16, 0.05, 0.0003, 0.0, 0.014, 0.3, 0.1, 0.0, False, 0.05),
    (200, 0.12, 1.6, 16, 0.3, 0.0016, 0.001, 0.014, 0.002, 0.1, 0.001, False, 0.05),
    (200, 1.2, 1.6, 20, 3.0, 0.0042, 0.001, 0.014, 0.001, 0.0, 0.0, False, 0.05),
    (500, 1.58, 1.6, 10, 3.9, 0.00001, -0.001, 0.01, 0.001, 0.5, 0.0, False, 0.1),
    (60, 0.9, 1.9, 40, 3.0, 0.02, 0.1, 0.3, 0.01, 0.8, 0.02, True, 0.05),
    (60, 0.4, 1.9, 40, 1.0, 0.02, -0.02, 0.2, 0.01, 0.9, 0.01, False, 0.05),
    (60, -0.01, 1.9, 0, 0.0, 0.001, -0.02, 0.03, 0.6, 0.3, 0.0, False, 0.05),
]

if __name__ == "__main__":
    random.seed(1)
    for name, rows in SAMPLES.items():
        n, (once, twice) = len(images(rows)), rare(rows)
        free = (len({y for _, y, _ in rows}) - 1) * (len({t for _, _, t in rows}) - 1)
        excess = 2 * n * (plain(rows) - estimate(rows))
        print(name, n, [estimate(rows), variance(rows), excess, contingency(rows), unseen(rows)], n < free, once, twice)
        if "seven" in name or name == "right":
            print("   shuffled", shuffled(rows, None if "seven" in name else 3000))
    for of in KNOWN:
        print(of, interval(*of))
