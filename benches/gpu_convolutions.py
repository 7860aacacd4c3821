"""What cuDNN's choice of an algorithm costs on a GPU: the convolutions of the works of gpu.rs in PyTorch, each by several ways.

usage: gpu_convolutions.py DEVICE [SECONDS]; DEVICE is cuda, or cpu to try this script. One line per convolution, in ms: forward (f) and the gradient
of the images (d), as the heuristic chooses (chosen) and as the fastest (fastest, cudnn.benchmark), in both layouts (last: channels last); with the
rectifier in one kernel (fused); by products of matrices without cuDNN (product); and by a convolution the other way round (turned), which is
the same numbers. Deterministic algorithms, single precision without TF32. The roof is what 52 TFLOP/s would take. Kernels' names follow."""
import sys, time

import torch
import torch.nn.functional as F
from torch.profiler import ProfilerActivity, profile

DEVICE, LIMIT = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 60.0
ON_GPU = DEVICE != "cpu"
ROOF = 52e9
torch.backends.cudnn.deterministic = True
torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False

# A name, images, channels in and out, side, kernel, stride, padding.
SHAPES = [("small curve", 2048, 1, 32, 28, 3, 1, 1), ("small curve", 2048, 32, 64, 14, 3, 1, 1)]
SHAPES += [("vgg16", 441, *of, 3, 1, 1) for of in [
    (3, 64, 224), (64, 64, 224), (64, 128, 112), (128, 128, 112), (128, 256, 56), (256, 256, 56), (256, 512, 28), (512, 512, 28), (512, 512, 14)]]
SHAPES += [("biggan", 32, *of, 3, 1, 1) for of in [
    (512, 512, 4), (512, 512, 16), (256, 256, 16), (256, 256, 32), (256, 256, 64), (128, 128, 64), (128, 128, 128), (64, 64, 256), (128, 3, 256)]]
SHAPES += [("biggan", 32, *of, 1, 1, 0) for of in [(2048, 512, 8), (1024, 256, 32), (512, 128, 64), (256, 64, 128)]]
SHAPES += [("latent", 256, 1, 32, 28, 3, 1, 1), ("latent", 256, 32, 64, 14, 3, 1, 1), ("latent", 256, 64, 128, 14, 4, 2, 1)]


def milliseconds(run, turns=5):
    """The median, after two runs that choose and warm up."""
    run(), run()
    taken = []
    for _ in range(turns if ON_GPU else 1):
        if not ON_GPU:
            start = time.perf_counter()
            run()
            taken.append(1e3 * (time.perf_counter() - start))
            continue
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        run()
        end.record()
        end.synchronize()
        taken.append(start.elapsed_time(end))
    return sorted(taken)[len(taken) // 2]


def kernels(run):
    if not ON_GPU:
        return ""
    with profile(activities=[ProfilerActivity.CUDA]) as seen:
        run()
        torch.cuda.synchronize()
    names = [event.name[:60] for event in seen.events() if event.device_type == torch.autograd.DeviceType.CUDA]
    return "; ".join(f"{name} x{names.count(name)}" for name in dict.fromkeys(names))


def ways(n, channels, out, side, size, stride, pad):
    """Of each way its name, what it runs, whether the fastest is looked for and whether cuDNN works."""
    x = torch.randn(n, channels, side, side, device=DEVICE)
    w = torch.randn(out, channels, size, size, device=DEVICE) / (channels * size * size) ** 0.5
    g = torch.randn_like(F.conv2d(x, w, None, stride, pad))
    turned, bias = w.flip(2, 3).transpose(0, 1).contiguous(), torch.zeros(out, device=DEVICE)
    last = [t.contiguous(memory_format=torch.channels_last) for t in (x, w, g)]
    forward = lambda x, w: F.conv2d(x, w, None, stride, pad)
    back = lambda x, w, g: torch.ops.aten.convolution_backward(
        g, x, w, None, [stride] * 2, [pad] * 2, [1, 1], False, [0, 0], 1, [True, False, False])
    yield "chosen f", lambda: forward(x, w), False, True
    yield "fastest f", lambda: forward(x, w), True, True
    yield "chosen, last f", lambda: forward(*last[:2]), False, True
    yield "fastest, last f", lambda: forward(*last[:2]), True, True
    if ON_GPU:
        yield "fused f", lambda: torch.cudnn_convolution_relu(x, w, bias, [stride] * 2, [pad] * 2, [1, 1], 1), False, True
    if channels * size * size * g.shape[2] * g.shape[3] < 1e8:
        yield "product f", lambda: forward(x, w), False, False
    yield "chosen d", lambda: back(x, w, g), False, True
    yield "fastest d", lambda: back(x, w, g), True, True
    yield "chosen, last d", lambda: back(*last), False, True
    yield "fastest, last d", lambda: back(*last), True, True
    if stride == 1:
        yield "turned f", lambda: F.conv_transpose2d(x, turned, None, 1, size - 1 - pad), False, True
        yield "turned d", lambda: F.conv2d(g, turned, None, 1, size - 1 - pad), False, True


began = time.time()
for name, n, channels, out, side, size, stride, pad in SHAPES:
    if time.time() - began > LIMIT:
        print("the time is up")
        break
    n = n if ON_GPU else 2
    places = ((side + 2 * pad - size) // stride + 1) ** 2
    line = f"{name}, {n} x {channels} x {side} x {side} to {out} by {size} x {size}, stride {stride}: "
    told, used = [f"roof {2 * n * out * channels * size * size * places / ROOF:.2f}"], []
    for way, run, fastest, cudnn in ways(n, channels, out, side, size, stride, pad):
        torch.backends.cudnn.benchmark, torch.backends.cudnn.enabled = fastest, cudnn
        try:
            with torch.no_grad():
                told.append(f"{way} {milliseconds(run):.3f}")
                if way in ("chosen f", "fastest f", "chosen d", "fastest d"):
                    used.append(f"    {way}: {kernels(run)}")
        except RuntimeError as error:
            told.append(f"{way}: {str(error).splitlines()[0][:60]}")
    torch.backends.cudnn.benchmark, torch.backends.cudnn.enabled = False, True
    print(line + ", ".join(told), *(used if ON_GPU else []), sep="\n", flush=True)
    if ON_GPU:
        torch.cuda.empty_cache()
