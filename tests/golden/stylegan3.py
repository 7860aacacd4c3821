"""StyleGAN3 networks of github.com/NVlabs/stylegan3 with few channels and layers and random weights, and what they give in evaluation, layer
by layer, in configurations T and R: python stylegan3.py PATH-OF-A-CHECKOUT writes stylegan3.safetensors (torch 2.11.0)."""

import pathlib
import sys

import torch
from safetensors.torch import save_file

sys.path.insert(0, sys.argv[1])
from training import networks_stylegan3  # noqa: E402

torch.manual_seed(0)
kept = {}
for name, labels, how in [("t", 0, {}), ("r", 3, dict(conv_kernel=1, use_radial_filters=True))]:
    g = networks_stylegan3.Generator(
        z_dim=10, c_dim=labels, w_dim=12, img_resolution=32, img_channels=3, channel_base=64, channel_max=6, num_layers=6, **how
    ).eval()
    for tensor, value in g.state_dict().items():
        if tensor.endswith("magnitude_ema"):
            value.fill_(1.7)
        elif tensor.endswith("bias") or tensor.endswith("w_avg"):
            value.add_(torch.randn_like(value) * (20 if "mapping.fc" in tensor else 0.2))
        elif tensor == "synthesis.input.affine.weight":
            value.copy_(torch.randn_like(value))
        elif tensor == "synthesis.input.transform":
            value.add_(0.1 * torch.randn_like(value))
            value[2] = torch.tensor([0.0, 0.0, 1.0])
    with torch.no_grad():
        # Some of what comes of it is cut off at 256.
        getattr(g.synthesis, g.synthesis.layer_names[-1]).weight.mul_(300)
    kept |= {f"{name}.g.{key}": value.clone() for key, value in g.state_dict().items()}
    seen = {}
    for layer in ["input"] + g.synthesis.layer_names:
        getattr(g.synthesis, layer).register_forward_hook(lambda _m, _i, out, at=layer: seen.__setitem__(at, out.clone()))
    z = torch.randn(2, 10)
    c = torch.eye(labels)[[2, 0]] if labels else torch.zeros(2, 0)
    with torch.no_grad():
        w = g.mapping(z, c, truncation_psi=0.7)
        image = g.synthesis(w, force_fp32=True)
    kept |= {f"{name}.z": z, f"{name}.w": w[:, 0].clone(), f"{name}.image": image}
    for at, value in seen.items():
        kept |= {f"{name}.seen.{at}.mean": value.mean((2, 3)), f"{name}.seen.{at}.std": value.std((2, 3))}
    print(name, list(seen), image.abs().max().item())
save_file({name: tensor.detach().contiguous() for name, tensor in kept.items()}, pathlib.Path(__file__).with_name("stylegan3.safetensors"))
