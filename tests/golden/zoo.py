"""Makes zoo.safetensors: what torchvision's networks answer with weights from a formula (torch 2.11, torchvision 0.26, CPU).

Worked out in double precision, in which no processor's order of sums carries a number over a rectifier's corner, and kept in
single precision."""
import numpy as np, torch, torchvision
from safetensors.torch import save_file

NAMES = """alexnet efficientnet_b0 mobilenet_v2 resnet18 resnet34 resnet50 resnet101 resnet152 squeezenet1_0 squeezenet1_1
vgg11 vgg13_bn vgg16 vgg19_bn""".split()
TABLE = 65521


def formula(tensor, size):
    """Numbers that any language computes alike; beyond a prime number of them they repeat."""
    n = int(np.prod(size))
    i = np.arange(min(n, TABLE), dtype=np.uint64)
    x = (i * np.uint64(2654435761) + np.uint64(tensor * 40503 + 12345)) & np.uint64(0xFFFFFFFF)
    x ^= x >> np.uint64(15)
    x = (x * np.uint64(2246822519)) & np.uint64(0xFFFFFFFF)
    x ^= x >> np.uint64(13)
    table = torch.from_numpy((x.astype(np.float64) / 2**31 - 1).astype(np.float32))
    return table.repeat(-(-n // TABLE))[:n].reshape(size)


def fill(net):
    """Gives a network weights from the formula."""
    state = {n: t for n, t in net.state_dict().items() if not n.endswith("num_batches_tracked")}
    for k, (n, t) in enumerate(sorted(state.items())):
        u = formula(k + 1, tuple(t.shape))
        if t.dim() == 1:
            t.copy_(u * 0.5 + 1 if n.endswith(("running_var", "weight")) else u * 0.1)
        else:
            t.copy_(u * (6 / t[0].numel()) ** 0.5)


def answer(net, images):
    """Logits, and row 35 of the gradient of their sum."""
    x = images.double().requires_grad_(True)
    logits = net(x)
    gradient = torch.autograd.grad(logits.sum(), x)[0][:, :, 35].contiguous()
    print(logits.abs().max().item(), gradient.abs().max().item())
    return logits.detach(), gradient


def main():
    out = {}
    images = formula(0, (2, 3, 70, 70))
    for name in NAMES:
        net = getattr(torchvision.models, name)(num_classes=10).eval()
        fill(net)
        net = net.double()
        out[name], out[f"{name}.gradient"] = answer(net, images)
        if name == "resnet18":
            out[f"{name}.train"] = net.train()(images.double()).detach()
            out[f"{name}.running_mean"] = net.bn1.running_mean.clone()
        if name == "mobilenet_v2":
            # What comes after it is random: dropout.
            net.train()(images.double())
            out[f"{name}.running_mean"] = net.features[18][1].running_mean.clone()
    save_file({name: tensor.float() for name, tensor in out.items()}, "tests/golden/zoo.safetensors")


if __name__ == "__main__":
    main()
