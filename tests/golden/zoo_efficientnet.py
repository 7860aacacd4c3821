"""Makes zoo_efficientnet.safetensors: what torchvision's larger EfficientNets and timm's of TensorFlow answer with weights from a formula
(torch 2.11, torchvision 0.26, timm 1.0.31, CPU), in double precision: python zoo_efficientnet.py [FILE [NAMES]]."""
import sys

import timm
import torchvision
from safetensors.torch import save_file
from zoo import answer, fill, formula

FILE = sys.argv[1] if len(sys.argv) > 1 else "tests/golden/zoo_efficientnet.safetensors"
NAMES = sys.argv[2:] or ["efficientnet_b1", "efficientnet_b5", "tf_efficientnet_b0_ns", "tf_efficientnet_b4_ns"]

out = {}
for name in NAMES:
    if name.startswith("tf_"):
        net = timm.create_model(name.replace("_ns", ".ns_jft_in1k"), num_classes=10)
    else:
        net = getattr(torchvision.models, name)(num_classes=10)
    net = net.eval()
    fill(net)
    out[name], out[f"{name}.gradient"] = answer(net.double(), formula(0, (2, 3, 70, 70)))
save_file({name: tensor.float() for name, tensor in out.items()}, FILE)
