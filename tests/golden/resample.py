"""Writes resample.npz: random images, and what Pillow makes of them.

pip install pillow==13.0.0 numpy; python resample.py
`in_K` are H x W x C bytes; `K_FILTER` the same resized so that the short side is that of its name, and `K_FILTER_float` what Pillow makes
of the first channel, divided by 255, in mode F.
"""
import numpy as np
from PIL import Image

random = np.random.default_rng(1)
filters = {"bilinear": Image.BILINEAR, "bicubic": Image.BICUBIC}
arrays = {}
for k, (height, width, side, channels) in enumerate(
    [(23, 31, 11, 3), (23, 31, 40, 3), (31, 17, 12, 3), (9, 7, 20, 1), (14, 50, 13, 1), (40, 40, 7, 3), (5, 64, 5, 1), (33, 26, 25, 3)]
):
    image = random.integers(0, 256, (height, width, channels), dtype=np.uint8)
    arrays[f"in_{k}"] = image
    short, long = min(height, width), max(height, width)
    sides = (side, int(side * long / short))
    size = sides if width <= height else sides[::-1]
    for name, filter in filters.items():
        whole = Image.fromarray(image[:, :, 0] if channels == 1 else image)
        arrays[f"{k}_{name}"] = np.asarray(whole.resize(size, filter)).reshape(size[1], size[0], channels)
        plane = Image.fromarray(image[:, :, 0].astype(np.float32) / 255, mode="F")
        arrays[f"{k}_{name}_float"] = np.asarray(plane.resize(size, filter)).copy()
np.savez_compressed("resample.npz", **arrays)
