"""What reads pictures elsewhere: the peers of the readers bench.

usage: readers.py ROOT BATCH WORKERS
ROOT holds the same rows as folder/, shards/, plain/ and snappy/. Prints one JSON line per reader: rows and rows per second of one pass, from
before its processes are started, as viva's threads are."""
import glob, json, os, sys, time

root, batch, workers = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["HF_DATASETS_CACHE"] = os.path.join(root, "cache")
os.environ["HF_HUB_OFFLINE"] = "1"
import PIL, torch, torchvision, webdataset, datasets
from torchvision import transforms

torch.set_num_threads(1)
datasets.disable_progress_bars()
view = transforms.Compose([transforms.Resize(256), transforms.CenterCrop(224), transforms.ToTensor()])
image = lambda picture: view(picture.convert("RGB"))


def decoded(rows):
    return {"image": [image(picture) for picture in rows["image"]], "label": rows["label"]}


def folder(shuffle):
    of = torchvision.datasets.ImageFolder(os.path.join(root, "folder"), view)
    return torch.utils.data.DataLoader(of, batch, shuffle=shuffle, num_workers=workers)


def shards():
    of = webdataset.WebDataset(sorted(glob.glob(os.path.join(root, "shards", "*.tar"))), shardshuffle=False)
    of = of.decode("pil").to_tuple("jpg", "cls").map_tuple(image, int).batched(batch)
    return webdataset.WebLoader(of, batch_size=None, num_workers=workers)


def parquet(form, shuffle):
    files = os.path.join(root, form, "*.parquet")
    of = datasets.load_dataset("parquet", data_files=files, split="train").cast_column("image", datasets.Image())
    return torch.utils.data.DataLoader(of.with_transform(decoded), batch, shuffle=shuffle, num_workers=workers)


print(json.dumps(dict(versions=f"torch {torch.__version__}, torchvision {torchvision.__version__}, Pillow {PIL.__version__}, "
                      f"webdataset {webdataset.__version__}, datasets {datasets.__version__}")))
readers = {"ImageFolder, in order": lambda: folder(False), "ImageFolder, shuffled": lambda: folder(True),
           "webdataset, in order": shards,
           "datasets, plain, in order": lambda: parquet("plain", False), "datasets, plain, shuffled": lambda: parquet("plain", True)}
for name, make in readers.items():
    loader, rows = make(), 0
    start = time.perf_counter()
    for pictures in loader:
        rows += len(pictures["image"] if isinstance(pictures, dict) else pictures[0])
    print(json.dumps(dict(reader=name, rows=rows, speed=rows / (time.perf_counter() - start))), flush=True)
