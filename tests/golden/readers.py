"""Writes pictures.npz: small WebP and TIFF files of many kinds, and what Pillow reads from them; readers.parquet and readers_zstd.parquet:
four pictures as Hugging Face's datasets and pyarrow write them; meta.mat: ILSVRC 2012's numbers of classes as its development kit has
them, in an order that is drawn here. And small files for tests/corpus.

pip install pillow==13.0.0 numpy scipy datasets==5.2.0 pyarrow==26.0.1; python readers.py
"""
import io
import os

import datasets
import numpy as np
import pyarrow.parquet as pq
import scipy.io
from PIL import Image

random = np.random.default_rng(4)
arrays, k = {}, 0


def keep(image, corpus=None, **how):
    global k
    file = io.BytesIO()
    image.save(file, **how)
    arrays[f"file_{k}"] = np.frombuffer(file.getvalue(), np.uint8)
    arrays[f"pixels_{k}"] = np.asarray(Image.open(file).convert("RGB"))
    k += 1
    if corpus:
        os.makedirs(os.path.dirname(f"../corpus/{corpus}"), exist_ok=True)
        open(f"../corpus/{corpus}", "wb").write(file.getvalue())


for width, height in [(1, 1), (13, 8)]:
    y, x = np.mgrid[0:height, 0:width]
    smooth = np.stack([x * 5 % 256, y * 7 % 256, (x * y) % 256], 2).astype(np.uint8)
    noise = random.integers(0, 256, (height, width, 3), dtype=np.uint8)
    image = Image.fromarray(np.where(x[..., None] % 9 < 6, smooth, noise).astype(np.uint8))
    alpha = image.copy()
    alpha.putalpha(Image.fromarray(random.integers(0, 256, (height, width), dtype=np.uint8)))
    small = (width, height) == (13, 8)
    for quality in (10, 75, 98):
        keep(image, "webp/lossy" if small and quality == 75 else None, format="WEBP", quality=quality)
    keep(image, "webp/lossless" if small else None, format="WEBP", lossless=True)
    keep(alpha, "webp/alpha" if small else None, format="WEBP", quality=60)
    keep(alpha, format="WEBP", lossless=True, exact=True)
    for compression in ("raw", "tiff_lzw", "tiff_adobe_deflate", "packbits"):
        keep(image, f"tiff/{compression}" if small else None, format="TIFF", compression=compression)
    keep(image, format="TIFF", compression="tiff_lzw", tiffinfo={317: 2})
    keep(alpha, format="TIFF", compression="tiff_lzw")
    keep(image.convert("L"), format="TIFF", compression="packbits")
    keep(image.convert("L"), format="TIFF", tiffinfo={262: 0})
np.savez_compressed("pictures.npz", **arrays)


def png(shade):
    file = io.BytesIO()
    Image.new("RGB", (6, 4), (shade, 10, 200)).save(file, "PNG")
    return file.getvalue()


rows = {"image": [{"bytes": png(shade), "path": f"{shade}.png"} for shade in (0, 60, 120, 180)], "label": [2, 0, 1, 2]}
features = datasets.Features({"image": datasets.Image(), "label": datasets.ClassLabel(names=["ant", "bee", "cat"])})
datasets.Dataset.from_dict(rows, features=features).to_parquet("readers.parquet")
pq.write_table(pq.read_table("readers.parquet"), "readers_zstd.parquet", compression="zstd", row_group_size=3, data_page_version="2.0",
               write_page_checksum=True)
os.makedirs("../corpus/parquet", exist_ok=True)
for name in ("readers", "readers_zstd"):
    open(f"../corpus/parquet/{name}", "wb").write(open(f"{name}.parquet", "rb").read())

wnids = open("../../src/lab/data/imagenet_wnids.txt").read().split()
order = random.permutation(1000)
fields = ["ILSVRC2012_ID", "WNID", "words", "gloss", "num_children", "children", "wordnet_height", "num_train_images"]
synsets = np.zeros((1010, 1), dtype=[(field, "O") for field in fields])
for i in range(1010):
    wnid, children = (wnids[order[i]], []) if i < 1000 else (f"n{99000000 + i}", [1.0, 2.0])
    synsets[i, 0] = (float(i + 1), wnid, "", "", float(len(children)), np.array([children]), 0.0, 1300.0)
scipy.io.savemat("meta.mat", {"synsets": synsets}, do_compression=True)
print([int(order[i - 1]) for i in (1, 2, 1000)])
