"""A plain port of ADef (Alaifari, Alberti, Gauksson): one image at a time, one backward pass per class.

usage: adef_port.py MODEL_SAFETENSORS MNIST_DIR [N=200] [--max-norm X] [--double] [--dump FILE]
Attacks the model's own predictions on the first N test images, untargeted: every other label is a candidate, at most 100
iterations, sigma 0.5, overshoot 1.2. Prints one JSON line. --double: everything in float64; otherwise the network runs in
float32 and the vector fields in float64. --dump: the vector fields [4, H, W, 2] and norms of the first 4 images.

A vector field moves the place where a pixel is read: deformed(p) = image(p + field(p)). [..., 0] is along the columns (x, to
the right), [..., 1] along the rows (y, downwards)."""
import argparse, json, os, time

THREADS = 2
if __name__ == "__main__":
    os.environ["OMP_NUM_THREADS"] = str(THREADS)
import numpy as np
import torch
from scipy.ndimage import correlate1d, map_coordinates

from lenet5 import load_mnist, load_model, write_safetensors


def spatial_gradient(image):
    """Derivatives of [C, H, W] along x and y: central differences, one-sided at the borders."""
    return np.gradient(image, axis=2), np.gradient(image, axis=1)


def smooth(field, sigma):
    radius = int(4 * sigma + 0.5)
    kernel = np.exp(-0.5 * (np.arange(-radius, radius + 1) / sigma) ** 2)
    kernel /= kernel.sum()
    for axis in (0, 1):
        field = correlate1d(field, kernel, axis=axis, mode="constant")
    return field


def first_order_field(f, gradient, d1, d2, sigma):
    """The smallest field that brings the linearised f, here below zero, to zero; None where nothing moves f."""
    alpha = np.stack([(gradient * d1).sum(0), (gradient * d2).sum(0)], axis=-1)
    if sigma > 0:
        alpha = smooth(alpha, sigma)
    square = (alpha**2).sum()
    if square == 0:
        return None
    if sigma > 0:
        alpha = smooth(alpha, sigma)
    return -f / square * alpha


def deform(image, field):
    """Bilinear, with places outside the image moved to its border."""
    height, width = image.shape[1:]
    rows, columns = np.mgrid[:height, :width]
    places = [np.clip(rows + field[..., 1], 0, height - 1), np.clip(columns + field[..., 0], 0, width - 1)]
    return np.stack([map_coordinates(channel, places, order=1, mode="nearest") for channel in image])


def t_norm(field):
    return np.sqrt((field**2).sum(-1).max())


def adef(net, image, positions=range(1, 10), iterations=100, sigma=0.5, overshoot=1.2, max_norm=np.inf):
    """Deforms one image [C, H, W] until its predicted label changes."""
    kind = next(net.parameters()).dtype

    def score(image):
        x = torch.from_numpy(image).to(kind)[None].requires_grad_(True)
        return x, net(x)[0]

    deformed, field, norm, done = image, np.zeros((*image.shape[1:], 2)), 0.0, 0
    x, scores = score(image)
    order = torch.argsort(scores, descending=True, stable=True).tolist()
    clean, label = order[0], order[0]
    while label == clean and done < iterations:
        d1, d2 = spatial_gradient(deformed)
        gradient_of = lambda k: torch.autograd.grad(scores[k], x, retain_graph=True)[0][0].double().numpy()
        own, values = gradient_of(clean), scores.detach().double().numpy()
        best, best_norm = None, max_norm
        for k in (order[position] for position in positions):
            step = first_order_field(values[k] - values[clean], gradient_of(k) - own, d1, d2, sigma)
            if step is not None and t_norm(field + step) < best_norm:
                best, best_norm = field + step, t_norm(field + step)
        if best is None or abs(best_norm - norm) <= 1e-10:
            break
        field, norm, done = best, best_norm, done + 1
        deformed = deform(image, field)
        x, scores = score(deformed)
        label = scores.argmax().item()
    before = label
    top = scores.detach().topk(2).values
    overshot = overshoot > 1 and (label == clean or (top[0] - top[1]).item() < 1e-6)
    if overshot:
        field = field * (np.clip(max_norm / norm, 1, overshoot) if norm > 0 else 1)
        deformed = deform(image, field)
        label = score(deformed)[1].argmax().item()
    return dict(field=field, norm=float(t_norm(field)), iterations=done, clean=clean, before=before, label=label,
                overshot=overshot, deformed=deformed)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("images")
    parser.add_argument("count", type=int, nargs="?", default=200)
    parser.add_argument("--max-norm", type=float, default=np.inf)
    parser.add_argument("--double", action="store_true")
    parser.add_argument("--dump")
    given = parser.parse_args()
    torch.set_num_threads(THREADS)
    net = load_model(given.model, torch.float64 if given.double else torch.float32)
    images, _ = load_mnist(given.images, given.count)
    adef(net, images[0])
    wall, cpu = time.perf_counter(), time.process_time()
    found = [adef(net, image, max_norm=given.max_norm) for image in images]
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    of = lambda name: [one[name] for one in found]
    clean = np.array(of("clean"))
    print(json.dumps(dict(
        count=given.count, double=given.double, max_norm=given.max_norm if np.isfinite(given.max_norm) else None,
        success_before_overshoot=float((np.array(of("before")) != clean).mean()),
        success=float((np.array(of("label")) != clean).mean()), overshot=sum(of("overshot")),
        mean_norm=float(np.mean(of("norm"))), mean_iterations=float(np.mean(of("iterations"))), seconds=wall, cpu_seconds=cpu,
        threads=THREADS, norms=of("norm"), iterations=of("iterations"), clean_labels=clean.tolist(),
        labels_before_overshoot=of("before"), labels=of("label"), were_overshot=of("overshot"))))
    if given.dump:
        write_safetensors(given.dump, dict(fields=np.stack(of("field")[:4]), norms=np.array(of("norm")[:4])))


if __name__ == "__main__":
    main()
