"""StyleGAN2 networks of github.com/NVlabs/stylegan2-ada-pytorch with few channels and random weights, and what they give in evaluation, layer
by layer: python stylegan2.py PATH-OF-A-CHECKOUT writes stylegan2.safetensors (torch 2.11.0)."""

import pathlib
import sys

import numpy as np
import torch
from safetensors.torch import save_file

sys.path.insert(0, sys.argv[1])
from torch_utils.ops import bias_act, upfirdn2d  # noqa: E402
from training import networks  # noqa: E402

torch.manual_seed(0)
kept = {}
for name, labels, colours in [("plain", 0, 3), ("labelled", 4, 1)]:
    g = networks.Generator(
        z_dim=10,
        c_dim=labels,
        w_dim=12,
        img_resolution=16,
        img_channels=colours,
        mapping_kwargs=dict(num_layers=2),
        synthesis_kwargs=dict(channel_base=128, channel_max=10, conv_clamp=256),
    ).eval()
    for tensor, value in g.state_dict().items():
        if tensor.endswith("noise_strength"):
            value.fill_(0.3)
        elif tensor.endswith("bias") or tensor.endswith("w_avg"):
            value.add_(torch.randn_like(value) * (20 if "mapping.fc" in tensor else 0.2))
    # Some of what comes of it is cut off at 256.
    with torch.no_grad():
        g.synthesis.b8.torgb.weight.mul_(200)
    kept |= {f"{name}.g.{key}": value.clone() for key, value in g.state_dict().items()}
    seen = {}
    for block in ["b4", "b8", "b16"]:
        for layer in ["conv0", "conv1", "torgb"]:
            module = getattr(getattr(g.synthesis, block), layer, None)
            if module is not None:
                module.register_forward_hook(lambda _m, _i, out, at=f"{block}.{layer}": seen.__setitem__(at, out.clone()))
    z = torch.randn(3, 10)
    c = torch.eye(labels)[[2, 0, 3]] if labels else torch.zeros(3, 0)
    for psi in [1, 0.7]:
        with torch.no_grad():
            w = g.mapping(z, c, truncation_psi=psi)
            image = g.synthesis(w, noise_mode="const")
        kept |= {f"{name}.{psi}.w": w[:, 0].clone(), f"{name}.{psi}.image": image.clone()}
    # Gradients of what is seen with respect to w, all layers alike.
    leaf = w[:, 0].detach().requires_grad_(True)
    image = g.synthesis(leaf[:, None].repeat(1, g.num_ws, 1), noise_mode="const")
    (gradient,) = torch.autograd.grad((image * torch.linspace(-1, 1, image.numel()).reshape(image.shape)).sum(), leaf)
    kept |= {f"{name}.z": z, f"{name}.gradient": gradient}
    kept |= {f"{name}.seen.{at}": value for at, value in seen.items()}
    print(name, image.abs().max().item(), max(v.abs().max().item() for v in seen.values()))
save_file({name: tensor.detach().contiguous() for name, tensor in kept.items()}, pathlib.Path(__file__).with_name("stylegan2.safetensors"))
