"""Writes corruptions.npz: pictures, what the published corruptions make of them given the random numbers that space::corruptions draws,
and moments of what they make of them with their own random numbers.

With Python 3.9: pip install numpy==1.23.5 scikit-image==0.19.3 scipy==1.9.3 opencv-python-headless==4.6.0.66 pillow==9.5.0 'setuptools<80'
wand; pip install --no-deps imagecorruptions==1.1.2; python -W ignore corruptions.py make_cifar_c.py
where make_cifar_c.py is ImageNet-C/create_c/make_cifar_c.py of github.com/hendrycks/robustness, of which the functions are read. Its
blurs of motion are ImageMagick's, here 6.9.11-60 Q16.
"""
import ast
import ctypes
import math
import sys
import types
import warnings
from io import BytesIO

import cv2
import imagecorruptions.corruptions as package
import numpy as np
import skimage as sk
from PIL import Image
from scipy.ndimage import map_coordinates, zoom
from skimage.filters import gaussian
from wand.api import library as wandlibrary
from wand.image import Image as WandImage

warnings.simplefilter("ignore")

# The names and their places in the streams.
NAMES = [
    "gaussian_noise", "shot_noise", "impulse_noise", "defocus_blur", "glass_blur", "motion_blur", "zoom_blur", "snow", "frost", "fog",
    "brightness", "contrast", "elastic_transform", "pixelate", "jpeg_compression", "speckle_noise", "gaussian_blur", "spatter", "saturate",
]
DONE = sys.argv[2].split(",") if len(sys.argv) > 2 else NAMES
CHANCE = {"gaussian_noise", "shot_noise", "impulse_noise", "speckle_noise", "glass_blur", "motion_blur", "snow", "frost", "fog",
          "elastic_transform", "spatter"}
M64, M128 = (1 << 64) - 1, (1 << 128) - 1


class Stream:
    """rand_pcg 0.3's Pcg64Mcg as core::random(seed, part) makes it, and what space::corruptions draws from it, under numpy's names."""

    def __init__(self, seed, part):
        def mix(z):
            z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & M64
            z = (z ^ (z >> 27)) * 0x94D049BB133111EB & M64
            return z ^ (z >> 31)

        word = mix((seed + 0x9E3779B97F4A7C15) & M64) ^ mix(part * 0xD1342543DE82EF95 & M64)
        state = 0
        for i in range(4):
            word = (word * 6364136223846793005 + 11634580027462260723) & M64
            x, turn = ((word >> 18) ^ word) >> 27 & 0xFFFFFFFF, word >> 59
            state |= ((x >> turn | x << (32 - turn)) & 0xFFFFFFFF if turn else x) << 32 * i
        self.state, self.spare = state | 1, None

    def one(self):
        self.state = self.state * 0x2360ED051FC65DA44385DF649FCCF645 & M128
        turn, x = self.state >> 122, (self.state >> 64 ^ self.state) & M64
        x = (x >> turn | x << (64 - turn)) & M64 if turn else x
        return (x >> 11) * 2.0**-53

    def many(self, size, draw):
        if size is None:
            return draw()
        count = int(np.prod(size))
        return np.array([draw() for _ in range(count)]).reshape(size)

    def random(self, size=None):
        return self.many(size, self.one)

    def uniform(self, low=0.0, high=1.0, size=None):
        return self.many(size, lambda: low + (high - low) * self.one())

    def randint(self, low, high=None, size=None):
        low, high = (0, low) if high is None else (low, high)
        return self.many(size, lambda: low + int(self.one() * (high - low)))

    def one_normal(self):
        if self.spare is not None:
            spare, self.spare = self.spare, None
            return spare
        radius = math.sqrt(-2.0 * math.log(1.0 - self.one()))
        angle = math.tau * self.one()
        self.spare = radius * math.sin(angle)
        return radius * math.cos(angle)

    def normal(self, loc=0.0, scale=1.0, size=None):
        return loc + scale * self.many(size, self.one_normal)

    def one_poisson(self, mean):
        share, k, weight = self.one(), 0, math.exp(-mean)
        below = weight
        while share >= below and weight > 0.0:
            k += 1
            weight *= mean / k
            below += weight
        return k

    def poisson(self, means):
        return np.array([self.one_poisson(mean) for mean in means.ravel()], dtype=float).reshape(means.shape)


class Numpy(types.ModuleType):
    """numpy with another source of random numbers."""

    def __init__(self, stream):
        super().__init__("numpy")
        self.__dict__.update(np.__dict__)
        self.random = stream


def cifar_functions(path):
    """The corruptions of make_cifar_c.py, without what it does to a data set."""
    kept = [node for node in ast.parse(open(path).read()).body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    wandlibrary.MagickMotionBlurImage.argtypes = (ctypes.c_void_p, ctypes.c_double, ctypes.c_double, ctypes.c_double)
    space = dict(np=np, sk=sk, gaussian=gaussian, BytesIO=BytesIO, PILImage=Image, cv2=cv2, scizoom=zoom, map_coordinates=map_coordinates)
    space.update(wandlibrary=wandlibrary, WandImage=WandImage)
    exec(compile(ast.Module(kept, []), path, "exec"), space)
    return space


SPACES = {"imagenet": vars(package), "cifar": cifar_functions(sys.argv[1])}


def corrupt(scale, name, picture, severity, stream=None):
    space = SPACES[scale]
    space["np"] = np if stream is None else Numpy(stream)
    default_rng = np.random.default_rng
    if stream is not None:
        np.random.default_rng = lambda seed: stream
    try:
        return np.uint8(space[name](Image.fromarray(picture), severity))
    finally:
        np.random.default_rng = default_rng


def frost(number):
    """In place of the published photographs, as OpenCV reads them: blue, green, red."""
    y, x, c = np.mgrid[0:187, 0:231, 0:3]
    return ((x * (7 + number) + y * (3 + 2 * number) + c * 50 + x * y // 9) % 256).astype(np.uint8)[..., ::-1].copy()


cv2.imread = lambda name: frost(int(name[-5]) - 1)


def picture(height, width, seed):
    """Slopes, edges, fine patterns, and patches of black, white, grey and full colours."""
    y, x = np.mgrid[0:height, 0:width]
    image = np.stack([x * 255 // (width - 1), y * 255 // (height - 1), 128 + 100 * np.sin((x + 2 * y) / 5.0)], 2)
    image[(x - width / 2) ** 2 + (y - height / 2) ** 2 < (height / 4) ** 2] = [200, 60, 30]
    image[:6, :6], image[:6, -6:], image[-6:, :6], image[-6:, -6:] = 0, 255, 128, [0, 255, 0]
    fine = (x // 2 + y // 2) % 2 == 0
    image[height // 3 : 2 * height // 3, :8][fine[height // 3 : 2 * height // 3, :8]] = 255
    noise = np.random.default_rng(seed).integers(-12, 13, image.shape)
    noise[:6], noise[-6:] = 0, 0
    return np.clip(image + noise, 0, 255).astype(np.uint8)


if __name__ == "__main__":
    arrays = {}
    for scale, size in [("imagenet", (34, 38)), ("cifar", (32, 32))]:
        original = arrays[f"{scale}_original"] = picture(*size, 3)
        for place, name in enumerate(NAMES):
            if name not in DONE:
                continue
            made = []
            for severity in range(1, 6):
                made.append(corrupt(scale, name, original, severity, Stream(7, 1 << 57 | place)))
            arrays[f"{scale}_{name}"] = np.stack(made)
            if name in CHANCE:
                np.random.seed(1)
                of = []
                for _ in range(400):
                    drawn = corrupt(scale, name, original, 3).astype(float)
                    of.append([drawn.mean(), drawn.std(), np.abs(np.diff(drawn, axis=1)).mean()])
                of = np.array(of)
                # Means over draws, and their standard errors.
                arrays[f"{scale}_{name}_moments"] = np.stack([of.mean(0), of.std(0, ddof=1) / 20])
    np.savez_compressed("corruptions.npz", **arrays)
