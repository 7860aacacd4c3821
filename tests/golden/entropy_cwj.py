"""The entropy of Chao, Wang and Jost (2013), Eq. 7, term by term in 50 digits: the numbers in src/lab/maths/information/species.rs.

pip install mpmath==1.3.0; python entropy_cwj.py
"""
from mpmath import mp, mpf, log

mp.dps = 50


def entropy(counts):
    n = sum(counts)
    once = sum(1 for x in counts if x == 1)
    twice = sum(1 for x in counts if x == 2)
    seen = sum(mpf(x) / n * sum(mpf(1) / k for k in range(x, n)) for x in counts)
    if once == 0:
        return seen
    if twice > 0:
        a = mpf(2) * twice / ((n - 1) * once + 2 * twice)
    else:
        a = mpf(2) / ((n - 1) * (once - 1) + 2)
    if a == 1:
        return seen
    known = sum((1 - a) ** r / mpf(r) for r in range(1, n))
    return seen + mpf(once) / n * (1 - a) ** (1 - n) * (-log(a) - known)


if __name__ == "__main__":
    for counts in [[2, 2], [1, 1, 1, 1], [7, 3, 1], [50, 30, 12, 2, 1, 1, 1], [900, 90, 6, 2, 1, 1], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]]:
        print(f"(&{counts}, {mp.nstr(entropy(counts), 17)}),")
