"""What reads pictures elsewhere: the peers of the readers bench.

usage: readers.py ROOT FORM BATCH WORKERS SHUFFLED
ROOT holds the same rows as folder/, shards/ and parquet/. Prints JSON: rows, rows per second of one pass from before its processes are
started, as viva's threads are, and milliseconds of processor time per row, those of the processes included."""
import glob, json, os, resource, sys, time

root, form, batch, workers, shuffled = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5] == "1"
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["HF_DATASETS_CACHE"] = os.path.join(root, "cache")
os.environ["HF_HUB_OFFLINE"] = "1"
import PIL, PIL.features, torch, torchvision
from torchvision import transforms

torch.set_num_threads(1)
view = transforms.Compose([transforms.Resize(256), transforms.CenterCrop(224), transforms.ToTensor()])


def image(picture):
    return view(picture.convert("RGB"))


def decoded(rows):
    return {"image": [image(picture) for picture in rows["image"]], "label": rows["label"]}


def folder():
    of = torchvision.datasets.ImageFolder(os.path.join(root, "folder"), view)
    return torch.utils.data.DataLoader(of, batch, shuffle=shuffled, num_workers=workers), ""


def shards():
    import webdataset

    of = webdataset.WebDataset(sorted(glob.glob(os.path.join(root, "shards", "*.tar"))), shardshuffle=False)
    of = of.shuffle(1000) if shuffled else of
    of = of.decode("pil").to_tuple("jpg", "cls").map_tuple(image, int).batched(batch)
    return webdataset.WebLoader(of, batch_size=None, num_workers=workers), f", webdataset {webdataset.__version__}"


def parquet():
    import datasets

    datasets.disable_progress_bars()
    files = os.path.join(root, "parquet", "*.parquet")
    of = datasets.load_dataset("parquet", data_files=files, split="train").cast_column("image", datasets.Image())
    loader = torch.utils.data.DataLoader(of.with_transform(decoded), batch, shuffle=shuffled, num_workers=workers)
    return loader, f", datasets {datasets.__version__}"


def busy():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(of.ru_utime + of.ru_stime for of in used)


def passed(loader):
    return sum(len(pictures["image"] if isinstance(pictures, dict) else pictures[0]) for pictures in loader)


loader, also = {"folder": folder, "shards": shards, "parquet": parquet}[form]()
start, before = time.perf_counter(), busy()
rows = passed(loader)
wall = time.perf_counter() - start
versions = (f"torch {torch.__version__}, torchvision {torchvision.__version__}, Pillow {PIL.__version__}, "
            f"libjpeg-turbo {PIL.features.version('libjpeg_turbo')}{also}")
print(json.dumps(dict(versions=versions, rows=rows, speed=rows / wall, busy=1e3 * (busy() - before) / rows)))
