"""What viva starts a Python with: loads what a user's file offers and answers viva's questions about it.

A question is a line of JSON on standard input, its answer a line of JSON on what was standard output; numbers lie in a file that both
share. Needs nothing beside the standard library; torch and numpy are used where the user's file brings them along.
"""

import array
import ctypes
import functools
import gc
import glob
import hashlib
import importlib.util
import inspect
import json
import math
import mmap
import operator
import os
import pickle
import random
import shutil
import sys
import sysconfig
import threading
import time
import traceback

FOUR = 4
ALIGNED = 64
IMAGES = ("image", "img", "pixel_values")
LABELS = ("label", "labels", "target")


class Refused(Exception):
    """What is said to the user as it stands."""

    def __init__(self, message, kind="failed"):
        super().__init__(message)
        self.kind = kind


class Shared:
    """The file that numbers lie in. It only grows, and what was mapped once stays so for those who hold it."""

    def __init__(self, number):
        self.number = number
        os.set_inheritable(number, False)
        self.map = None

    def bytes(self, begin, size):
        end = begin + size
        if os.fstat(self.number).st_size < end:
            os.ftruncate(self.number, end)
        if self.map is None or len(self.map) < end:
            self.map = mmap.mmap(self.number, os.fstat(self.number).st_size)
        return memoryview(self.map)[begin:end]

    def place(self, after, size):
        begin = -(-after // ALIGNED) * ALIGNED
        return begin, self.bytes(begin, size)


def torch():
    """torch, where the user's file has imported it."""
    return sys.modules.get("torch")


def numpy():
    try:
        import numpy

        return numpy
    except ImportError:
        return None


def is_tensor(value):
    return torch() is not None and isinstance(value, torch().Tensor)


def bytes_of_tensor(tensor):
    """The numbers of a tensor that lies in the main memory without gaps, as they stand there."""
    size = tensor.numel() * tensor.element_size()
    if size == 0:
        return b""
    return memoryview((ctypes.c_char * size).from_address(tensor.data_ptr())).cast("B")


def kind_of(value):
    return f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")


def check_precision(what, spread, lost):
    """Refuses numbers in double precision of which single precision would lose what tells a row's apart."""
    if spread > 0 and lost > 1e-3 * spread:
        raise Refused(
            f"{what} are numbers in float64 that lie {spread:.3g} apart and are so large that float32, in which they are read, moves them by {lost:.3g}: "
            "subtract each row's largest, which changes no softmax"
        )


def numbers(values, what):
    """The shape and the float32 numbers of whatever holds some, and what keeps them alive."""
    if is_tensor(values):
        if values.is_complex():
            raise Refused(f"{what} are complex numbers, of which none is the largest")
        wide = values.detach().to("cpu")
        held = wide.to(torch().float32).contiguous()
        if wide.dtype == torch().float64 and wide.dim() == 2 and wide.numel() and bool(held.isfinite().all()):
            lost, spread = (held.double() - wide).abs().amax(1), wide.amax(1) - wide.amin(1)
            worst = int((lost / spread.clamp_min(sys.float_info.min)).where(spread > 0, 0.0 * lost).argmax())
            check_precision(what, float(spread[worst]), float(lost[worst]))
        return list(held.shape), bytes_of_tensor(held), held
    if isinstance(values, (list, tuple)):
        rows = [list(row) if isinstance(row, (list, tuple)) else row for row in values]
        if not rows or not all(isinstance(row, list) and len(row) == len(rows[0]) for row in rows):
            raise Refused(f"{what} must be an array of N rows of the same length, got a {kind_of(values)} of other things")
        held = array.array("f", [number for row in rows for number in row])
        return [len(rows), len(rows[0])], memoryview(held).cast("B"), held
    if not hasattr(values, "__array__"):
        try:
            view = memoryview(values)
        except TypeError:
            raise Refused(f"{what} must be an array or tensor, got {kind_of(values)}") from None
        if view.format == "f" and view.c_contiguous:
            return list(view.shape), view.cast("B"), view
    if numpy() is None:
        raise Refused(f"{what} came as {kind_of(values)}, which only numpy could read, and numpy is not installed")
    wide = numpy().asarray(values)
    if wide.dtype.kind == "c":
        raise Refused(f"{what} are complex numbers, of which none is the largest")
    held = numpy().ascontiguousarray(wide, dtype=numpy().float32)
    if wide.dtype == numpy().float64 and wide.ndim == 2 and wide.size and numpy().isfinite(held).all():
        lost, spread = numpy().abs(held - wide).max(1), numpy().ptp(wide, 1)
        worst = int((numpy().where(spread > 0, lost, 0.0) / numpy().maximum(spread, sys.float_info.min)).argmax())
        check_precision(what, float(spread[worst]), float(lost[worst]))
    return list(held.shape), memoryview(held).cast("B") if held.size else b"", held


def paths_of_others():
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    found = [sysconfig.get_paths()[name] for name in names]
    return tuple(os.path.realpath(path) + os.sep for path in found)


def is_own(path):
    """Whether a file is the user's rather than an installed package's."""
    if not path or path.startswith("<"):
        return False
    real = os.path.realpath(path)
    installed = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)
    return not real.startswith(paths_of_others()) and not any(part in real for part in installed)


class OpenedFiles:
    """What is read while something is loaded: weights and numbers that an object may answer by."""

    # Of a module all parameters are known themselves.
    LARGEST_BESIDE_PARAMETERS = 64 << 20

    def __init__(self):
        self.listening, self.paths = False, set()
        sys.addaudithook(self.heard)

    def heard(self, event, arguments):
        if event != "open" or not self.listening:
            return
        path, mode, flags = arguments
        written = set("wax") & set(mode) if mode else (flags or 0) & (os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
        if isinstance(path, (str, os.PathLike)) and not written:
            self.paths.add(os.path.abspath(os.fspath(path)))

    def digests(self, largest):
        # What systems and libraries keep for themselves is no part of a model.
        places = ("/proc/", "/sys/", "/etc/", "/usr/lib/", "/usr/share/", "/lib/", "/lib64/", "/System/", "/private/etc/", os.path.realpath(os.environ["TMPDIR"]) + os.sep)
        kept = (f"{os.sep}__pycache__{os.sep}", f"{os.sep}.locks{os.sep}", f"{os.sep}matplotlib{os.sep}")
        found = {}
        # What its library opened itself.
        sessions = [held for held in gc.get_objects() if type(held).__name__ == "InferenceSession"] if "onnxruntime" in sys.modules else []
        models = {path for path in (getattr(held, "_model_path", None) for held in sessions) if path}
        # Weights may lie beside the network, in a file that is called as it is.
        beside = {other for path in models for other in glob.glob(glob.escape(os.path.splitext(path)[0]) + "*data")}
        for path in sorted(map(os.path.realpath, self.paths | models | beside)):
            if path.endswith((".pyc", ".lock")) or path.startswith(places) or any(part in path for part in kept):
                continue
            if not is_own(path) or not os.path.isfile(path):
                continue
            if largest is None or os.path.getsize(path) <= largest:
                found[path] = digest_of_file(path)
        return found


def digest_of_file(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() if hasattr(hashlib, "file_digest") else hashlib.sha256(file.read()).hexdigest()


def own_files():
    """The digests of the user's own files that were imported."""
    paths = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    own = (path for path in paths if isinstance(path, str) and is_own(path) and os.path.isfile(path))
    return {os.path.realpath(path): digest_of_file(path) for path in own}


def versions():
    """Of the interpreter and of the packages that numbers depend on."""
    said = {"python": sys.version.split()[0]}
    for name in ("torch", "torchvision", "timm", "transformers", "datasets", "jax", "tensorflow", "onnxruntime", "sklearn", "numpy", "PIL"):
        version = getattr(sys.modules.get(name), "__version__", None)
        if version is not None:
            said[name] = str(version)
    return said


def told(error):
    """An error with the lines of the user's own files that it went through."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if is_own(frame.filename)]
    if isinstance(error, SyntaxError) and error.filename:
        frames.append(traceback.FrameSummary(error.filename, error.lineno, "", lookup_line=False, line=error.text or ""))
    where = []
    for frame in frames[-3:]:
        name = f", in {frame.name}" if frame.name and not frame.name.startswith("<") else ""
        line = f": {frame.line.strip()}" if frame.line else ""
        where.append(f"{os.path.relpath(frame.filename)}, line {frame.lineno}{name}{line}")
    if isinstance(error, Refused):
        return {"error": str(error), "kind": error.kind, "where": where}
    text = f"{type(error).__name__}: {error}".strip()
    memory = isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError" or "can't allocate memory" in text
    return {"error": text[:2000], "kind": "memory" if memory else "failed", "where": where}


def loaded(question):
    """What the user's file offers by a name; functions and classes are called."""
    path, name, arguments = question["file"], question["name"], question["arguments"]
    if question.get("exact"):
        # CUDA's libraries read these once.
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        os.environ.setdefault("NVIDIA_TF32_OVERRIDE", "0")
    sys.path.insert(0, os.path.dirname(path))
    random.seed(0)
    module_name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None:
        raise Refused(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    spec.loader.exec_module(module)
    if not hasattr(module, name):
        known = [key for key, value in vars(module).items() if not key.startswith("_") and callable(value)]
        raise Refused(f"there is no {name!r} in it; it has {', '.join(known) or 'nothing to call'}")
    offered = getattr(module, name)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(0)
    if torch() is not None:
        torch().manual_seed(0)
        if question.get("exact") and torch().cuda.is_available():
            work_exactly()
    if not inspect.isroutine(offered) and not isinstance(offered, (type, functools.partial)):
        if arguments:
            raise Refused(f"{name!r} is {kind_of(offered)} and takes no `args`")
        return offered
    return offered(**arguments)


def random_states():
    """Where the generators of random numbers stand that a process has one of, by name: who draws moves one of them on. Of what can't be read nothing is said."""

    def of_torch():
        state = torch().get_rng_state()
        return bytes(bytes_of_tensor(state))

    def of_cuda():
        cuda = torch().cuda
        return b"".join(bytes(bytes_of_tensor(state)) for state in cuda.get_rng_state_all()) if cuda.is_initialized() else None

    states = {"random": lambda: repr(random.getstate()).encode()}
    if "numpy" in sys.modules:
        states["numpy"] = lambda: pickle.dumps(sys.modules["numpy"].random.get_state(legacy=False))
    if torch() is not None:
        states |= {"torch": of_torch, "cuda": of_cuda}
    found = {}
    for name, read in states.items():
        try:
            state = read()
        except Exception:
            continue
        if state is not None:
            found[name] = hashlib.sha256(state).hexdigest()
    return found


def digest_of_state(module):
    """Of all parameters and buffers."""
    digest = hashlib.sha256()
    named = list(module.named_parameters(remove_duplicate=False)) + list(module.named_buffers(remove_duplicate=False))
    for name, tensor in sorted(named, key=lambda pair: pair[0]):
        held = tensor.detach().to("cpu").contiguous()
        digest.update(f"{name} {held.dtype} {list(held.shape)} ".encode())
        digest.update(bytes_of_tensor(held))
    return digest.hexdigest()


def digest_of_keras():
    """Of the weights of all networks of Keras that there are, None where there is none."""
    kind = getattr(sys.modules.get("keras"), "Model", None)
    held = [thing for thing in gc.get_objects() if issubclass(type(thing), kind)] if isinstance(kind, type) else []
    digests = []
    for network in held:
        digest = hashlib.sha256()
        # Of a network that is not built yet nothing is known.
        own = network.get_weights()
        if not own:
            continue
        for weights in own:
            digest.update(f"{weights.dtype} {list(weights.shape)} ".encode())
            digest.update(weights.tobytes())
        digests.append(digest.hexdigest())
    return hashlib.sha256(" ".join(sorted(digests)).encode()).hexdigest() if digests else None


def number_list(values):
    """One number for each channel; a number alone is for the three of a colour picture."""
    if isinstance(values, (int, float)) and not isinstance(values, bool):
        return [float(values)] * 3
    return [float(value) for value in values] if isinstance(values, (list, tuple)) else None


# What a processor does that pixels in [0, 1], mean, deviation and size say.
SAID_OTHERWISE = {"do_normalize", "do_rescale", "do_resize", "do_center_crop", "do_convert_rgb", "do_reduce_labels"}


def scaled(get, wanted):
    """Mean and deviation as of pixels in [0, 1], where a processor has others or scales twice."""
    factor = 255.0 * (get("rescale_factor") or 1.0 / 255.0)
    offset = 1.0 if get("rescale_offset") else 0.0
    last = number_list(get("image_std")) if get("include_top") else None
    if abs(factor - 1.0) < 1e-6 and not offset and not last:
        return
    mean, std = wanted["mean"] or [0.0] * len(last or [0.0]), wanted["std"] or [1.0] * len(last or [1.0])
    twice = last or [1.0] * len(std)
    wanted["mean"] = [(offset + m) / factor for m in mean]
    wanted["std"] = [s * t / factor for s, t in zip(std, twice)]


def preprocessing_of(said):
    """Mean, deviation and size of images that a processor, or timm's configuration of a model's data, asks for."""
    get = said.get if isinstance(said, dict) else lambda name, absent=None: getattr(said, name, absent)
    names = set(said if isinstance(said, dict) else dir(said))
    if "do_rescale" in names and not get("do_rescale"):
        raise Refused(
            f"what the model came with, {kind_of(said)}, leaves the scale of pixels as it is (do_rescale), which may be from 0 to 1 or to 255: return the model "
            "alone and give `mean` and `std` of pixels from 0 to 1"
        )
    others = sorted(name for name in names - SAID_OTHERWISE if (name.startswith("do_") or name == "offset") and get(name) is True)
    if others:
        raise Refused(
            f"what the model came with, {kind_of(said)}, does more to images than mean, std and size say: {', '.join(others)}. Return the model alone, have it "
            "do the same to images in [0, 1] itself (channels the other way round are images.flip(1)), and give `mean` and `std`"
        )
    wanted = {"mean": number_list(get("image_mean") or get("mean")), "std": number_list(get("image_std") or get("std"))}
    # Those of timm have no such word and are meant.
    if "do_normalize" in names and not get("do_normalize"):
        wanted["mean"] = wanted["std"] = None
    elif (wanted["mean"] is None) != (wanted["std"] is None) or wanted["mean"] is None:
        raise Refused(f"what the model came with, {kind_of(said)}, says no mean and std: return the model alone and give `mean` and `std`")
    crops = get("do_center_crop") if "do_center_crop" in names else True
    size = (crops and get("crop_size")) or get("size") or get("input_size")
    if hasattr(size, "get"):
        size = [size.get("height"), size.get("width")]
    if isinstance(size, (list, tuple)) and all(isinstance(side, int) for side in size):
        sides = [int(side) for side in size]
        wanted["input"] = sides if len(sides) == 3 else [len(wanted["mean"] or [0, 0, 0]), *sides]
    scaled(get, wanted)
    return wanted


def work_exactly():
    """As viva's own networks work on a GPU: single precision, and the same sums in every run; what has no way of that is an error."""
    torch().backends.cuda.matmul.allow_tf32 = False
    torch().backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    torch().backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    torch().backends.cudnn.allow_tf32 = False
    torch().backends.cudnn.benchmark = False
    torch().backends.cudnn.deterministic = True
    torch().use_deterministic_algorithms(True)
    torch().utils.deterministic.fill_uninitialized_memory = False


class TorchModel:
    """A module of torch."""

    def __init__(self, module, device):
        self.module, self.graphs = module, {}
        self.state = None
        try:
            self.state = digest_of_state(module)
        except (RuntimeError, NotImplementedError, TypeError):
            pass
        for parameter in module.parameters():
            parameter.requires_grad_(False)
        self.device = torch().device(device)
        module.to(self.device)

    def report(self):
        # Modules of torch.export say that they train whatever they do, and take no other word: their answers tell.
        exported = "eval" in vars(self.module)
        parts = [] if exported else self.module.named_modules()
        training = [name or type(self.module).__name__ for name, part in parts if part.training]
        configuration = getattr(self.module, "pretrained_cfg", None)
        wants = None
        if isinstance(configuration, dict) and configuration.get("mean"):
            wants = [number_list(configuration.get("mean")), number_list(configuration.get("std"))]
        family = type(self.module).__module__.split(".")[0]
        return {
            "gradients": True,
            "state": self.state,
            "training": training[:1] + [len(training)] if training else None,
            "wants": wants,
            "device": self.device.type,
            "family": family if family in ("torchvision", "transformers", "timm") else None,
        }

    def scores(self, answer):
        if not is_tensor(answer):
            answer = answer.get("logits", answer) if isinstance(answer, dict) else getattr(answer, "logits", answer)
        if not is_tensor(answer):
            raise Refused(f"the model answered {kind_of(answer)} where N x K scores were expected, as a tensor or as `logits`")
        return answer

    def forward(self, view, shape, keep):
        images = torch().frombuffer(view, dtype=torch().float32).view(shape)
        if keep is None:
            with torch().no_grad():
                return self.scores(self.module(images.to(self.device)))
        with torch().enable_grad():
            leaf = images.to(self.device, copy=True).requires_grad_(True)
            scores = self.scores(self.module(leaf))
        if not scores.requires_grad:
            raise Refused("its scores do not depend on its images by anything that torch follows", "gradient")
        self.graphs[keep] = leaf, scores
        return scores

    def vjp(self, keep, view, shape, again):
        # A graph that is of no more use is taken apart on the way.
        leaf, scores = self.graphs[keep] if again else self.graphs.pop(keep)
        upstream = torch().frombuffer(view, dtype=torch().float32).view(shape).to(scores.device, scores.dtype)
        try:
            return torch().autograd.grad(scores, leaf, upstream, retain_graph=again)[0]
        except RuntimeError as error:
            if "not have been used in the graph" in str(error):
                raise Refused("its scores do not depend on its images by anything that torch follows", "gradient") from None
            raise

    def drop(self, keep):
        self.graphs.pop(keep, None)


class CalledModel:
    """Whatever can be called with images: numpy arrays, or views of memory where there is no numpy."""

    def __init__(self, called):
        self.called, self.images = called, {}

    def report(self):
        state = digest_of_keras()
        # Libraries that read weights in ways that are not heard here.
        unheard = [name for name in ("tensorflow", "h5py", "jax", "paddle", "mxnet") if name in sys.modules]
        return {
            "gradients": callable(getattr(self.called, "vjp", None)),
            "state": state,
            "unheard": unheard[0] if unheard and state is None else None,
        }

    @staticmethod
    def given(view, shape, copy):
        if numpy() is not None:
            images = numpy().frombuffer(view, dtype=numpy().float32).reshape(shape)
            return images.copy() if copy else images
        return memoryview(bytes(view) if copy else view).cast("B").cast("f", shape)

    def forward(self, view, shape, keep):
        images = self.given(view, shape, keep is not None)
        if keep is None:
            return self.called(images)
        self.images[keep] = images
        # It may change what it is given in place.
        return self.called(self.given(view, shape, True))

    def vjp(self, keep, view, shape, _again):
        return self.called.vjp(self.images[keep], self.given(view, shape, True))

    def drop(self, keep):
        self.images.pop(keep, None)


def to_be_turned(image):
    """Whether a picture's file says that it is turned or mirrored before it is shown."""
    try:
        return hasattr(image, "getexif") and image.getexif().get(0x0112, 1) not in (0, 1)
    except Exception:  # What can't be read there says nothing.
        return False


class Data:
    """Items that are asked for by number."""

    def __init__(self, items, image, label):
        if not hasattr(items, "__getitem__") or not hasattr(items, "__len__"):
            raise Refused(f"{kind_of(items)} has no length or no items by number: a map-style data set has __len__ and __getitem__")
        self.items, self.image, self.label, self.unturned = items, image, label, 0

    def report(self):
        classes = getattr(self.items, "classes", None)
        if not isinstance(classes, (list, tuple)):
            features = getattr(self.items, "features", None) or {}
            names = [self.label] if self.label else LABELS
            classes = next((getattr(features[name], "names", None) for name in names if name in features), None)
        return {"count": len(self.items), "classes": [str(name) for name in classes] if classes else None}

    def column(self, item, asked, known, what):
        name = asked or next((name for name in known if name in item), None)
        if name is None or name not in item:
            raise Refused(f"an item has the keys {', '.join(map(str, item))}: say which is the {what}, {what}_key: \"...\"")
        return item[name]

    def item(self, index):
        item = self.items[index]
        if hasattr(item, "keys"):
            image = self.column(item, self.image, IMAGES, "image")
            label = self.column(item, self.label, LABELS, "label")
        elif isinstance(item, (tuple, list)) and len(item) >= 2:
            image, label = item[0], item[1]
        else:
            raise Refused(f"item {index} is {kind_of(item)} where a pair of image and label, or a map of both, was expected")
        if is_tensor(label) and label.numel() == 1:
            label = label.item()
        try:
            label = operator.index(label)
        except TypeError:
            raise Refused(f"the label of item {index} is {label!r} where a whole number was expected") from None
        self.unturned += to_be_turned(image)
        return self.pixels(image, index), label

    @staticmethod
    def pixels(image, index):
        """The kind of numbers, the shape, whether channels come last, the bytes, and what keeps them alive."""
        if is_tensor(image):
            held = image.detach().to("cpu")
            held = (held if held.dtype == torch().uint8 else held.to(torch().float32)).contiguous()
            kind, shape, view = ("u1" if held.dtype == torch().uint8 else "f4"), list(held.shape), bytes_of_tensor(held)
            if not image.is_floating_point() and kind == "f4":
                raise Refused(f"image {index} holds {image.dtype}: floats in [0, 1] or uint8 are expected")
        elif hasattr(image, "getbands"):
            if image.mode not in ("L", "RGB"):
                wide = image.mode == "F" or image.mode.startswith("I")
                how = "hand over its numbers in [0, 1], numpy.asarray(image, \"float32\") / the largest there can be" if wide else "have the data set convert it, image.convert(\"RGB\")"
                raise Refused(f"image {index} is of mode {image.mode!r}: {how}")
            held = image.tobytes()
            shape = [image.height, image.width] + ([3] if image.mode == "RGB" else [])
            return "u1", shape if len(shape) == 3 else [*shape, 1], True, held, held
        else:
            try:
                held = memoryview(image)
            except TypeError:
                raise Refused(f"image {index} is {kind_of(image)}: a picture of PIL, an array or a tensor is expected") from None
            if held.format in ("d", "e") and numpy() is not None:
                held = memoryview(numpy().asarray(image, dtype=numpy().float32))
            if held.format not in ("B", "f"):
                raise Refused(f"image {index} holds numbers of kind {held.format!r}: floats in [0, 1] or uint8 are expected")
            kind, shape = ("u1" if held.format == "B" else "f4"), list(held.shape)
            view = held.tobytes() if not held.c_contiguous else held.cast("B")
        if len(shape) == 2:
            return kind, [1, *shape], False, view, held
        few = (1, 3, 4)
        if len(shape) != 3 or (shape[0] in few) == (shape[2] in few):
            raise Refused(f"image {index} is of shape {shape}: C x H x W or H x W x C is expected, with 1, 3 or 4 channels at one end")
        return kind, shape, shape[2] in few, view, held

    def read(self, begin, count, shared):
        labels, first, place, self.unturned = [], None, None, 0
        for offset in range(count):
            index = begin + offset
            (kind, shape, last, view, _held), label = self.item(index)
            what = kind, shape, last
            if first is None:
                first, size = what, len(view)
                at, place = shared.place(0, size * count)
            if what != first:
                raise Refused(f"image {index} is {shape} of {kind}, image {begin} is {first[1]} of {first[0]}: images of one size are wanted, so have the data set resize and crop them")
            place[offset * size : (offset + 1) * size] = view
            labels.append(label)
        return {"at": at, "kind": first[0], "shape": first[1], "channels_last": first[2], "labels": labels, "unturned": self.unturned}


class Server:
    def __init__(self, shared):
        self.shared, self.model, self.data = shared, None, None
        self.opened = OpenedFiles()

    def origin(self):
        largest = OpenedFiles.LARGEST_BESIDE_PARAMETERS if isinstance(self.model, TorchModel) and self.model.state else None
        # Of data sets the images are read and known themselves.
        opened = {} if self.model is None else self.opened.digests(largest)
        return {"files": {**opened, **own_files()}, "versions": versions()}

    def loaded(self, question):
        self.opened.listening = True
        try:
            return loaded(question)
        finally:
            self.opened.listening = False

    def load_model(self, question):
        made, wanted = self.loaded(question), {}
        if isinstance(made, tuple) and len(made) == 2:
            made, said = made
            wanted = preprocessing_of(said)
        if torch() is not None and isinstance(made, torch().nn.Module):
            device = question["device"]
            if device.startswith("cuda") and not question["must"] and not torch().cuda.is_available():
                device = "cpu"
            self.model = TorchModel(made, device)
        elif callable(made):
            self.model = CalledModel(made)
        else:
            raise Refused(f"{question['name']!r} made {kind_of(made)}, which is no torch.nn.Module and can't be called with images")
        return {**self.model.report(), **wanted, **self.origin()}

    def load_data(self, question):
        self.data = Data(loaded(question), question["image"], question["label"])
        return {**self.data.report(), **self.origin()}

    def read(self, question):
        return self.data.read(question["begin"], question["count"], self.shared)

    def answered(self, values, what, after):
        shape, view, _held = numbers(values, what)
        at, place = self.shared.place(after, len(view))
        place[:] = view
        return {"at": at, "shape": shape}

    def forward(self, question):
        size = FOUR * math.prod(question["shape"])
        view = self.shared.bytes(0, size)
        watch = question.get("watch", False)
        before = random_states() if watch else {}
        scores = self.model.forward(view, question["shape"], question["keep"])
        answer = self.answered(scores, "its scores", size)
        return answer | {"before": before, "after": random_states()} if watch else answer

    def vjp(self, question):
        size = FOUR * math.prod(question["shape"])
        gradient = self.model.vjp(question["keep"], self.shared.bytes(0, size), question["shape"], question["again"])
        return self.answered(gradient, "its gradient", size)

    def answer(self, question):
        for keep in question.get("drop", []):
            self.model.drop(keep)
        if question["do"] not in ("load_model", "load_data", "read", "forward", "vjp"):
            raise Refused(f"there is no question {question['do']!r}")
        return getattr(self, question["do"])(question)


def end_with(parent):
    """Ends with the process that asks, even where that was killed while an answer is worked out."""
    while os.getppid() == parent:
        time.sleep(1)
    shutil.rmtree(os.environ["TMPDIR"], ignore_errors=True)
    os._exit(1)


def main():
    questions, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # What the user's file prints goes where it is heard, and what it reads is nothing.
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
    server = Server(Shared(int(sys.argv[1])))
    for line in questions:
        try:
            answer = {"ok": server.answer(json.loads(line))}
        except Exception as error:
            answer = told(error)
        answers.write(json.dumps(answer).encode() + b"\n")
        answers.flush()
    shutil.rmtree(os.environ["TMPDIR"], ignore_errors=True)


main()
