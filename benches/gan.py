"""The training of viva's `generator::train` in plain PyTorch: a conditional WGAN-GP with auxiliary classifier on 28 x 28 images.

usage: gan.py STEPS CRITIC_STEPS BATCH THREADS; prints one line of JSON."""
import json
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

steps, critic_steps, batch, threads = map(int, sys.argv[1:5])
torch.set_num_threads(threads)
torch.manual_seed(0)


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.stages = nn.Sequential(
            nn.Linear(110, 1024, bias=False), nn.BatchNorm1d(1024), nn.ReLU(),
            nn.Linear(1024, 6272, bias=False), nn.BatchNorm1d(6272), nn.ReLU(), nn.Unflatten(1, (128, 7, 7)),
            nn.ConvTranspose2d(128, 64, 4, 2, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU(),
            nn.ConvTranspose2d(64, 1, 4, 2, 1), nn.Sigmoid())

    def forward(self, z, y):
        return self.stages(torch.cat([z, F.one_hot(y, 10).float()], 1))


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 32, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(32, 64, 4, 2, 1), nn.LeakyReLU(0.2),
            nn.Flatten(), nn.Linear(3136, 256), nn.LeakyReLU(0.2))
        self.real = nn.Linear(266, 1)
        self.label = nn.Linear(256, 10)

    def forward(self, x, y):
        h = self.features((x - 0.5) / 0.5)
        return self.real(torch.cat([h, F.one_hot(y, 10).float()], 1))[:, 0], self.label(h)


images, labels = torch.rand(6000, 1, 28, 28), torch.randint(0, 10, (6000,))
g, d = Generator(), Discriminator()
og = torch.optim.Adam(g.parameters(), lr=5e-4, betas=(0.0, 0.9))
od = torch.optim.Adam(d.parameters(), lr=5e-4, betas=(0.0, 0.9))


def run(count):
    for _ in range(count):
        for turn in range(critic_steps):
            rows = torch.randint(0, 6000, (batch,))
            x, y = images[rows], labels[rows]
            # The generator's step uses the last images.
            with torch.set_grad_enabled(turn + 1 == critic_steps):
                images_drawn = g(torch.randn(batch, 100), y)
            fake = images_drawn.detach()
            real, said = d(x, y)
            drawn, _ = d(fake, y)
            share = torch.rand(batch, 1, 1, 1)
            between = (fake + share * (x - fake)).requires_grad_()
            gradient, = torch.autograd.grad(d(between, y)[0].sum(), between, create_graph=True)
            penalty = ((gradient.flatten(1).square().sum(1) + 1e-12).sqrt() - 1).square().mean()
            loss = drawn.mean() - real.mean() + 10 * penalty + F.cross_entropy(said, y)
            od.zero_grad()
            loss.backward()
            od.step()
        real, said = d(images_drawn, y)
        loss = -real.mean() + F.cross_entropy(said, y)
        og.zero_grad()
        loss.backward()
        og.step()


run(3)
began = time.perf_counter()
run(steps)
print(json.dumps({"torch": torch.__version__, "steps_per_second": steps / (time.perf_counter() - began)}))
