"""A network as `torch.jit.trace` writes it, with what it convolves by settled in the file: python traced.py writes traced.pt (torch 2.11.0)."""
import torch

torch.manual_seed(0)
network = torch.nn.Sequential(
    torch.nn.Conv2d(1, 16, 3, padding=1),
    torch.nn.GELU(),
    torch.nn.Conv2d(16, 16, 3, padding=1),
    torch.nn.Sigmoid(),
    torch.nn.AvgPool2d(4),
    torch.nn.Flatten(),
    torch.nn.Linear(16 * 16, 10),
).eval()
traced = torch.jit.trace(network, torch.zeros(1, 1, 16, 16))
assert "_convolution" in str(traced.inlined_graph)
traced.save("traced.pt")
