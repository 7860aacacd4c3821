"""One step of a generator's finetuning with classifiers that keep labels, in plain PyTorch: the losses of Dunn 2022, Sections 4.1.1 and
4.1.3, and keep_weight times the mean of the keepers' cross entropies in l_ordinary; gradients, and Adam's step.

    python3 tests/golden/finetuning_step.py    # writes finetuning_step.safetensors beside it
"""

from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import save_file

torch.manual_seed(11)
N, CLASSES, KAPPA, WEIGHT = 6, 3, -2.0, 10.0


def dense(*sizes):
    return [(torch.randn(b, a) / a**0.5, 0.1 * torch.randn(b)) for a, b in zip(sizes, sizes[1:])]


generator, judge = dense(5 + CLASSES, 12, 16), dense(16, 9, 1)
tested, keepers = dense(16, CLASSES), [dense(16, CLASSES) for _ in range(3)]
labels = torch.arange(N) % CLASSES
z = torch.cat([torch.randn(N, 5), F.one_hot(labels, CLASSES).float()], 1)


def draw():
    (w1, b1), (w2, b2) = generator
    return torch.sigmoid(F.linear(F.relu(F.linear(z, w1, b1)), w2, b2))


def log_odds(x):
    (w1, b1), (w2, b2) = judge
    return F.linear(F.leaky_relu(F.linear(x, w1, b1), 0.2), w2, b2)[:, 0]


def squashed(loss):
    return torch.where(loss > 0, 2 + loss, 1 + torch.exp(torch.clamp(loss, max=0)))


learns = [t.requires_grad_() for layer in generator for t in layer]
out = {"z": z, "labels": labels}
for name, layers in [("generator", generator), ("judge", judge), ("tested", tested)] + [(f"keeper{k}", k_) for k, k_ in enumerate(keepers)]:
    for i, (w, b) in enumerate(layers):
        out[f"{name}.{i}.weight"], out[f"{name}.{i}.bias"] = w.detach().clone(), b.detach().clone()

x = draw()
l_ordinary = F.binary_cross_entropy_with_logits(log_odds(x), torch.ones(N), reduction="none")
kept = sum(F.cross_entropy(F.linear(x, *k[0]), labels, reduction="none") for k in keepers) / len(keepers)
l_ordinary = l_ordinary + WEIGHT * kept
scores = F.linear(x, *tested[0])
own = scores.gather(1, labels[:, None])[:, 0]
l_attack = own - scores.masked_fill(F.one_hot(labels, CLASSES).bool(), -torch.inf).amax(1)
loss = (squashed(l_ordinary) * squashed(l_attack - KAPPA)).mean()
optimiser = torch.optim.Adam(learns, lr=0.0002, betas=(0.0, 0.9), eps=1e-8)
loss.backward()
out |= {"images": x, "l_ordinary": l_ordinary, "l_attack": l_attack, "loss": loss}
for i, t in enumerate(learns):
    out[f"gradient.{i}"] = t.grad.clone()
optimiser.step()
for i, t in enumerate(learns):
    out[f"after.{i}"] = t
save_file({k: v.detach().contiguous() for k, v in out.items()}, Path(__file__).with_suffix(".safetensors"))
