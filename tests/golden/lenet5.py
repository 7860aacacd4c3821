"""What the peer programs share: the AdverTorch LeNet5, the MNIST test set, and safetensors files read and written by hand."""
import gzip, json, os, struct

import numpy as np
import torch
from torch import nn


def read_safetensors(path):
    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        header, data = json.loads(file.read(size)), file.read()
    kinds = {"F32": "<f4", "F64": "<f8"}
    named = {name: entry for name, entry in header.items() if name != "__metadata__"}
    array = lambda e: np.frombuffer(data[slice(*e["data_offsets"])], kinds[e["dtype"]]).reshape(e["shape"])
    return {name: array(entry) for name, entry in named.items()}


def write_safetensors(path, arrays):
    """Every array is written as float64."""
    header, chunks, at = {}, [], 0
    for name, array in arrays.items():
        chunk = np.ascontiguousarray(array, dtype="<f8").tobytes()
        header[name] = dict(dtype="F64", shape=list(np.shape(array)), data_offsets=[at, at + len(chunk)])
        chunks.append(chunk)
        at += len(chunk)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(chunks))


def load_model(path, dtype=torch.float32):
    net = nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(64 * 7 * 7, 200), nn.ReLU(), nn.Linear(200, 10))
    state = read_safetensors(path)
    layers = {"conv1": 0, "conv2": 3, "linear1": 7, "linear2": 9}
    net.load_state_dict({f"{at}.{part}": torch.tensor(state[f"{name}.{part}"])
                         for name, at in layers.items() for part in ("weight", "bias")})
    return net.to(dtype).eval()


def load_mnist(folder, count):
    """The first `count` test images [count, 1, 28, 28] as float64 in [0, 1], and their labels."""
    with gzip.open(os.path.join(folder, "t10k-images-idx3-ubyte.gz")) as file:
        images = np.frombuffer(file.read(16 + count * 784), np.uint8, offset=16).reshape(count, 1, 28, 28)
    with gzip.open(os.path.join(folder, "t10k-labels-idx1-ubyte.gz")) as file:
        labels = np.frombuffer(file.read(8 + count), np.uint8, offset=8)
    return images / 255.0, labels.astype(np.int64)
