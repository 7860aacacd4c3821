"""A generator of scenes whose activations are known: python scene_generator.py FOLDER writes scene_generator.safetensors (numpy).

FOLDER holds mean images of scenes, kept by

    let poles = data::scenes(#{ n: 4000, position: "still", seed: 5, label: "sky" });
    let shapes = data::scenes(#{ n: 8000, position: "still", seed: 5 });
    poles.only([0]).images().mean(0).save("day.npy");
    poles.only([1]).images().mean(0).save("night.npy");
    shapes.only([2]).images().mean(0).save("cone.npy");
    shapes.only([3]).images().mean(0).save("star.npy");

The first stage has four activations: day or night, cone or star as the label says, bright or dark, strong or weak.
"""
import json
import struct
import sys

import numpy

mean = {name: numpy.load(f"{sys.argv[1]}/{name}.npy").reshape(-1).astype("f8") for name in ["day", "night", "cone", "star"]}
score = {name: numpy.log(x.clip(0.02, 0.98) / (1 - x.clip(0.02, 0.98))) for name, x in mean.items()}
middle = (score["day"] + score["night"]) / 2
first = numpy.zeros((4, 4 + 8))
first[0, 0], first[1, 1], first[2, 2], first[3, 3] = 1.5, 0.3, 1, 1
first[1, 4 + 2], first[1, 4 + 3] = 3, -3
second = numpy.stack(
    [(score["night"] - score["day"]) / 2, (score["cone"] - score["star"]) / 2, numpy.full(3072, 0.15), 0.15 * middle], axis=1
)
tensors = {"stage1.0.weight": first, "stage1.0.bias": numpy.zeros(4), "stage2.0.weight": second, "stage2.0.bias": middle}
stage1 = ["sequence", [["stage1.0", ["linear", 4, True]], ["stage1.1", ["tanh"]]]]
stage2 = ["sequence", [["stage2.0", ["linear", 3072, True]], ["stage2.1", ["reshape", 3, 32, 32]]]]
about = {"generator": {"latent": 4, "classes": 8, "stages": [["stage1", stage1], ["stage2", stage2]], "squash": "sigmoid"}}
head, at = {"__metadata__": {"viva": json.dumps(about)}}, 0
for name, x in tensors.items():
    head[name] = {"dtype": "F32", "shape": list(x.shape), "data_offsets": [at, at + 4 * x.size]}
    at += 4 * x.size
text = json.dumps(head).encode()
text += b" " * (-len(text) % 8)
with open("scene_generator.safetensors", "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + b"".join(x.astype("<f4").tobytes() for x in tensors.values()))
