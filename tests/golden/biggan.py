"""Networks of github.com/ajbrock/BigGAN-PyTorch with few channels, what they give in evaluation, and one step of their training:
python biggan.py PATH-OF-A-CHECKOUT writes biggan.safetensors (torch 2.11.0)."""

import pathlib
import sys

import torch
from safetensors.torch import save_file

sys.path.insert(0, sys.argv[1])
import BigGAN  # noqa: E402
import losses  # noqa: E402

torch.manual_seed(0)
how = dict(resolution=64, n_classes=3, G_ch=2, D_ch=2, dim_z=20, shared_dim=6, hier=True, G_shared=True, skip_init=True, SN_eps=1e-6)
g = BigGAN.Generator(G_attn="16", **how)
d = BigGAN.Discriminator(D_attn="8", **how)
for network in (g, d):
    for name, tensor in network.state_dict().items():
        if name.endswith("stored_var"):
            tensor.uniform_(0.5, 2)
        elif name.endswith(("stored_mean", "gamma", "gain", "bias")):
            tensor.normal_(0, 0.5)
        elif name.endswith("weight"):
            tensor.normal_(0, 0.3)

kept = {f"g.{name}": tensor.clone() for name, tensor in g.state_dict().items()}
kept |= {f"d.{name}": tensor.clone() for name, tensor in d.state_dict().items()}
z, y, real = torch.randn(3, 20), torch.tensor([0, 2, 1]), torch.rand(3, 3, 64, 64)
kept |= {"z": z, "y": y, "real": real}
g.eval(), d.eval()
with torch.no_grad():
    kept["images"] = (g(z, g.shared(y)) + 1) / 2
    kept["scores"] = d(2 * real - 1, y).reshape(-1)

# As train_fns.py: the discriminator on drawn and real images together, then the generator through it.
g.train(), d.train()
with torch.no_grad():
    drawn = g(z, g.shared(y))
said = d(torch.cat([drawn, 2 * real - 1]), torch.cat([y, y]))
loss = sum(losses.loss_hinge_dis(said[:3], said[3:]))
loss.backward()
kept["loss_d"] = loss.detach()
kept |= {f"grad_d.{name}": p.grad.clone() for name, p in d.named_parameters()}
loss = losses.loss_hinge_gen(d(g(z, g.shared(y)), y))
g.zero_grad()
loss.backward()
kept["loss_g"] = loss.detach()
kept |= {f"grad_g.{name}": p.grad.clone() for name, p in g.named_parameters()}
kept |= {f"after_g.{name}": tensor.clone() for name, tensor in g.state_dict().items() if not tensor.is_leaf or name.endswith(("u0", "stored_mean", "stored_var"))}
kept |= {f"after_d.{name}": tensor.clone() for name, tensor in d.state_dict().items() if name.endswith("u0")}
save_file({name: tensor.contiguous() for name, tensor in kept.items()}, pathlib.Path(__file__).with_name("biggan.safetensors"))
