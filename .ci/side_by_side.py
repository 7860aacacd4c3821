"""Runs the tests of a `cargo test` two modules at a time, the longest first, so that no core waits for the last test of a module.

    python3 .ci/side_by_side.py cargo test --tests

Cargo builds the programs and tells this file, as their runner, how each is to be run; then their tests run, in the environment that cargo
gave them, each file of tests/main.rs in a process of its own. What failed is shown with all that it printed. Ends with 1 where any did.
"""

import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile
import time

AT_ONCE = 2
# Modules and programs of more than half a minute on one core, the longest first; others may come in any order.
LONG = "device experiments faults registry lessons silent resume shards damage latent gradient_attacks least label golden_models stranger bombs generators testgen cli".split()
# Sessions that tests open in themselves keep freed pages, as viva does for itself.
ALLOCATOR = {
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_MMAP_THRESHOLD_": str(32 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(2**31 - 1),
    "MALLOC_TOP_PAD_": str(256 << 20),
}


def note(folder, words):
    """As cargo's runner: keeps a command for later."""
    # Cargo runs one after the other, so there is no other file of that number.
    path = os.path.join(folder, f"{len(os.listdir(folder)):04}.json")
    with open(path, "x") as file:
        json.dump({"words": words, "folder": os.getcwd(), "environment": dict(os.environ)}, file)


def parts_of(command):
    """Commands of one process each, with their names: a program as it is, and of `target/debug/deps/all-f7ee6a9697e646fb` its modules."""
    program, *asked = command["words"]
    name = re.sub(r"-[0-9a-f]{16}$", "", os.path.basename(program))
    if name != "all":
        return [command | {"name": name, "again": " ".join(command["words"])}]
    listed = subprocess.run(
        [program, *asked, "--list"], cwd=command["folder"], env=command["environment"], stdout=subprocess.PIPE, check=True, text=True
    )
    modules = {}
    for test in re.findall(r"^(\S+): test$", listed.stdout, re.MULTILINE):
        modules.setdefault(test.split("::")[0], []).append(test)
    for word in asked:
        if word.endswith("::") and not any(word in test for tests in modules.values() for test in tests):
            sys.exit(f"no test is called {word}")
    # Which tests were asked for is in their names by now.
    kept = [word for word in asked if word.startswith("-") and word != "--skip"]
    return [
        command | {"name": module, "words": [program, *kept, "--exact", *tests], "again": f"{program} {module}::"}
        for module, tests in modules.items()
    ]


def run(command):
    begun = time.monotonic()
    done = subprocess.run(
        command["words"],
        cwd=command["folder"],
        env=ALLOCATOR | command["environment"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    text = done.stdout.decode(errors="replace")
    results = re.findall(r"^test result: ok\. .*", text, re.MULTILINE)
    # A program that ends well before its tests do says no result.
    well = done.returncode == 0 and len(results) == 1
    if not well:
        print(f"\n{text}\n{command['name']} failed with status {done.returncode}: {command['again']}", flush=True)
    elif not results[0].startswith("test result: ok. 0 passed"):
        print(f"{command['name']}, {time.monotonic() - begun:.1f} s\n{results[0]}", flush=True)
    return well


def main(cargo, words):
    with tempfile.TemporaryDirectory() as folder:
        runner = json.dumps([sys.executable, os.path.abspath(__file__), "--note", folder])
        built = subprocess.run([cargo, "--config", f'target."cfg(all())".runner={runner}', *words])
        if built.returncode != 0:
            return built.returncode
        commands = []
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name)) as file:
                commands.extend(parts_of(json.load(file)))
    if not commands:
        print("there is no test to run: does a runner of your own come first, or does a name fit none?")
        return 1
    commands.sort(key=lambda command: LONG.index(command["name"]) if command["name"] in LONG else len(LONG))
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        outcomes = list(pool.map(run, commands))
    failed = [command["name"] for command, well in zip(commands, outcomes) if not well]
    print(f"{len(failed)} of {len(commands)} modules of tests failed: {', '.join(failed)}" if failed else f"{len(commands)} modules of tests passed")
    return 1 if failed else 0


if __name__ == "__main__":
    if sys.argv[1] == "--note":
        note(sys.argv[2], sys.argv[3:])
    else:
        sys.exit(main(sys.argv[1], sys.argv[2:]))
