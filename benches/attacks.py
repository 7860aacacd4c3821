"""Other people's attack loops on the LeNet5: the peers of the attack benches.

usage: attacks.py MODEL_SAFETENSORS IMAGES THREADS [VARIANT...]
IMAGES: 256 x 1 x 28 x 28 raw float32 in [0, 1]. The labels attacked are the model's own predictions. Linf, epsilon 0.3, 40 steps
of 0.01, no random start, all 256 images in one batch; one JSON line per variant, the median of 3 runs after a warm-up:
  hand             the loop as people write it: loss.backward(), the parameters' gradients computed along with the image's
  torchattacks     PGD
  foolbox          LinfBasicIterativeAttack
  foolbox_sweep10  one call of LinfPGD with ten epsilons up to 0.3, which foolbox runs one after another; 1 run
  adef             adef_port.py on the first 200 images, sigma 0.5, overshoot 1.2
All of them by default. Each variant also reports the CPU seconds of the whole process."""
import json, os, statistics, sys, time

model_path, images_path, threads = sys.argv[1:4]
os.environ["OMP_NUM_THREADS"] = threads
import numpy as np
import scipy
import torch
import torch.nn.functional as F

import foolbox, torchattacks
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "golden"))
from adef_port import adef
from lenet5 import load_model

torch.set_num_threads(int(threads))
EPS, ALPHA, STEPS = 0.3, 0.01, 40

net = load_model(model_path)
x0 = torch.from_numpy(np.fromfile(images_path, np.float32, 256 * 784).reshape(256, 1, 28, 28))
with torch.no_grad():
    labels = net(x0).argmax(1)


def hand(x0, labels):
    x = x0.clone()
    for _ in range(STEPS):
        x = x.detach().requires_grad_(True)
        net.zero_grad()
        F.cross_entropy(net(x), labels).backward()
        with torch.no_grad():
            x = x + ALPHA * x.grad.sign()
            x = torch.minimum(torch.maximum(x, x0 - EPS), x0 + EPS).clamp(0, 1)
    return x.detach()


wrapped = foolbox.PyTorchModel(net, bounds=(0, 1), device="cpu")
pgd = torchattacks.PGD(net, eps=EPS, alpha=ALPHA, steps=STEPS, random_start=False)
bim = foolbox.attacks.LinfBasicIterativeAttack(steps=STEPS, abs_stepsize=ALPHA, random_start=False)
sweep = foolbox.attacks.LinfPGD(steps=STEPS, rel_stepsize=ALPHA / EPS)
epsilons = [EPS * (i + 1) / 10 for i in range(10)]


def deformed(x0, labels):
    found = [adef(net, image.double().numpy()) for image in x0[:200]]
    return torch.from_numpy(np.stack([one["deformed"] for one in found])).float()


VARIANTS = {
    "hand": (f"torch {torch.__version__}", hand, 3),
    "torchattacks": (torchattacks.__version__, pgd, 3),
    "foolbox": (foolbox.__version__, lambda x, y: bim(wrapped, x, y, epsilons=EPS)[1], 3),
    "foolbox_sweep10": (foolbox.__version__, lambda x, y: torch.stack(sweep(wrapped, x, y, epsilons=epsilons)[1]), 1),
    "adef": (f"scipy {scipy.__version__}", deformed, 1),
}
for name in sys.argv[4:] or VARIANTS:
    version, attack, runs = VARIANTS[name]
    net.requires_grad_(True)
    attack(x0[:8], labels[:8]) if runs == 1 else attack(x0, labels)
    seconds, cpu = [], []
    for _ in range(runs):
        start = time.perf_counter(), time.process_time()
        found = attack(x0, labels)
        seconds.append(time.perf_counter() - start[0])
        cpu.append(time.process_time() - start[1])
    line = dict(name=name, version=version, seconds=statistics.median(seconds), cpu_seconds=statistics.median(cpu), runs=seconds)
    with torch.no_grad():
        rate = lambda x: (net(x).argmax(1) != labels[: len(x)]).float().mean().item()
        rates = [rate(x) for x in found] if found.ndim == 5 else [rate(found)]
        if found.ndim == 4:
            line["predicted"] = net(found).argmax(1).tolist()
    line["success"] = rates[-1]
    if len(rates) > 1:
        line["success_by_epsilon"] = rates
    if name == "adef":
        line["images_per_second"] = len(found) / line["seconds"]
    print(json.dumps(line), flush=True)
