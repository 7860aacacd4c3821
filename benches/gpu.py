"""The work of gpu.rs in PyTorch, as a person tunes it by hand: eager and torch.compile, channels_last, float32 without TF32 and bfloat16.

usage: gpu.py DEVICE, cpu or cuda. Reads one JSON object per line and answers each with one:
  {"work": .., "how": .., "runs": N, ..}  what this work takes in one of the WAYS, in seconds of one run; the first answer of a kind comes
                                 after warm-ups. What fails, or takes longer than "limit" seconds, is answered as {"error": ..}.
  {"work": .., "tell": PATH, ..} writes what the network answers in float32 to a file, raw: logits, or images
  {"work": "biggan", "weights": PATH, "make": true, ..}  writes a checkpoint of random weights
What else an object holds are the sizes of the work, and files of weights and images."""
import contextlib, ctypes, json, os, signal, struct, sys, time

import torch
import torch.nn.functional as F
from torch import nn

from biggan import BigGan, biggan_weights

DEVICE = torch.device(sys.argv[1])
# What a name stands for: how it is compiled, if it is, the type of numbers, whether channels come last.
WAYS = {
    "eager, float32": (None, torch.float32, False),
    "eager, float32, channels last": (None, torch.float32, True),
    "compiled, float32, channels last": ("default", torch.float32, True),
    "compiled with CUDA graphs, float32": ("reduce-overhead", torch.float32, False),
    "eager, bfloat16, channels last": (None, torch.bfloat16, True),
    "compiled, bfloat16, channels last": ("default", torch.bfloat16, True),
}
tf32 = os.environ.get("BENCH_FAST") == "1"
torch.backends.cuda.matmul.allow_tf32 = tf32
torch.backends.cudnn.allow_tf32 = tf32
torch.backends.cudnn.benchmark = True


class Way:
    """One of the WAYS, as works use it."""

    def __init__(self, name):
        self.compiled, self.dtype, self.last = WAYS[name]

    def images(self, x):
        return x.to(memory_format=torch.channels_last) if self.last and x.dim() == 4 else x

    def net(self, module, trains=False):
        """A module that learns nothing of itself, unless it trains, laid out and compiled."""
        module = module.to(DEVICE).requires_grad_(trains).train(trains)
        if self.last:
            module = module.to(memory_format=torch.channels_last)
        return torch.compile(module, mode=self.compiled) if self.compiled else module

    def cast(self):
        if self.dtype is torch.float32:
            return contextlib.nullcontext()
        return torch.autocast(DEVICE.type, self.dtype)


def sync():
    if DEVICE.type == "cuda":
        torch.cuda.synchronize()


def tensors(path):
    """Of a safetensors file."""
    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        header, data = json.loads(file.read(size)), bytearray(file.read())
    kinds = {"F32": torch.float32, "I64": torch.int64}
    named = {name: entry for name, entry in header.items() if name != "__metadata__"}
    of = lambda e: torch.frombuffer(data[slice(*e["data_offsets"])], dtype=kinds[e["dtype"]]).reshape(e["shape"])
    return {name: of(entry) for name, entry in named.items()}


def raw(path, *shape):
    with open(path, "rb") as file:
        return torch.frombuffer(bytearray(file.read()), dtype=torch.float32).reshape(shape)


def lenet():
    return nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(),
        nn.MaxPool2d(2), nn.Flatten(), nn.Linear(3136, 200), nn.ReLU(), nn.Linear(200, 10))


def classifier(ask):
    """torchvision's network with the weights of a file, or the small one for digits."""
    # Weights that are drawn only to be replaced take seconds.
    with torch.device("meta"):
        if ask["arch"] == "lenet":
            net = lenet()
        else:
            import torchvision

            net = getattr(torchvision.models, ask["arch"])(weights=None)
    missing, unexpected = net.load_state_dict(tensors(ask["weights"]), strict=False, assign=True)
    counters = [name for name in missing if name.endswith("num_batches_tracked")]
    assert len(counters) == len(missing) and not unexpected, f"other names: {missing[:3]} {unexpected[:3]}"
    net.load_state_dict({name: torch.zeros((), dtype=torch.long) for name in counters}, strict=False, assign=True)
    return net.eval()


def canvases(ask):
    return raw(ask["images"], ask["n"], ask["channels"], ask["side"], ask["side"]).to(DEVICE)


def sweep(ask, way):
    """Every crop of every image, one image's crops at once."""
    net, x = way.net(classifier(ask)), canvases(ask)
    crop, shifts = ask["crop"], range(ask["side"] - ask["crop"] + 1)

    def crops(image):
        cut = [image[:, dy : dy + crop, dx : dx + crop] for dy in shifts for dx in shifts]
        return way.images(torch.stack(cut))

    def run():
        with torch.inference_mode(), way.cast():
            found = [net(crops(image)) for image in x]
        return torch.stack([scores.argmax(1) for scores in found]).cpu()

    return run


def curve(ask, way):
    """BIM as written by hand, with the gradient of the images alone, and what is noted at every step of its curve."""
    net, x0 = way.net(classifier(ask)), way.images(canvases(ask))
    with torch.no_grad():
        labels = net(x0).argmax(1)

    def run():
        x, noted = x0.clone(), []
        for k in range(ask["steps"] + 1):
            x = x.detach().requires_grad_(True)
            with way.cast():
                scores = net(x)
            own = scores.gather(1, labels[:, None])[:, 0]
            other = scores.scatter(1, labels[:, None], -1e9).amax(1)
            noted.append(torch.stack([scores.argmax(1).float(), (own - other).float(), (x - x0).flatten(1).norm(dim=1)]))
            if k < ask["steps"]:
                (gradient,) = torch.autograd.grad(F.cross_entropy(scores, labels, reduction="sum"), x)
                x = x.detach() + ask["step"] * gradient.sign()
        return torch.stack(noted).detach().cpu()

    return run


def stages():
    return [
        nn.Sequential(nn.Linear(110, 1024, bias=False), nn.BatchNorm1d(1024), nn.ReLU()),
        nn.Sequential(nn.Linear(1024, 6272, bias=False), nn.BatchNorm1d(6272), nn.ReLU(), nn.Unflatten(1, (128, 7, 7))),
        nn.Sequential(nn.ConvTranspose2d(128, 64, 4, 2, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU()),
        nn.ConvTranspose2d(64, 1, 4, 2, 1),
    ]


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 32, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(32, 64, 4, 2, 1), nn.LeakyReLU(0.2),
            nn.Flatten(), nn.Linear(3136, 256), nn.LeakyReLU(0.2))
        self.real, self.label = nn.Linear(266, 1), nn.Linear(256, 10)

    def forward(self, x, y):
        h = self.features((x - 0.5) / 0.5)
        return self.real(torch.cat([h, F.one_hot(y, 10).float()], 1))[:, 0], self.label(h)


def train(ask, way):
    """An epoch of a small classifier with batch norm, by Adam."""
    n, batch = ask["n"], ask["batch"]
    layers = list(lenet())
    layers[1:1], layers[5:5] = [nn.BatchNorm2d(32)], [nn.BatchNorm2d(64)]
    net = way.net(nn.Sequential(*layers), True)
    adam = torch.optim.Adam(net.parameters(), lr=1e-3, fused=DEVICE.type == "cuda")
    images = way.images(torch.rand(n, 1, 28, 28, device=DEVICE))
    labels = torch.randint(0, 10, (n,), device=DEVICE)

    def run():
        total = torch.zeros((), device=DEVICE)
        for rows in torch.randperm(n, device=DEVICE).split(batch):
            with way.cast():
                loss = F.cross_entropy(net(images[rows]).float(), labels[rows])
            adam.zero_grad()
            loss.backward()
            adam.step()
            total += loss.detach() * len(rows)
        return total.cpu()

    return run


def squashed(loss):
    return torch.where(loss > 0, loss + 2, loss.clamp_max(0).exp() + 1)


def finetune(ask, way):
    """Steps of generator::finetune at rate 1: one of the discriminator, one of the generator with both objectives."""
    batch, fused = ask["batch"], DEVICE.type == "cuda"
    g, d = way.net(nn.Sequential(*stages(), nn.Sigmoid()), True), Discriminator().to(DEVICE)
    f = way.net(lenet())
    adam = lambda net: torch.optim.Adam(net.parameters(), lr=2e-4, betas=(0.0, 0.9), fused=fused)
    og, od = adam(g), adam(d)
    images = torch.rand(ask["n"], 1, 28, 28, device=DEVICE)
    labels = torch.randint(0, 10, (ask["n"],), device=DEVICE)

    def step():
        rows = torch.randint(0, ask["n"], (batch,), device=DEVICE)
        x, y = images[rows], labels[rows]
        with way.cast():
            drawn = g(torch.cat([torch.randn(batch, 100, device=DEVICE), F.one_hot(y, 10).float()], 1)).float()
        fake = drawn.detach()
        # The penalty's gradient of a gradient is what torch.compile does not do.
        both, said = d(torch.cat([x, fake]), torch.cat([y, y]))
        between = (fake + torch.rand(batch, 1, 1, 1, device=DEVICE) * (x - fake)).requires_grad_()
        (gradient,) = torch.autograd.grad(d(between, y)[0].sum(), between, create_graph=True)
        penalty = ((gradient.flatten(1).square().sum(1) + 1e-12).sqrt() - 1).square().mean()
        loss = both[batch:].mean() - both[:batch].mean() + 10 * penalty + F.cross_entropy(said[:batch], y)
        od.zero_grad()
        loss.backward()
        od.step()
        real, said = d(drawn, y)
        ordinary = F.cross_entropy(said, y, reduction="none") - real
        with way.cast():
            scores = f(drawn).float()
        own = scores.gather(1, y[:, None])[:, 0]
        attack = own - scores.scatter(1, y[:, None], -1e9).amax(1)
        og.zero_grad()
        (squashed(ordinary) * squashed(attack)).mean().backward()
        og.step()

    def run():
        for _ in range(ask["steps"]):
            step()

    return run


class Changed(nn.Module):
    """A classifier's scores of what a generator draws while its activations are changed; as one module it is compiled once."""

    def __init__(self):
        super().__init__()
        self.stages, self.classifier = nn.ModuleList(stages()), lenet()

    def forward(self, h, changes):
        for stage, change in zip(self.stages, changes):
            h = stage(h) + change
        return self.classifier(h.sigmoid())


def latent(ask, way):
    """Adam on changes of every stage's activations, each seed within a ball of its own; all seeds go all steps."""
    batch, steps = ask["batch"], ask["steps"]
    net = way.net(Changed())
    labels = torch.arange(batch, device=DEVICE) % 10
    z = torch.cat([torch.randn(batch, 100, device=DEVICE), F.one_hot(labels, 10).float()], 1)
    target = (labels + 1) % 10
    shapes = [(1024,), (128, 7, 7), (64, 14, 14), (1, 28, 28)]

    def run():
        changes = [torch.zeros(batch, *shape, device=DEVICE, requires_grad=True) for shape in shapes]
        adam = torch.optim.Adam(changes, lr=0.004, fused=DEVICE.type == "cuda")
        for k in range(steps):
            with way.cast():
                scores = net(z, changes).float()
            own = scores.gather(1, target[:, None])[:, 0]
            other = scores.scatter(1, target[:, None], -1e9).amax(1)
            adam.zero_grad()
            (other - own).sum().backward()
            adam.step()
            with torch.no_grad():
                norm = torch.stack([p.flatten(1).pow(2).sum(1) for p in changes]).sum(0).sqrt().clamp_min(1e-12)
                scale = ((0.1 + 0.001 * k) / norm).clamp_max(1)
                for p in changes:
                    p.mul_(scale.view(-1, *[1] * (p.dim() - 1)))
        return [p.detach().cpu() for p in changes]

    return run


def biggan(ask, way):
    net, n = way.net(BigGan(torch.load(ask["weights"], weights_only=True), ask["side"])), ask["n"]
    labels = torch.arange(n) % ask["classes"]

    def run():
        z = nn.init.trunc_normal_(torch.empty(n, ask["latent"]), a=-2, b=2) * 0.4
        with torch.inference_mode(), way.cast():
            parts = zip(z.to(DEVICE).split(ask["batch"]), labels.to(DEVICE).split(ask["batch"]))
            return torch.cat([net(*part).float().cpu() for part in parts])

    return run


def told(ask):
    """What the network answers, as the plainest program has it."""
    with torch.inference_mode():
        if ask["work"] == "biggan":
            net = BigGan(torch.load(ask["weights"], weights_only=True), ask["side"]).to(DEVICE).eval()
            z = raw(ask["latents"], -1, ask["latent"]).to(DEVICE)
            return net(z, torch.arange(len(z), device=DEVICE) % ask["classes"])
        x, margin = canvases(ask), (ask["side"] - ask["crop"]) // 2
        return classifier(ask).to(DEVICE)(x[:, :, margin : margin + ask["crop"], margin : margin + ask["crop"]])


WORKS = {"sweep": sweep, "curve": curve, "train": train, "finetune": finetune, "latent": latent, "biggan": biggan}
prepared = {}


def seconds(ask):
    key = (ask["work"], ask["how"])
    if key not in prepared:
        torch.manual_seed(0)
        prepared[key] = WORKS[ask["work"]](ask, Way(ask["how"]))
        # Compilation, the choice of algorithms, and once more with both behind it.
        for _ in range(2):
            prepared[key]()
    sync()
    start = time.perf_counter()
    for _ in range(ask.get("runs", 1)):
        prepared[key]()
    sync()
    return (time.perf_counter() - start) / ask.get("runs", 1)


def answer(ask):
    if ask.get("forget"):
        prepared.clear()
        torch._dynamo.reset()
        if DEVICE.type == "cuda":
            torch.cuda.empty_cache()
        return {}
    if ask.get("make"):
        torch.save(biggan_weights(ask["side"], ask["width"], ask["latent"], ask["classes"]), ask["weights"])
        return {}
    if "tell" in ask:
        out = told(ask).float().cpu().contiguous()
        with open(ask["tell"], "wb") as file:
            file.write(ctypes.string_at(out.data_ptr(), 4 * out.numel()))
        return {}
    return {"seconds": seconds(ask)}


def late(*_):
    raise TimeoutError("took longer than it may")


signal.signal(signal.SIGALRM, late)
# What libraries print would not be JSON.
answers, sys.stdout = sys.stdout, sys.stderr
versions = [f"torch {torch.__version__}"]
with contextlib.suppress(ImportError):
    import torchvision

    versions.append(f"torchvision {torchvision.__version__}")
print(json.dumps({"versions": ", ".join(versions), "ways": list(WAYS)}), file=answers, flush=True)
for line in sys.stdin:
    ask = json.loads(line)
    signal.alarm(int(ask.get("limit", 0)))
    try:
        said = answer(ask)
    except Exception as error:
        lines = str(error).strip().splitlines() or [""]
        said = {"error": f"{type(error).__name__}: {lines[0][:200]}"}
        prepared.pop((ask.get("work"), ask.get("how")), None)
    finally:
        signal.alarm(0)
    print(json.dumps(said), file=answers, flush=True)
