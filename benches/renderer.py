"""Pictures of objects by Mitsuba 3: matte surfaces in the light of the sun, of a lamp, and of a sky that is equally bright everywhere, without
light that is thrown from one surface to another.

usage: python renderer.py <folder> <samples per pixel> <threads>
The folder holds object_N.npz (positions, normals, corners, colours of corners' triangles) and views.json: for every picture the object's number, the eye, the light
(a direction for the sun, a place for the lamp), its kind and the size in pixels. Writes pictures.npz: pictures (N, 3, size, size) and seen (N, size, size),
the share of every pixel that the object covers. Prints a line of JSON: seconds and version."""
import json, sys, time
from pathlib import Path

import drjit
import mitsuba as mi
import numpy as np

folder, samples, threads = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
mi.set_variant("scalar_rgb")
mi.set_log_level(mi.LogLevel.Error)
drjit.set_thread_count(threads)

AMBIENT, HALF_ANGLE, LAMP = 0.35, 50.0, 3.0


def shape(number):
    data = np.load(folder / f"object_{number}.npz")
    properties = mi.Properties()
    surface = {"type": "twosided", "inner": {"type": "diffuse", "reflectance": {"type": "mesh_attribute", "name": "face_color"}}}
    properties["bsdf"] = mi.load_dict(surface)
    mesh = mi.Mesh("object", len(data["positions"]), len(data["corners"]), has_vertex_normals=True, props=properties)
    mesh.add_attribute("face_color", 3, data["colours"].astype(np.float32).ravel())
    parameters = mi.traverse(mesh)
    parameters["vertex_positions"] = data["positions"].astype(np.float32).ravel()
    parameters["vertex_normals"] = data["normals"].astype(np.float32).ravel()
    parameters["faces"] = data["corners"].astype(np.uint32).ravel()
    parameters.update()
    return mesh


views = json.loads((folder / "views.json").read_text())
meshes = {}
pictures, seen, spent = [], [], 0.0
for view in views:
    if view["object"] not in meshes:
        meshes = {view["object"]: shape(view["object"])}
    light = view["light"]
    if view["kind"] == "sun":
        lamp = {"type": "directional", "direction": [-x for x in light], "irradiance": {"type": "rgb", "value": (1 - AMBIENT) * np.pi}}
    else:
        lamp = {"type": "point", "position": light, "intensity": {"type": "rgb", "value": (1 - AMBIENT) * np.pi * LAMP**2}}
    size = view["size"]
    scene = mi.load_dict({
        "type": "scene",
        # Of lights without size, more samples than one would be added up, not averaged (3.9.1).
        "integrator": {"type": "direct", "hide_emitters": True, "emitter_samples": 1, "bsdf_samples": 1},
        "sensor": {
            "type": "perspective", "fov": HALF_ANGLE, "near_clip": 0.01,
            "to_world": mi.ScalarTransform4f().look_at(origin=view["eye"], target=[0, 0, 0], up=[0, 1, 0]),
            "film": {"type": "hdrfilm", "width": size, "height": size, "rfilter": {"type": "box"}, "pixel_format": "rgba", "component_format": "float32"},
            "sampler": {"type": "multijitter", "sample_count": samples},
        },
        "object": meshes[view["object"]],
        "sky": {"type": "constant", "radiance": {"type": "rgb", "value": AMBIENT}},
        "lamp": lamp,
    })
    begun = time.perf_counter()
    image = np.array(mi.render(scene, spp=samples))
    spent += time.perf_counter() - begun
    pictures.append(image[..., :3].transpose(2, 0, 1))
    seen.append(image[..., 3])
np.savez(folder / "pictures.npz", pictures=np.stack(pictures).astype(np.float32), seen=np.stack(seen).astype(np.float32))
print(json.dumps({"seconds": spent, "version": mi.__version__}))
