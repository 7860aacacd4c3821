"""Makes small files in the layouts in which ImageNet's robust classifiers were published, and what the networks in them answer (torch 2.11,
dill 0.4): robustness_zip.pt and robustness_legacy.pt as MadryLab/robustness saves (attacker and normaliser beside the model, by dill, with
the optimiser, a schedule and arguments), fast_at.pth as locuslab/fast_adversarial does (module., a best accuracy that is a tensor)."""
import argparse
import pathlib
from collections import OrderedDict

import dill
import torch
from safetensors.torch import save_file
from torch import nn
from zoo import fill, formula

HERE = pathlib.Path(__file__).parent
MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


def network():
    parts = OrderedDict(
        conv1=nn.Conv2d(3, 4, 3, 2, 1, bias=False), bn1=nn.BatchNorm2d(4), relu=nn.ReLU(), pool=nn.AdaptiveAvgPool2d(1), flatten=nn.Flatten(), fc=nn.Linear(4, 5)
    )
    return nn.Sequential(parts).eval()


class Normaliser(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("new_mean", torch.tensor(MEAN)[:, None, None])
        self.register_buffer("new_std", torch.tensor(STD)[:, None, None])


class Attacker(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.normalize, self.model = Normaliser(), model


class Attacked(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.normalizer, self.model, self.attacker = Normaliser(), model, Attacker(model)


def main():
    net = network()
    fill(net)
    images = formula(0, (2, 3, 16, 16)).abs()
    normal = (images - torch.tensor(MEAN)[:, None, None]) / torch.tensor(STD)[:, None, None]
    optimiser = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
    net(images).sum().backward()
    optimiser.step()
    optimiser.zero_grad()
    fill(net)
    schedule = torch.optim.lr_scheduler.MultiStepLR(optimiser, [50, 100])
    whole = nn.DataParallel(Attacked(net))
    saved = {
        "model": whole.state_dict(),
        "optimizer": optimiser.state_dict(),
        "schedule": schedule.state_dict(),
        "epoch": 90,
        "nat_prec1": torch.tensor(57.9),
        "args": argparse.Namespace(arch="resnet50", constraint="2", eps=3.0),
    }
    for name, zipped in [("robustness_zip.pt", True), ("robustness_legacy.pt", False)]:
        torch.save(saved, HERE / name, pickle_module=dill, _use_new_zipfile_serialization=zipped)
    fast = {"epoch": 15, "arch": "resnet50", "state_dict": nn.DataParallel(net).state_dict(), "best_prec1": torch.tensor(55.4), "optimizer": optimiser.state_dict()}
    torch.save(fast, HERE / "fast_at.pth")
    with torch.no_grad():
        save_file({"images": images, "logits": net(normal)}, HERE / "checkpoints.safetensors")


if __name__ == "__main__":
    main()
