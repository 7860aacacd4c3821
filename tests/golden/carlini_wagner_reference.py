"""How far foolbox's L2CarliniWagnerAttack takes images, in float64, each image by itself, since it stops by the loss of a whole batch.

usage: carlini_wagner_reference.py MODEL_SAFETENSORS MNIST_DIR OUT [COUNT=12]
Writes a safetensors file, all F64: away and next, the distances of the first COUNT test images to any other label and to the next one;
away_images, the first 4."""
import json, sys

import torch

import foolbox
from lenet5 import load_mnist, load_model, write_safetensors

model_path, folder, out = sys.argv[1:4]
count = int(sys.argv[4]) if len(sys.argv) > 4 else 12
net = load_model(model_path, torch.float64)
x, y = (torch.from_numpy(v) for v in load_mnist(folder, count))
wrapped = foolbox.PyTorchModel(net, bounds=(0, 1), device="cpu")
attack = foolbox.attacks.L2CarliniWagnerAttack(binary_search_steps=6, steps=100, stepsize=0.05, initial_const=0.01)
goals = dict(away=lambda y: foolbox.criteria.Misclassification(y),
             next=lambda y: foolbox.criteria.TargetedMisclassification((y + 1) % 10))
made = {}
for name, goal in goals.items():
    found = torch.cat([attack.run(wrapped, x[i:i + 1], goal(y[i:i + 1])) for i in range(count)])
    assert found.dtype == torch.float64
    far = (found - x).flatten(1).norm(dim=1)
    made[name] = far
    if name == "away":
        made["away_images"] = found[:4]
    print(json.dumps(dict(name=name, labels=net(found).argmax(1).tolist(), wanted=y.tolist(), mean=far.mean().item())))
write_safetensors(out, made)
