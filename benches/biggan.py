"""BigGAN-deep (Brock, Donahue and Simonyan 2019, Appendix B) in PyTorch, and checkpoints of it with random weights: for gpu.py."""
import torch
import torch.nn.functional as F
from torch import nn

# Blocks of BigGAN-deep by the side of its images: whether one doubles the sides, channels before and after.
DEEP = {
    128: [(0, 16, 16), (1, 16, 16), (0, 16, 16), (1, 16, 8), (0, 8, 8), (1, 8, 4), (0, 4, 4), (1, 4, 2), (0, 2, 2), (1, 2, 1)],
    256: [(0, 16, 16), (1, 16, 16), (0, 16, 16), (1, 16, 8), (0, 8, 8), (1, 8, 8), (0, 8, 8), (1, 8, 4), (0, 4, 4), (1, 4, 2),
          (0, 2, 2), (1, 2, 1)],
}
STATISTICS = 51


def biggan_weights(side, width, latent, classes):
    """A state dict with the names of pytorch-pretrained-BigGAN, of random weights."""
    torch.manual_seed(0)
    state = {}

    def spectral(name, *size, norm=1.0):
        weight = torch.randn(size)
        flat = weight.flatten(1)
        v = F.normalize(torch.randn(flat.shape[1]), dim=0)
        for _ in range(5):
            u = F.normalize(flat @ v, dim=0)
            v = F.normalize(flat.T @ u, dim=0)
        state.update({f"{name}.weight_orig": weight, f"{name}.weight_u": u / norm, f"{name}.weight_v": v})

    def biased(name, *size, **more):
        spectral(name, *size, **more)
        state[f"{name}.bias"] = torch.randn(size[0]) * 0.1

    def statistics(name, n):
        state[f"{name}.running_means"] = torch.randn(STATISTICS, n) * 0.1
        state[f"{name}.running_vars"] = torch.rand(STATISTICS, n) + 0.5

    state["embeddings.weight"] = torch.randn(latent, classes)
    biased("generator.gen_z", 256 * width, 2 * latent)
    at, i = 4, 0
    for up, before, after in DEEP[side]:
        before, after = before * width, after * width
        if at == 64 and not any("snconv" in name for name in state):
            for part, out, into in (("theta", 8, 1), ("phi", 8, 1), ("g", 2, 1), ("o_conv", 1, 2)):
                spectral(f"generator.layers.{i}.snconv1x1_{part}", before // out, before // into, 1, 1)
            state[f"generator.layers.{i}.gamma"] = torch.tensor([0.5])
            i += 1
        inner = before // 4
        for k, (a, b, kernel) in enumerate([(before, inner, 1), (inner, inner, 3), (inner, inner, 3), (inner, after, 1)]):
            spectral(f"generator.layers.{i}.bn_{k}.scale", a, 2 * latent)
            spectral(f"generator.layers.{i}.bn_{k}.offset", a, 2 * latent)
            statistics(f"generator.layers.{i}.bn_{k}", a)
            biased(f"generator.layers.{i}.conv_{k}", b, a, kernel, kernel)
        i, at = i + 1, at * (2 if up else 1)
    statistics("generator.bn", width)
    state.update({"generator.bn.weight": torch.rand(width) + 0.5, "generator.bn.bias": torch.randn(width) * 0.1})
    biased("generator.conv_to_rgb", width, width, 3, 3, norm=3.0)
    # As training leaves them: without these statistics every pixel would be black or white.
    with torch.inference_mode():
        maps = BigGan(state, side).maps(torch.randn(8, latent) * 0.4, torch.arange(8) % classes)
        state["generator.bn.running_means"] = maps.mean((0, 2, 3)).repeat(STATISTICS, 1)
        state["generator.bn.running_vars"] = maps.var((0, 2, 3)).repeat(STATISTICS, 1)
    return state


class BigGan(nn.Module):
    """BigGAN-deep at truncation 0.4, with what does not depend on its input worked out before."""

    def __init__(self, state, side):
        super().__init__()
        self.side, self.width = side, len(state["generator.bn.weight"])
        for name, tensor in state.items():
            if name.endswith("_orig"):
                u, v = state[name[:-4] + "u"], state[name[:-4] + "v"]
                self.put(name[: -len("_orig")], tensor / (u @ (tensor.flatten(1) @ v)))
            elif name.endswith("running_means"):
                self.put(name[: -len("running_means")] + "mean", tensor[20])
            elif name.endswith("running_vars"):
                self.put(name[: -len("running_vars")] + "deviation", (tensor[20] + 1e-4).sqrt())
            elif not name.endswith(("_u", "_v")):
                self.put(name, tensor)

    def put(self, name, tensor):
        self.register_buffer(name.replace(".", "_"), tensor)

    def of(self, name):
        return getattr(self, "generator_" + name.replace(".", "_"))

    def norm(self, name, x, condition):
        scale = (1 + F.linear(condition, self.of(f"{name}.scale.weight"))) / self.of(f"{name}.deviation")
        offset = F.linear(condition, self.of(f"{name}.offset.weight")) - self.of(f"{name}.mean") * scale
        return F.relu(x * scale[:, :, None, None] + offset[:, :, None, None])

    def attention(self, name, x):
        n, c, h, w = x.shape
        conv = lambda part: F.conv2d(x, self.of(f"{name}.snconv1x1_{part}.weight"))
        theta = conv("theta").flatten(2).transpose(1, 2)
        phi = F.max_pool2d(conv("phi"), 2).flatten(2)
        g = F.max_pool2d(conv("g"), 2).flatten(2)
        seen = (g @ torch.softmax(theta @ phi, -1).transpose(1, 2)).reshape(n, c // 2, h, w)
        return x + F.conv2d(seen, self.of(f"{name}.snconv1x1_o_conv.weight")) * self.of(f"{name}.gamma")

    def maps(self, z, labels):
        """What the blocks make, before the last batch norm."""
        condition = torch.cat([z, self.embeddings_weight.T[labels]], 1)
        x = F.linear(condition, self.of("gen_z.weight"), self.of("gen_z.bias"))
        x = x.reshape(-1, 4, 4, 16 * self.width).permute(0, 3, 1, 2)
        i, attended = 0, False
        for up, _, after in DEEP[self.side]:
            if x.shape[-1] == 64 and not attended:
                x, i, attended = self.attention(f"layers.{i}", x), i + 1, True
            h = x
            for k in range(4):
                h = self.norm(f"layers.{i}.bn_{k}", h, condition)
                if up and k == 1:
                    h = F.interpolate(h, scale_factor=2)
                weight = self.of(f"layers.{i}.conv_{k}.weight")
                h = F.conv2d(h, weight, self.of(f"layers.{i}.conv_{k}.bias"), padding=weight.shape[-1] // 2)
            beside = x[:, : after * self.width]
            x, i = h + (F.interpolate(beside, scale_factor=2) if up else beside), i + 1
        return x

    def forward(self, z, labels):
        x = self.maps(z, labels)
        scale = self.of("bn.weight") / self.of("bn.deviation")
        offset = self.of("bn.bias") - self.of("bn.mean") * scale
        x = F.relu(x * scale[:, None, None] + offset[:, None, None])
        x = F.conv2d(x, self.of("conv_to_rgb.weight"), self.of("conv_to_rgb.bias"), padding=1)[:, :3]
        return (x.tanh() + 1) / 2
