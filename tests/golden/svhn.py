"""Makes svhn.mat and svhn_plain.mat: four images in the layout of SVHN, written by scipy 1.17.1 with and without compression."""
import numpy as np
from scipy.io import savemat

n, c, w, h = np.meshgrid(range(4), range(3), range(6), range(8), indexing="ij")
X = np.zeros((8, 6, 3, 4), np.uint8)
X[h, w, c, n] = (h * 7 + w * 31 + c * 80 + n * 50) % 256
y = np.array([[1], [10], [9], [3]], np.uint8)
savemat("tests/golden/svhn.mat", {"X": X, "y": y}, do_compression=True)
savemat("tests/golden/svhn_plain.mat", {"extra": np.arange(3.0), "y": y.astype(float), "note": "text", "X": X})
