"""diffusers' AutoencoderKL with few channels and random weights, what its decoder gives block by block, and what its encoder makes of images
(torch 2.11.0, diffusers 0.42.1): python autoencoder_kl.py writes autoencoder_kl.safetensors, weights in half precision, which halves
the file and which the network was given before it was asked."""

import pathlib

import torch
from diffusers import AutoencoderKL
from safetensors.torch import save_file

torch.manual_seed(0)
net = AutoencoderKL(
    block_out_channels=(32, 32), down_block_types=["DownEncoderBlock2D"] * 2, up_block_types=["UpDecoderBlock2D"] * 2, layers_per_block=1, latent_channels=4
).eval()
for name, value in net.state_dict().items():
    if "norm" in name:
        value.add_(0.3 * torch.randn_like(value))
    else:
        value.mul_(1.5)
    value.copy_(value.half().float())
kept = {f"vae.{name}": value.half() for name, value in net.state_dict().items()}
seen = {}
parts = {
    "post_quant_conv": net.post_quant_conv,
    "conv_in": net.decoder.conv_in,
    "mid.resnet0": net.decoder.mid_block.resnets[0],
    "mid.attention": net.decoder.mid_block.attentions[0],
    "mid.resnet1": net.decoder.mid_block.resnets[1],
    "up0.resnet0": net.decoder.up_blocks[0].resnets[0],
    "up0.resnet1": net.decoder.up_blocks[0].resnets[1],
    "up0.upsample": net.decoder.up_blocks[0].upsamplers[0],
    "up1.resnet0": net.decoder.up_blocks[1].resnets[0],
    "up1.resnet1": net.decoder.up_blocks[1].resnets[1],
    "conv_out": net.decoder,
}
for name, module in parts.items():
    module.register_forward_hook(lambda _m, _i, out, name=name: seen.__setitem__(name, out.clone()))
latents, images = torch.randn(2, 4, 6, 8), torch.rand(2, 3, 12, 16)
with torch.no_grad():
    kept["image"] = net.decode(latents).sample
    # The whole of every stage would be much: its means and deviations over places.
    for name, value in seen.items():
        kept[f"seen.{name}.mean"], kept[f"seen.{name}.std"] = value.mean((2, 3)), value.std((2, 3))
    kept["encoded"] = net.encode(2 * images - 1).latent_dist.mode()
kept |= {"latents": latents, "images": images}
print({name: value.abs().max().item() for name, value in kept.items() if name in ("image", "encoded", "seen.mid.attention.std")})
save_file({name: value.contiguous() for name, value in kept.items()}, pathlib.Path(__file__).with_name("autoencoder_kl.safetensors"))
