"""Agreement, Dawid-Skene and prediction-powered means by krippendorff 0.9.0, irrCAC 0.4.4, crowd-kit 1.4.2, ppi-python 0.2.3 and scipy 1.12.0,
for tests/people.rs.

pip install numpy scipy pandas krippendorff irrCAC crowd-kit ppi-python; python tests/golden/people.py
"""

import krippendorff
import numpy as np
import pandas as pd
from crowdkit.aggregation import DawidSkene
from irrCAC.raw import CAC
from ppi_py import ppi_mean_ci, ppi_mean_pointestimate
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import norm

n = np.nan
# Krippendorff 2011, Computing Krippendorff's alpha-reliability: sections A, B and C.
A = [[0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]]
B = [[ord(c) for c in "aabbdcccedda"], [ord(c) for c in "babbbcccedddd"[:12]]]
C = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, n, n, n],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, n, 3],
    [n, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, n],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, n],
]


def answer(w, i):
    """The crowd of tests/people.rs: workers who err more and more, and who leave a seventh of the items to others."""
    h = (w * 7919 + i * 104729 + w * i * 31) % 100
    return (i % 3 + 1 + h % 2) % 3 if h >= [90, 80, 70, 60, 40][w] else i % 3


crowd = [(w, i, answer(w, i)) for w in range(5) for i in range(40) if (w * 3 + i * 5) % 7]
skewed = [(w, i, int((w * 7919 + i * 104729 + w * i * 31) % 100 >= 95)) for w in range(4) for i in range(50)]


def matrix(rows):
    found = np.full((1 + max(r[0] for r in rows), 1 + max(r[1] for r in rows)), n)
    for w, i, a in rows:
        found[w, i] = a
    return found


for name, data in (("A", A), ("B", B), ("C", C), ("crowd", matrix(crowd)), ("skewed", matrix(skewed))):
    data = np.array(data, float)
    alpha = krippendorff.alpha(reliability_data=data, level_of_measurement="nominal")
    gwet = CAC(pd.DataFrame(data.T), digits=12).gwet()["est"]
    print(name, "alpha", repr(alpha), "AC1", gwet["coefficient_value"], "percent", gwet["pa"])

found = DawidSkene(n_iter=3000, tol=-1e9).fit(pd.DataFrame(crowd, columns=["worker", "task", "label"]))
pd.set_option("display.precision", 9)
print(found.priors_, found.probas_.loc[[0, 1, 5, 16, 23, 38]], found.errors_.loc[[0, 4]], sep="\n")
print("right", sum(found.labels_.loc[i] == i % 3 for i in range(40)))

network = lambda i: 0.05 + 0.9 * (i * 37 % 101) / 100
person = lambda i: float((i * 37 % 101) / 100 + 1.5 * ((i * 53 % 29) / 29 - 0.5) > 0.45)
Y, H = (np.array([f(i) for i in range(60)]) for f in (person, network))
others = np.array([network(i) for i in range(60, 560)])
for lam in (1, None):
    ends = ppi_mean_ci(Y, H, others, alpha=0.05, lam=lam)
    print("lambda", lam, ppi_mean_pointestimate(Y, H, others, lam=lam), *ends)

share = lambda d, m: quad(lambda x: norm.pdf(x - d) * norm.cdf(x) ** (m - 1), d - 10, d + 10)[0]
for p, m in ((0.5, 10), (0.76, 2), (0.6, 10), (0.05, 10), (0.99, 4)):
    print("d'", p, m, repr(brentq(lambda d: share(d, m) - p, -10, 10, xtol=1e-13)))
