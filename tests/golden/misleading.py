"""TorchScript networks for 1 x 16 x 16 images that mislead: python misleading.py writes its .pt files (torch 2.11.0).

without_gradients.pt answers under no_grad; dropping.pt drops inputs whatever its mode; batch_normed.pt goes by the mean and the deviation
of the batch whatever its mode; softmaxed.pt answers probabilities; paired.pt answers a tuple and named.pt a dictionary; staged_apart.pt is a generator whose first stage takes no notice of its
latent vectors; staged_batched.pt one whose images depend on the batch, staged_leaving.pt one whose activations, changed, lead beyond [0, 1],
staged_noisy.pt one that adds noise of its own to images of label 2, and staged_bright.pt one whose pixels leave [0, 1].
twice.pt holds the weights of one network and averages of them, beside.pt and shadow.pt the averages under other names or within something else, and
behind.pt one network behind a prefix, scaled.pt one with a normalisation beside it, and noted.pt one
with a number; masked.pt has no gradient at half of the pixels, and stepped.pt steep steps of pixels. alone.pt takes one image at a time, places.pt turns its answers round from the ninth image of a batch
on, and seldom.pt draws one answer in fifty.
"""
from typing import Dict, Tuple

import torch


class Without(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.last = torch.nn.Linear(16, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            return self.last(torch.nn.functional.avg_pool2d(x, 4).flatten(1))


class Stepped(torch.nn.Module):
    """Reads pixels as 0, a half or 1, with steps so steep that gradients are next to nothing between them and lead far beyond at them."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.last = torch.nn.Linear(256, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = (torch.sigmoid(200.0 * (x - 0.25)) + torch.sigmoid(200.0 * (x - 0.75))) / 2.0
        return self.last(x.flatten(1))


class Dropping(Without):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.nn.functional.avg_pool2d(x, 4).flatten(1)
        return self.last(torch.nn.functional.dropout(x, 0.5, True))


class BatchNormed(Without):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.nn.functional.avg_pool2d(x, 4).flatten(1)
        mean = x.mean(0, keepdim=True)
        deviation = x.std(0, unbiased=False, keepdim=True)
        return self.last((x - mean) / (deviation + 0.01))


class Softmaxed(Without):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(torch.nn.functional.avg_pool2d(x, 4).flatten(1)).softmax(1)


class Paired(Without):
    def forward(self, x: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
        x = torch.nn.functional.avg_pool2d(x, 4).flatten(1)
        return self.last(x), x


class Named(Without):
    def forward(self, x: torch.Tensor) -> Dict[str, torch.Tensor]:
        return {"logits": self.last(torch.nn.functional.avg_pool2d(x, 4).flatten(1))}


class StagedApart(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.label = torch.nn.Embedding(3, 256)

    @torch.jit.export
    def num_stages(self) -> int:
        return 2

    @torch.jit.export
    def stage(self, i: int, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        if i == 0:
            return self.label(y).reshape(-1, 1, 16, 16)
        return x.sigmoid()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x


class StagedBatched(StagedApart):
    @torch.jit.export
    def stage(self, i: int, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        if i == 0:
            return x.repeat(1, 64).reshape(-1, 1, 16, 16)
        return (x - x.mean(0, keepdim=True)).sigmoid()


class StagedLeaving(StagedApart):
    @torch.jit.export
    def stage(self, i: int, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        if i == 0:
            return x.repeat(1, 64).reshape(-1, 1, 16, 16).tanh()
        return 0.5 + 0.49 * x


class StagedNoisy(StagedApart):
    @torch.jit.export
    def stage(self, i: int, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        if i == 0:
            return x.repeat(1, 64).reshape(-1, 1, 16, 16)
        noise = 0.3 * torch.randn([x.size(0), 1, 16, 16])
        return (x + noise * (y >= 2).to(torch.float32).reshape(-1, 1, 1, 1)).sigmoid()


class StagedBright(StagedApart):
    @torch.jit.export
    def stage(self, i: int, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        if i == 0:
            return x.repeat(1, 64).reshape(-1, 1, 16, 16).tanh()
        return 0.5 + x


weights = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(256, 10)).state_dict()
torch.save({"state_dict": weights, "state_dict_ema": {name: 0.5 * w for name, w in weights.items()}, "epoch": 3}, "twice.pt")

few = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(256, 2)).state_dict()
averages = {name: 0.5 * w for name, w in few.items()}
torch.save({"model": few, "model_ema": {"n_averaged": torch.tensor(5), **{f"module.{name}": w for name, w in averages.items()}}}, "beside.pt")
torch.save({"model": few, "ema": {"decay": 0.9, "shadow": averages}}, "shadow.pt")
torch.save({f"net.{name}": w for name, w in few.items()}, "behind.pt")
torch.save((few, {"accuracy": 0.9}), "noted.pt")
torch.save({**few, "scale.mean": torch.tensor([0.5]), "scale.std": torch.tensor([0.25])}, "scaled.pt")


class Masked(Without):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.cat([x[..., :8], x[..., 8:].detach()], 3)
        return self.last(torch.nn.functional.avg_pool2d(x, 4).flatten(1))


class Alone(Without):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(torch.nn.functional.avg_pool2d(x, 4).reshape(1, 16))


class Places(Without):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scores = self.last(torch.nn.functional.avg_pool2d(x, 4).flatten(1))
        return torch.cat([scores[:8], -scores[8:]])


class Seldom(Without):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scores = self.last(torch.nn.functional.avg_pool2d(x, 4).flatten(1))
        drawn = (torch.rand([x.size(0), 1]) < 0.02).to(torch.float32)
        return scores + 100.0 * drawn * torch.randn([x.size(0), 10])


class Tossed(Without):
    def __init__(self, share: float):
        super().__init__()
        self.share = share

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scores = self.last(torch.nn.functional.avg_pool2d(x, 4).flatten(1))
        return scores if bool(torch.rand(1).item() < self.share) else -scores


class Seeded(Without):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        torch.manual_seed(5)
        return self.last(torch.nn.functional.avg_pool2d(x, 4).flatten(1)) + 0.1 * torch.randn([1, 10])


class DrawingTurned(Without):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        seen = 2.0 * x.detach() - x if bool(torch.rand(1).item() < 2.0) else x
        return self.last(torch.nn.functional.avg_pool2d(seen, 4).flatten(1))


for name, network in [
    ("tossed", Tossed(0.98)),
    ("halved", Tossed(0.5)),
    ("seeded", Seeded()),
    ("drawing_turned", DrawingTurned()),
    ("alone", Alone()),
    ("places", Places()),
    ("seldom", Seldom()),
    ("masked", Masked()),
    ("stepped", Stepped()),
    ("without_gradients", Without()),
    ("dropping", Dropping()),
    ("batch_normed", BatchNormed()),
    ("softmaxed", Softmaxed()),
    ("paired", Paired()),
    ("named", Named()),
    ("staged_apart", StagedApart()),
    ("staged_batched", StagedBatched()),
    ("staged_leaving", StagedLeaving()),
    ("staged_noisy", StagedNoisy()),
    ("staged_bright", StagedBright()),
]:
    torch.jit.script(network).save(f"{name}.pt")
