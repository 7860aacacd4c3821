"""Runs scripts of viva from Python, and hands back what they answer.

    import viva
    run = viva.run("script.rhai", model=f, data=ds, epochs=3)
    run["accuracy"], run["rows"], run["curve"]

Results are what they look like: numbers, texts and maps; tensors and arrays of numbers as NumPy arrays; arrays of maps and tables as pandas frames; figures as
`Figure`, which notebooks show. NumPy and pandas are used where they are installed; where not, there are lists. That is all: the language of examinations is
viva's own, and its reference is `viva doc`."""

from __future__ import annotations

import csv, importlib, json, math, os, pathlib, re, shutil, signal, subprocess, sys, sysconfig, tempfile, threading
from collections.abc import Mapping

__all__ = ["Error", "Figure", "Run", "binary", "run"]


class Error(RuntimeError):
    """What went wrong, as viva says it: `str(e)` has the line of the script. `e.run` is the Run with what was done before."""

    def __init__(self, message: str, run: "Run | None" = None):
        super().__init__(message)
        self.run = run


def binary() -> str:
    """The viva that is used: VIVA, or the one of this environment, or the one on PATH."""
    named = os.environ.get("VIVA")
    if named:
        if not os.access(named, os.X_OK) or os.path.isdir(named):
            raise Error(f"VIVA names {named!r}, which is no program")
        return named
    beside = [os.path.join(sysconfig.get_path("scripts"), "viva"), os.path.join(os.path.dirname(sys.executable), "viva"), shutil.which("viva")]
    for place in beside:
        if place and os.access(place, os.X_OK):
            return place
    raise Error("there is no viva beside this Python or on PATH: pip install viva-lab, or name one in VIVA")


def run(script, *, out=None, seed=None, device=None, threads=None, allow=(), resume=False, unchecked=False, quiet=False, **arguments) -> "Run":
    """Runs a script and waits for its end.

    script: a file of viva's language, or its text
    out: the run folder (default: a new one below ./runs)
    seed, device, threads: as of `viva run`
    allow: further permissions, such as "read=/data" or "run"
    resume: whether a run that was stopped in `out` goes on
    unchecked: whether it begins although the script names what there is not
    quiet: whether warnings and progress are kept from standard error
    arguments: the script's own, which it reads by arg("name", default). A number, text or path is given as it is. Anything else is an object of this Python that
        viva asks in one of its own: the script says model::python(arg("model", "")) or data::python(arg("data", "")). It is pickled, by cloudpickle where that is
        installed, so that what this session defined goes along, and unpickled there: what is changed here later is not seen. Lists too are handed over so, and
        what was handed over is gone after the run.

    Raises Error where the script fails, with what viva says. Ctrl-C, or a notebook's interrupt, stops the run at the end of a batch; what was done stays in
    the run folder, and `resume=True` goes on with it."""
    with tempfile.TemporaryDirectory(prefix="viva-") as handed:
        for name in arguments:
            if name in _OWN or name.startswith("allow"):
                raise Error(f"{name}: `viva run` has a word of this name, so that no argument of a script can be called so")
            if arguments[name] is None:
                raise Error(f"{name}=None: leave an argument out for the script's default")
        command = [binary(), "run", _file(script, handed)]
        objects = {name: value for name, value in arguments.items() if not _plain(value)}
        for name, value in arguments.items():
            place = _hand_over(name, value, handed) if name in objects else _word(value)
            command.append(f"--{name}={place}")
        if resume and out is None:
            raise Error("resume=True needs `out`, the folder of the run that goes on")
        folder = pathlib.Path(out) if out is not None else _new_folder()
        command += ["--resume" if resume else "--out", str(folder)] + ["--unchecked"] * bool(unchecked)
        for name, value in (("seed", seed), ("device", device), ("threads", threads)):
            command += [f"--{name}", str(value)] if value is not None else []
        if objects:
            command += ["--allow-run", f"--allow-read={handed}"]
            command += [f"--allow-read={place}" for place in _own_folders()]
        command += [f"--allow-{one}" for one in ([allow] if isinstance(allow, str) else allow)]
        said = _started(command, quiet)
    # What stands in a folder without results was not finished.
    if said.code != 0:
        if out is None and folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
        whole = Run(folder) if (folder / "manifest.json").exists() else None
        if said.interrupted:
            raise KeyboardInterrupt(said.text.strip() or "stopped")
        raise Error(said.text.strip() or f"viva ended with {said.code}", whole)
    return Run(folder)


# Words of `viva run` that are no arguments of a script's.
_OWN = {"changed", "verify", "shard", "devices", "fast", "memory", "json", "help"}


class _Said:
    def __init__(self, code, text, interrupted):
        self.code, self.text, self.interrupted = code, text, interrupted


def _started(command, quiet) -> _Said:
    # The run's own group: an interrupt reaches it once, from here.
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    lines: list[str] = []

    def follow(stream, keep):
        shown = not quiet
        # Whatever becomes of what is shown, the pipe is read to its end: viva would wait for ever once it is full.
        for line in stream:
            text = line.decode("utf-8", "replace")
            lines.append(text) if keep else None
            if shown:
                shown = _show(text, sys.stderr if keep else sys.stdout)

    threads = [threading.Thread(target=follow, args=(process.stdout, False)), threading.Thread(target=follow, args=(process.stderr, True))]
    for thread in threads:
        thread.start()
    interrupted = False
    while True:
        try:
            process.wait()
            break
        except KeyboardInterrupt:
            interrupted = True
            process.send_signal(signal.SIGINT)
    for thread in threads:
        thread.join()
    # The last error is what failed; warnings came before it.
    starts = [i for i, line in enumerate(lines) if line.startswith("Error:")]
    return _Said(process.returncode, "".join(lines[starts[-1]:] if starts else lines[-20:]), interrupted)


def _show(text, stream) -> bool:
    """Whether the stream takes more."""
    try:
        try:
            print(text, end="", file=stream, flush=True)
        except UnicodeEncodeError:
            letters = stream.encoding or "ascii"
            print(text.encode(letters, "replace").decode(letters), end="", file=stream, flush=True)
    except (OSError, ValueError):
        return False
    return True


def _plain(value) -> bool:
    return isinstance(value, (bool, int, float, str, os.PathLike)) or type(value).__module__ == "numpy" and getattr(value, "ndim", 1) == 0


def _word(value) -> str:
    if type(value).__module__ == "numpy":
        value = value.item()
    return str(value).lower() if isinstance(value, bool) else os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def _file(script, folder) -> str:
    text = os.fspath(script)
    if "\n" in text or not text.endswith(".rhai"):
        place = os.path.join(folder, "script.rhai")
        with open(place, "w") as file:
            file.write(text)
        return place
    if not os.path.exists(text):
        raise Error(f"there is no script {text!r} (a text of several lines is taken as a script itself)")
    return text


def _new_folder() -> pathlib.Path:
    pathlib.Path("runs").mkdir(exist_ok=True)
    for number in range(1, 1_000_000):
        folder = pathlib.Path("runs") / f"python-{number}"
        try:
            folder.mkdir()
            return folder
        except FileExistsError:
            pass
    raise Error("no free name below runs/")


def _own_folders() -> list[str]:
    """Folders from which this Python imports: what was pickled is of modules in them."""
    places = {os.path.abspath(place or ".") for place in sys.path}
    return sorted(place for place in places if os.path.isdir(place) and place not in ("/", os.path.expanduser("~")))


def _hand_over(name, value, folder) -> str:
    """Writes an object where another Python can make it again, and says where that is."""
    try:
        pickler = importlib.import_module("cloudpickle")
    except ImportError:
        pickler = importlib.import_module("pickle")
    try:
        with open(os.path.join(folder, f"{name}.pickle"), "wb") as file:
            pickler.dump(value, file)
    except Exception as error:
        hint = "" if pickler.__name__ == "cloudpickle" else "; cloudpickle (pip install cloudpickle) takes what a session defined"
        raise Error(f"{name}={type(value).__name__} can't be handed over: {error}{hint}") from error
    module = os.path.join(folder, f"handed_{name}.py")
    with open(module, "w") as file:
        file.write(
            f"import os, pickle, sys\nsys.path[:0] = {[place for place in sys.path if place]!r}\n"
            f"def {name}():\n    with open(os.path.join(os.path.dirname(__file__), {name + '.pickle'!r}), 'rb') as file:\n        return pickle.load(file)\n"
        )
    return f"{module}:{name}"


class Figure:
    """A figure of a run: notebooks show it; `svg` and `png` are its bytes, `data` every number in it."""

    def __init__(self, data, svg, png):
        self.data, self._svg, self._png = data, svg, png

    @property
    def svg(self) -> str:
        return self._svg.read_text() if self._svg else ""

    @property
    def png(self) -> bytes:
        return self._png.read_bytes() if self._png else b""

    def _repr_svg_(self):
        return self.svg or None

    def _repr_png_(self):
        return self.png or None

    def __repr__(self):
        return f"<viva.Figure {self.data.get('title', '')!r}>"


class Run(Mapping):
    """What a run left: its results by name, as a map. A script that answers no map has one result, "result"."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        path = self.folder / "results.json"
        whole = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        # Which files hold which result, by the JSON pointer that leads to it.
        self._files = {}
        for file, pointer in (self.manifest.get("kept") or {}).items() if path.exists() else ():
            self._files.setdefault((pointer, file.rpartition(".")[2]), self.folder / file)
        self._whole = whole
        if isinstance(whole, dict) and not _is_object(whole):
            self._results = {name: self._value(_below("", name), value) for name, value in whole.items()}
        else:
            self._results = {"result": self._value("", whole)}

    def __getitem__(self, name):
        if name not in self._results:
            raise KeyError(f"{name!r}; this run answered {', '.join(self._results) or 'nothing'}")
        return self._results[name]

    def __iter__(self):
        return iter(self._results)

    def __len__(self):
        return len(self._results)

    def __repr__(self):
        return f"<viva.Run {self.folder}: {', '.join(self._results) or 'no results'}>"

    @property
    def manifest(self) -> dict:
        return json.loads((self.folder / "manifest.json").read_text(encoding="utf-8"))

    @property
    def warnings(self) -> list:
        return self.manifest.get("warnings", [])

    @property
    def printed(self) -> str:
        path = self.folder / "printed.txt"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def table(self, name):
        """The table of a result, or one that the script saved as NAME.csv, as a pandas frame, or as maps where there is no pandas.

        The rows of a result are as `run[name]` has them. A file's columns are numbers where all that stands in them is, as numbers are written (007 is a text, and
        so is NA), bools where all is true or false, else texts; what is empty is missing. A column of nothing but the texts nan and inf becomes numbers."""
        named = self._whole.get(name) if isinstance(self._whole, dict) and not _is_object(self._whole) else None
        rows = self._whole if name == "result" and isinstance(self._whole, list) else named
        if isinstance(rows, list) and rows and all(isinstance(row, dict) for row in rows):
            return self._results[name]
        path = self._kept(_below("", name), "csv") or (self._kept("", "csv") if name == "result" else None)
        own = self.folder / f"{name}.csv"
        if path is None and own not in self._files.values():
            path = own
        if path is None:
            raise KeyError(f"{name!r} has no table; there are {', '.join(self._tables()) or 'none'}")
        if not path.exists():
            raise KeyError(f"no {name}.csv; there are {', '.join(self._tables()) or 'no tables'}")
        with open(path, newline="", encoding="utf-8-sig") as file:
            head, *rows = csv.reader(file)
        columns = {column: _column([row[place] for row in rows]) for place, column in enumerate(head)}
        pandas = _module("pandas")
        return _exact(pandas, columns) if pandas else [dict(zip(head, row)) for row in zip(*columns.values())]

    def _tables(self):
        """What `table` takes: results that have one, and files that the script saved."""
        kept = [pointer for pointer, ending in self._files if ending == "csv"]
        names = [pointer[1:].replace("~1", "/").replace("~0", "~") if pointer else "result" for pointer in kept if pointer.count("/") < 2]
        return sorted(names + [p.stem for p in self.folder.rglob("*.csv") if p not in self._files.values()])

    def report(self) -> pathlib.Path:
        """The run as one page for a browser."""
        page = self.folder / "report.html"
        done = subprocess.run([binary(), "report", str(self.folder), "--out", str(page)], capture_output=True, text=True)
        if done.returncode:
            raise Error(done.stderr.strip(), self)
        return page

    def _kept(self, pointer, ending):
        """The file that holds the result of a pointer, if there is one."""
        path = self._files.get((pointer, ending))
        return path if path and path.exists() else None

    def _value(self, pointer, value):
        if isinstance(value, dict):
            if value.get("type") == "Figure":
                return Figure(value, self._kept(pointer, "svg"), self._kept(pointer, "png"))
            if _is_tensor(value):
                return _array(_module("numpy"), value) if _module("numpy") else value
            return {key: self._value(_below(pointer, key), inner) for key, inner in value.items()}
        if isinstance(value, list) and value:
            if all(isinstance(row, dict) and not _is_object(row) and not _is_tensor(row) for row in value):
                pandas = _module("pandas")
                texts = {key for row in value for key, cell in row.items() if isinstance(cell, str) and cell not in _WORDS}
                rows = [
                    {
                        key: cell if key in texts else self._value(_below(f"{pointer}/{i}", key), cell) if isinstance(cell, dict) else _number(cell)
                        for key, cell in row.items()
                    }
                    for i, row in enumerate(value)
                ]
                return _exact(pandas, rows) if pandas else rows
            numpy = _module("numpy")
            if numpy and _numbers(value):
                return numpy.array(_number(value))
            # What stands among other texts is one.
            if any(isinstance(one, str) and one not in _WORDS for one in value):
                return [one if isinstance(one, str) else self._value(f"{pointer}/{i}", one) for i, one in enumerate(value)]
            return [self._value(f"{pointer}/{i}", inner) for i, inner in enumerate(value)]
        return _number(value)


def _below(pointer, key):
    """The JSON pointer of a key below another pointer."""
    return f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"


# What viva's objects call themselves.
_TYPES = set(
    """Dataset Model Generator GeneratedTests PerturbedTests Transcript RiskReport NModelTest RiskCalibration RiskPlan Counterfactuals LevelSet Boundary
    Sensitivity Weaknesses ExaminerCurve Certificate Task Answers Judgements FrechetDistance Calibration Audit ToleranceDifference ToleranceCurve Figure
    Animation Layer Space Search Objective""".split()
)


def _is_object(value) -> bool:
    """Whether these are the fields of one of viva's objects, such as a Transcript, and no map of the script's."""
    return isinstance(value, dict) and str(value.get("type", "")) in _TYPES


def _is_tensor(value) -> bool:
    if list(value) != ["shape", "values"] or not isinstance(value["values"], list) or not isinstance(value["shape"], list):
        return False
    whole = all(isinstance(length, int) and length >= 0 for length in value["shape"])
    return whole and math.prod(value["shape"]) == _count(value["values"])


def _count(value) -> int:
    return sum(_count(one) for one in value) if isinstance(value, list) else 1


def _array(numpy, tensor):
    return numpy.array(_number(tensor["values"])).reshape(tensor["shape"])


_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,18})")
_PART = re.compile(r"-?(0|[1-9][0-9]*)\.[0-9]*(e[+-]?[0-9]+)?|-?\.[0-9]+(e[+-]?[0-9]+)?|-?[1-9]e-[0-9]+|-?[1-9][0-9]*\.?[0-9]*e-[0-9]+")


def _exact(pandas, rows):
    """A frame whose whole numbers keep all their digits: beside what is missing, pandas makes floats of them."""
    frame = pandas.DataFrame(rows)
    cells = rows if isinstance(rows, dict) else {column: [row.get(column) for row in rows] for column in frame}
    for column, own in cells.items():
        there = [cell for cell in own if cell is not None]
        whole = all(isinstance(cell, int) and not isinstance(cell, bool) for cell in there)
        if whole and len(there) < len(own) and any(abs(cell) > 2**53 for cell in there):
            frame[column] = pandas.array(own, dtype="Int64")
    return frame


def _column(cells) -> list:
    """The cells of a column of a file: numbers where all of them are, or bools, or texts."""
    there = [cell for cell in cells if cell]
    if there and all(_WHOLE.fullmatch(cell) and abs(int(cell)) < 2**63 for cell in there):
        return [int(cell) if cell else None for cell in cells]
    number = lambda cell: _WHOLE.fullmatch(cell) or _PART.fullmatch(cell)
    if any(map(number, there)) and all(number(cell) or cell.lower() in _WORDS for cell in there):
        return [float(cell) if cell else None for cell in cells]
    if there and set(there) <= {"true", "false"}:
        return [cell == "true" if cell else None for cell in cells]
    return [cell or None for cell in cells]


def _module(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


# Numbers that JSON has no words for: a text alone that is one of these can't be told from the number.
_WORDS = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}


def _number(value):
    if isinstance(value, list):
        return [_number(one) for one in value]
    return _WORDS.get(value, value) if isinstance(value, str) else value


def _numbers(value) -> bool:
    """Whether these are numbers, or rows of numbers of one length."""
    if all(isinstance(one, (int, float)) and not isinstance(one, bool) or one in _WORDS for one in value if not isinstance(one, (list, dict))) and not any(
        isinstance(one, (list, dict)) for one in value
    ):
        return True
    return all(isinstance(one, list) and one and len(one) == len(value[0]) and _numbers(one) for one in value)
