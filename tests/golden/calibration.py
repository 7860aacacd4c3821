"""Calibration of 200 answers among 7 classes by netcal 1.4.0 and scikit-learn 1.9.1, and the same written out with numpy, for tests/calibration.rs.

pip install numpy scikit-learn netcal; python tests/golden/calibration.py
"""

import numpy as np
from netcal.metrics import ECE, MCE
from sklearn.metrics import accuracy_score, brier_score_loss, log_loss, top_k_accuracy_score

N, K = 200, 7
i, k = np.arange(N)[:, None].astype(float), np.arange(K)[None, :].astype(float)
logits = 3.0 * np.sin(1.7 * i + 2.3 * k * k + 0.4 * i * k)
labels = np.where(np.arange(N) * 13 % 10 < 6, logits.argmax(1), np.arange(N) * 5 % K)
p = np.exp(logits - logits.max(1, keepdims=True))
p /= p.sum(1, keepdims=True)
confidence, right = p.max(1), p.argmax(1) == labels


def error(parts):
    """Guo et al. 2017, Eq. 3 and 5, over index sets."""
    gaps = [(len(part), abs(right[part].mean() - confidence[part].mean())) for part in parts if len(part)]
    return sum(n * gap for n, gap in gaps) / N, max(gap for _, gap in gaps)


print("netcal ece 15", ECE(15).measure(p, labels), "mce 15", MCE(15).measure(p, labels))
print("netcal ece 10", ECE(10).measure(p, labels), "mce 10", MCE(10).measure(p, labels))
for bins in (15, 10):
    place = np.clip(np.ceil(confidence * bins) - 1, 0, bins - 1)
    print("numpy, width", bins, *error([np.flatnonzero(place == b) for b in range(bins)]))
for bins in (10, 20):
    print("numpy, mass", bins, *error(np.array_split(np.argsort(confidence, kind="stable"), bins)))
print("log_loss", log_loss(labels, p, labels=range(K)))
print("brier", brier_score_loss(labels, p, labels=range(K), scale_by_half=False))
print("accuracy", accuracy_score(labels, p.argmax(1)), "confidence", confidence.mean())
print("top 5", top_k_accuracy_score(labels, p, k=5, labels=range(K)))
print("entropy", -(p * np.log2(p)).sum(1).mean())
