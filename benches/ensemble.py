"""torchattacks' AutoAttack on networks behind a shared file format: the peer of the ensemble bench.

usage: ensemble.py NETWORK IMAGES LABELS SHAPE RADIUS THREADS
NETWORK: a TorchScript program from images in [0, 1] to scores; IMAGES: raw float32, LABELS: raw int64; SHAPE: CxHxW. Linf, the
members of the standard version with the 100 steps and 5000 queries of the paper (torchattacks' own default is 10 steps), all images in one
batch. Prints one JSON line.

usage: ensemble.py --trace WEIGHTS KIND SHAPE MEAN STD MASK OUT
writes that program: of a network of strided convolutions or AdverTorch's LeNet5 (KIND: strided, lenet5), its input normalised, and a MASK in
front or behind: none, scaled (scores times 300), rounded (pixels to 16 values), resized (by a random size, drawn anew)."""
import json, os, sys, time

if sys.argv[1] != "--trace":
    os.environ["OMP_NUM_THREADS"] = sys.argv[6]
import numpy as np
import torch
from torch import nn

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "golden"))
from lenet5 import load_model, read_safetensors


class Masked(nn.Module):
    def __init__(self, net, mean, std, mask: str):
        super().__init__()
        self.net, self.mask = net, mask
        self.register_buffer("mean", torch.tensor(mean).reshape(1, -1, 1, 1))
        self.register_buffer("std", torch.tensor(std).reshape(1, -1, 1, 1))

    def forward(self, x):
        if self.mask == "rounded":
            x = torch.round(x * 15) / 15
        if self.mask == "resized":
            side: int = x.shape[-1] - int(torch.randint(0, 5, (1,)).item())
            small = torch.nn.functional.interpolate(x, size=[side, side], mode="bilinear", align_corners=False)
            x = torch.nn.functional.interpolate(small, size=[x.shape[-1], x.shape[-1]], mode="bilinear", align_corners=False)
        scores = self.net((x - self.mean) / self.std)
        return scores * 300 if self.mask == "scaled" else scores


def trace(weights, kind, shape, mean, std, mask, out):
    channels, height, _ = map(int, shape.split("x"))
    if kind == "lenet5":
        net = load_model(weights)
    else:
        flat = 32 * (height // 4) ** 2
        net = nn.Sequential(nn.Conv2d(channels, 16, 4, 2, 1), nn.ReLU(), nn.Conv2d(16, 32, 4, 2, 1), nn.ReLU(),
                            nn.Flatten(), nn.Linear(flat, 100), nn.ReLU(), nn.Linear(100, 10))
        net.load_state_dict({name: torch.tensor(np.array(array)) for name, array in read_safetensors(weights).items()})
    numbers = lambda text: [float(x) for x in text.split(",")]
    for parameter in net.parameters():
        parameter.requires_grad_(False)
    torch.jit.script(Masked(net, numbers(mean), numbers(std), mask).eval()).save(out)


def attack(network, images, labels, shape, radius, threads):
    import torchattacks

    torch.set_num_threads(int(threads))
    torch.manual_seed(0)
    net = torch.jit.load(network).eval()
    size = [-1] + [int(side) for side in shape.split("x")]
    x, y = torch.from_numpy(np.fromfile(images, np.float32).reshape(size)), torch.from_numpy(np.fromfile(labels, np.int64))
    with torch.no_grad():
        standing = (net(x).argmax(1) == y).sum().item()
    began, cpu = time.perf_counter(), time.process_time()
    common = dict(eps=float(radius), norm="Linf", seed=0)
    found = torchattacks.MultiAttack([
        torchattacks.APGD(net, steps=100, loss="ce", **common),
        torchattacks.APGDT(net, steps=100, n_classes=10, **common),
        torchattacks.FAB(net, steps=100, multi_targeted=True, n_classes=10, **common),
        torchattacks.Square(net, n_queries=5000, **common),
    ])(x, y)
    wall, cpu = time.perf_counter() - began, time.process_time() - cpu
    assert (found - x).abs().max() <= float(radius) + 1e-5 and found.min() >= 0 and found.max() <= 1
    with torch.no_grad():
        left = (net(found).argmax(1) == y).sum().item()
    print(json.dumps(dict(standing=standing, left=left, images=len(y), wall=wall, cpu=cpu,
                          versions=f"torchattacks {torchattacks.__version__}, torch {torch.__version__}")))


if __name__ == "__main__":
    trace(*sys.argv[2:]) if sys.argv[1] == "--trace" else attack(*sys.argv[1:])
