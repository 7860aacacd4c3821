"""How far foolbox's DeepFool takes images, in float64.

usage: deepfool_reference.py MODEL_SAFETENSORS MNIST_DIR OUT [COUNT=200]
Writes a safetensors file, all F64: l2 and linf, the distances of the first COUNT test images with the defaults (50 steps, 10
candidates with the own label, overshoot 0.02), 0 for those that are wrong as they stand; l2_images and linf_images, the first 4."""
import json, sys

import torch

import foolbox
from lenet5 import load_mnist, load_model, write_safetensors

model_path, folder, out = sys.argv[1:4]
count = int(sys.argv[4]) if len(sys.argv) > 4 else 200
net = load_model(model_path, torch.float64)
x, y = (torch.from_numpy(v) for v in load_mnist(folder, count))
wrapped = foolbox.PyTorchModel(net, bounds=(0, 1), device="cpu")
made = {}
for name, attack in (("l2", foolbox.attacks.L2DeepFoolAttack()), ("linf", foolbox.attacks.LinfDeepFoolAttack())):
    _, found, fooled = attack(wrapped, x, y, epsilons=None)
    assert found.dtype == torch.float64
    moved = (found - x).flatten(1)
    far = moved.norm(dim=1) if name == "l2" else moved.abs().amax(1)
    made |= {name: far, f"{name}_images": found[:4]}
    print(json.dumps(dict(name=name, fooled=fooled.sum().item(), mean=far.mean().item())))
write_safetensors(out, made)
