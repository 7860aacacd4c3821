"""The plain PyTorch loop over all crops of each image: the peer of the sweep bench.

usage: sweep.py ARCH WEIGHTS IMAGES COUNT SIDE CROP EPSILON THREADS BATCH...
ARCH: a torchvision network. WEIGHTS: a safetensors or .pth file; written with fresh weights if it does not exist.
IMAGES: COUNT x 3 x SIDE x SIDE raw float32, normalised here. Prints one JSON line per batch size: seconds per crop, the
predictions, and the first image's scores."""
import json, os, re, struct, sys, time

arch, weights, images, count, side, crop, epsilon, threads = sys.argv[1:9]
count, side, crop, epsilon = int(count), int(side), int(crop), int(epsilon)
os.environ["OMP_NUM_THREADS"] = threads
import torch, torchvision

torch.set_num_threads(int(threads))


def tensors(path):
    if path.endswith(".pth"):
        return torch.load(path, weights_only=True)
    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        header, data = json.loads(file.read(size)), file.read()
    named = {name: entry for name, entry in header.items() if name != "__metadata__"}
    of = lambda e: torch.frombuffer(bytearray(data[slice(*e["data_offsets"])]), dtype=torch.float32).reshape(e["shape"])
    return {name: of(entry) for name, entry in named.items()}


torch.manual_seed(0)
net = getattr(torchvision.models, arch)(weights=None).eval()
if os.path.exists(weights):
    state = tensors(weights)
    if not set(state) <= set(net.state_dict()):
        # Other names, numbered in the same order.
        order = sorted(state, key=lambda name: ([int(n) for n in re.findall(r"\d+", name)], name.endswith("bias")))
        state = dict(zip(net.state_dict(), map(state.get, order)))
    net.load_state_dict(state, strict=False)
else:
    torch.save(net.state_dict(), weights)
x = torch.frombuffer(bytearray(open(images, "rb").read(count * 3 * side * side * 4)), dtype=torch.float32)
x = x.reshape(count, 3, side, side)
mean, std = (torch.tensor(v).view(1, 3, 1, 1) for v in ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]))
x = (x - mean) / std
margin = (side - crop) // 2
shifts = range(margin - epsilon, margin + epsilon + 1)
places = [(i, dy, dx) for i in range(count) for dy in shifts for dx in shifts]
for batch in map(int, sys.argv[9:]):
    cut = lambda at: torch.stack([x[i, :, dy : dy + crop, dx : dx + crop] for i, dy, dx in places[at : at + batch]])
    with torch.inference_mode():
        for _ in range(3):
            net(cut(0))
        start = time.perf_counter()
        scores = torch.cat([net(cut(at)) for at in range(0, len(places), batch)])
        seconds = (time.perf_counter() - start) / len(places)
    print(json.dumps(dict(batch=batch, seconds=seconds, predicted=scores.argmax(1).tolist(),
                          largest=scores.abs().max().item(), scores=scores[0].tolist(),
                          versions=f"torch {torch.__version__}, torchvision {torchvision.__version__}")), flush=True)
