"""100 Adam steps on perturbations of a DCGAN-28's activations for a batch of seeds, in plain PyTorch: what latent.rs is compared with.
usage: latent.py LAYERS BATCH STEPS THREADS, LAYERS all or last2. Prints seed-steps per second as JSON."""
import json
import sys
import time

import torch
from torch import nn

layers, batch, steps, threads = sys.argv[1], *map(int, sys.argv[2:])
torch.set_num_threads(threads)
torch.manual_seed(0)
stages = nn.ModuleList([
    nn.Sequential(nn.Linear(110, 1024), nn.BatchNorm1d(1024), nn.ReLU()),
    nn.Sequential(nn.Linear(1024, 6272), nn.BatchNorm1d(6272), nn.ReLU(), nn.Unflatten(1, (128, 7, 7))),
    nn.Sequential(nn.ConvTranspose2d(128, 64, 4, 2, 1), nn.BatchNorm2d(64), nn.ReLU()),
    nn.Sequential(nn.ConvTranspose2d(64, 1, 4, 2, 1))]).eval()
classifier = nn.Sequential(
    nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Linear(3136, 200), nn.ReLU(), nn.Linear(200, 10)).eval()
for p in [*stages.parameters(), *classifier.parameters()]:
    p.requires_grad_(False)
labels = torch.arange(batch) % 10
z = torch.cat([torch.randn(batch, 100), nn.functional.one_hot(labels, 10).float()], 1)
target = (labels + 1) % 10
shapes = [(1024,), (128, 7, 7), (64, 14, 14), (1, 28, 28)]
use = [0, 1, 2, 3] if layers == "all" else [2, 3]


def run():
    changes = [torch.zeros(batch, *shapes[i], requires_grad=True) for i in use]
    adam = torch.optim.Adam(changes, lr=0.004)
    for k in range(steps):
        h = z
        for i, stage in enumerate(stages):
            h = stage(h)
            if i in use:
                h = h + changes[use.index(i)]
        scores = classifier(h.sigmoid())
        own = scores.gather(1, target[:, None])[:, 0]
        other = scores.scatter(1, target[:, None], -1e9).max(1)[0]
        adam.zero_grad()
        (other - own).sum().backward()
        adam.step()
        with torch.no_grad():
            norm = torch.stack([p.flatten(1).pow(2).sum(1) for p in changes]).sum(0).sqrt().clamp_min(1e-12)
            scale = ((0.1 + 0.001 * k) / norm).clamp_max(1)
            for p in changes:
                p.mul_(scale.view(-1, *[1] * (p.dim() - 1)))


run()
start = time.perf_counter()
run()
print(json.dumps({"seed_steps_per_second": batch * steps / (time.perf_counter() - start), "torch": torch.__version__}))
