"""A generator with stages as a TorchScript program: python staged_generator.py writes staged_generator.pt (torch 2.11.0)."""
import torch


class Staged(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.maps = torch.nn.Linear(4, 32)
        self.label = torch.nn.Embedding(3, 32)
        self.pixels = torch.nn.ConvTranspose2d(2, 1, 4, 2, 1)

    @torch.jit.export
    def num_stages(self) -> int:
        return 3

    @torch.jit.export
    def stage(self, i: int, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        if i == 0:
            return (self.maps(x) + self.label(y)).relu().reshape(-1, 2, 4, 4)
        if i == 1:
            return self.pixels(x)
        return x.sigmoid()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x


torch.jit.script(Staged()).save("staged_generator.pt")
