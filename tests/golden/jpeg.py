"""Writes jpeg.npz: small JPEG files of many kinds, and what Pillow (libjpeg-turbo) reads from them; and three of them as files.

pip install pillow==13.0.0 numpy; python jpeg.py
"""
import io

import numpy as np
from PIL import Image

random = np.random.default_rng(2)
arrays, k = {}, 0
kinds = [{}, {"progressive": True}, {"optimize": True}, {"restart_marker_blocks": 2}, {"progressive": True, "restart_marker_rows": 1}]
for width, height in [(1, 1), (3, 5), (16, 16), (17, 33), (5, 4), (41, 23)]:
    y, x = np.mgrid[0:height, 0:width]
    smooth = np.stack([x * 5 % 256, y * 7 % 256, (x * y) % 256], 2).astype(np.uint8)
    for subsampling in (0, 1, 2, "4:1:1", None):
        kind = kinds[k % len(kinds)] if subsampling != 2 else kinds[k // 5 % 2]
        noise = random.integers(0, 256, (height, width, 3), dtype=np.uint8)
        image = Image.fromarray(smooth if k % 3 else noise)
        file = io.BytesIO()
        if subsampling is None:
            image.convert("L").save(file, "JPEG", quality=70, **kind)
        else:
            image.save(file, "JPEG", quality=(50, 80, 95)[k % 3], subsampling=subsampling, **kind)
        arrays[f"file_{k}"] = np.frombuffer(file.getvalue(), np.uint8)
        arrays[f"pixels_{k}"] = np.asarray(Image.open(file).convert("RGB"))
        k += 1
np.savez_compressed("jpeg.npz", **arrays)

y, x = np.mgrid[0:45, 0:70]
picture = Image.fromarray(np.stack([x * 3 % 256, y * 5 % 256, x * y % 256], 2).astype(np.uint8))
picture.save("progressive.jpg", quality=80, progressive=True, subsampling=2)
picture.save("restarts.jpg", quality=80, restart_marker_blocks=3, subsampling=0)
