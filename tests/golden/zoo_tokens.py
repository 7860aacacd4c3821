"""Makes zoo_tokens.safetensors as zoo.py makes its own: torchvision's and timm's networks of tokens and their kin on 64 x 64 images
(torch 2.11, torchvision 0.26, timm 1.0.31, CPU)."""
import timm, torchvision
from safetensors.torch import save_file
from zoo import answer, fill, formula

NETWORKS = {
    "vit_b_16": lambda name: torchvision.models.get_model(name, num_classes=10, image_size=64),
    "vit_b_32": lambda name: torchvision.models.get_model(name, num_classes=10, image_size=64),
    "convnext_tiny": lambda name: torchvision.models.get_model(name, num_classes=10),
    "vit_tiny_patch16_224": lambda name: timm.create_model(name, num_classes=10, img_size=64),
}

out = {}
for name, make in NETWORKS.items():
    net = make(name).eval()
    fill(net)
    out[name], out[f"{name}.gradient"] = answer(net.double(), formula(0, (2, 3, 64, 64)))
save_file({name: tensor.float() for name, tensor in out.items()}, "tests/golden/zoo_tokens.safetensors")
