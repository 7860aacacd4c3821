"""Reference images of the basic iterative method, in float64, from independent implementations.

usage: bim_reference.py MODEL_SAFETENSORS MNIST_DIR OUT [COUNT=8 [EPS_LINF=0.3 EPS_L2=2.0]]
Writes a safetensors file of the first COUNT test images, all F64:
  images, labels  the clean images and the true labels, which are the labels attacked
  linf            torchattacks PGD without random start: EPS_LINF, 10 steps of 0.01
  targeted        the same towards (label + 1) % 10
  l2              foolbox L2BasicIterativeAttack: EPS_L2, 10 steps of 0.1
  schedule        a plain loop, 20 steps x += clip(0.01 + i/1e4, 0, 0.1) * g/||g||, no projection, no clipping
The first three are checked against a plain loop, and every input of the network against float64.
The defaults never reach the ball: for a file that tests the projection, give 4 images, 0.05 and 0.5."""
import contextlib, io, json, sys

import numpy as np
import torch
import torch.nn.functional as F

import foolbox, torchattacks
from lenet5 import load_mnist, load_model, write_safetensors

model_path, folder, out = sys.argv[1:4]
count = int(sys.argv[4]) if len(sys.argv) > 4 else 8
eps_linf, eps_l2 = map(float, sys.argv[5:7]) if len(sys.argv) > 6 else (0.3, 2.0)
STEPS, ALPHA_LINF, ALPHA_L2 = 10, 0.01, 0.1

net = load_model(model_path, torch.float64)
kinds = set()
for layer in net:
    layer.register_forward_hook(lambda _, given, made: kinds.update((given[0].dtype, made.dtype)))
x0, y = (torch.from_numpy(v) for v in load_mnist(folder, count))
target = (y + 1) % 10


def gradient(x, labels):
    x = x.detach().requires_grad_(True)
    (g,) = torch.autograd.grad(F.cross_entropy(net(x), labels, reduction="sum"), x)
    assert g.dtype == torch.float64
    return g


def lengths(v):
    return v.flatten(1).norm(dim=1).view(-1, 1, 1, 1)


def loop_linf(labels, sign):
    x = x0
    for _ in range(STEPS):
        x = x + sign * ALPHA_LINF * gradient(x, labels).sign()
        x = (x0 + (x - x0).clamp(-eps_linf, eps_linf)).clamp(0, 1)
    return x


def loop_l2():
    x = x0
    for _ in range(STEPS):
        g = gradient(x, y)
        delta = x + ALPHA_L2 * g / lengths(g) - x0
        x = (x0 + delta * (eps_l2 / lengths(delta)).clamp(max=1)).clamp(0, 1)
    return x


def loop_schedule():
    x = x0
    for i in range(20):
        g = gradient(x, y)
        x = x + float(np.clip(0.01 + i / 1e4, 0, 0.1)) * g / lengths(g)
    return x


attack = torchattacks.PGD(net, eps=eps_linf, alpha=ALPHA_LINF, steps=STEPS, random_start=False)
linf = attack(x0, y)
attack.set_mode_targeted_by_function(lambda images, labels: (labels + 1) % 10, quiet=True)
targeted = attack(x0, y)
bim = torchattacks.BIM(net, eps=eps_linf, alpha=ALPHA_LINF, steps=STEPS)(x0, y)
wrapped = foolbox.PyTorchModel(net, bounds=(0, 1), device="cpu")
attack = foolbox.attacks.L2BasicIterativeAttack(abs_stepsize=ALPHA_L2, steps=STEPS, random_start=False)
_, l2, _ = attack(wrapped, x0, y, epsilons=eps_l2)
schedule = loop_schedule()
assert kinds == {torch.float64}, kinds

made = dict(linf=linf, l2=l2, targeted=targeted, schedule=schedule)
for name, other in dict(linf=loop_linf(y, 1), l2=loop_l2(), targeted=loop_linf(target, -1)).items():
    assert made[name].dtype == torch.float64
    difference = (made[name] - other).abs().max().item()
    print(json.dumps(dict(name=name, difference_from_plain_loop=difference)))
    assert difference < 1e-12
print(json.dumps(dict(name="torchattacks BIM against PGD", difference=(bim - linf).abs().max().item())))
with torch.no_grad():
    for name, x in dict(clean=x0, **made).items():
        wanted = target if name == "targeted" else y
        print(json.dumps(dict(
            name=name, labels=net(x).argmax(1).tolist(), mean_loss=F.cross_entropy(net(x), wanted).item(),
            linf=(x - x0).abs().max().item(), l2=lengths(x - x0).flatten().tolist())))
write_safetensors(out, dict(images=x0, labels=y, **made))
