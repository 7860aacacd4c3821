"""ADef's first iteration on a 5 x 5 image with a linear two-class model, small enough to check on paper.

usage: adef_5x5.py
sigma 0, no overshoot. The weights differ at five pixels (row, column): (1, 1) and (2, 2) are read from between four others,
(3, 0) is on a border and moves inwards, (0, 4) is in a corner and moves outwards, so that it stays; (3, 3) has equal neighbours
on opposite sides, so that it does not move. f = -3 and |alpha|^2 = 24, so the field is alpha / 8."""
import numpy as np
import torch

from adef_port import adef, deform, first_order_field, spatial_gradient, t_norm

image = np.array([[[1, 2, 0, 0, 1],
                   [2, 1, 0, 2, 0],
                   [2, 0, 3, 1, 1],
                   [3, 0, 2, 3, 2],
                   [2, 1, 0, 1, 1]]], float)
weights = np.zeros((2, 5, 5))
weights[0, 2, 2], weights[0, 3, 0] = 2, 1
weights[1, 0, 4], weights[1, 1, 1], weights[1, 3, 3] = 2, 1, 1


def show(name, value):
    print(f"{name} =\n{value}" if np.ndim(value) > 1 else f"{name} = {value}")


logits = lambda image: (weights * image).sum((1, 2))
d1, d2 = spatial_gradient(image)
before = logits(image)
gradient = (weights[1] - weights[0])[None]
f = before[1] - before[0]
alpha = np.stack([(gradient * d1).sum(0), (gradient * d2).sum(0)], axis=-1)
tau = first_order_field(f, gradient, d1, d2, sigma=0)
deformed = deform(image, tau)
show("image", image[0])
show("weights of class 0", weights[0])
show("weights of class 1", weights[1])
show("logits before", before)
show("f_1", f)
show("G", gradient[0])
show("d1", d1[0])
show("d2", d2[0])
show("alpha along x", alpha[..., 0])
show("alpha along y", alpha[..., 1])
show("|alpha|^2", (alpha**2).sum())
show("tau along x", tau[..., 0])
show("tau along y", tau[..., 1])
show("T-norm", t_norm(tau))
show("deformed", deformed[0])
show("logits after", logits(deformed))

net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(25, 2, bias=False)).double()
net[1].weight.data = torch.from_numpy(weights.reshape(2, 25))
found = adef(net, image, positions=[1], sigma=0, overshoot=1)
assert (found["clean"], found["label"], found["iterations"], found["overshot"]) == (0, 1, 1, False)
assert np.array_equal(found["field"], tau) and np.array_equal(found["deformed"], deformed)
