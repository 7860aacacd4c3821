"""What other programs make of exported tasks, and viva of what they export: the labelling configuration and the converters of
label-studio-sdk, the records of argilla. Each is tried where its package is there (`pip install label-studio-sdk`, `pip install argilla`; they
want an environment each).

python tests/platforms.py VIVA
"""

import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile
import uuid

VIVA = str(pathlib.Path(sys.argv[1]).resolve())
HOME = pathlib.Path(tempfile.mkdtemp())
DATA = 'let ds = data::glyphs(#{ n: 80, size: 16, seed: 1 }); '
TASKS = {
    "label": 'kind: "label", real: ds.skip(30), gold: 1',
    "pair": 'kind: "pair", real: ds.skip(20), gold: 1',
    "keeps_label": 'kind: "keeps_label", originals: ds.take(6), real: ds.skip(30), gold: 1',
}
WORKERS = 4


def viva(*words):
    return subprocess.run([VIVA, *words], cwd=HOME, check=True, capture_output=True, text=True).stdout


def made(kind):
    viva("-e", f'{DATA} people::task(ds.take(6), #{{ folder: "{kind}", overlap: {WORKERS}, per_worker: 6, seed: 4, {TASKS[kind]} }})')
    return json.loads((HOME / kind / "task.json").read_text())


def said(task, carried):
    """The button that is right, by its number; every seventh question is skipped."""
    if (carried["slot"] + carried["question"]) % 7 == 6:
        return None
    question = task["slots"][carried["slot"]][carried["question"]]
    item = next((item for item in task["items"] + task["known"] if item["id"] == question["item"]), None)
    if task["kind"] == "pair":
        return 1 - question["place"]
    if task["kind"] == "keeps_label":
        return 4 if carried["question"] % 3 == 1 else 0
    word = task["check"] if item is None else (item.get("right") or [item["about"]["label"]])[0]
    return task["words"].index(word)


def read(kind, files):
    """What viva says that workers said, by worker, slot and question, and cautions."""
    script = f'''
        let t = people::load("{kind}");
        let a = people::answers(t, {json.dumps(files)}, #{{ keep_ids: true }});
        #{{ judgements: a.raw.judgements, unanswered: a.raw.unanswered, workers: a.workers, cautions: a.cautions,
            left: a.conduct.map(|c| c.left), gold: a.conduct.map(|c| c.gold), unsaid: a.conduct.map(|c| c.unanswered) }}
    '''
    (HOME / "read.rhai").write_text(script)
    return json.loads(viva("run", "read.rhai", "--json", "--out", str(HOME / f"read-{uuid.uuid4().hex}")))


def label_studio():
    from label_studio_sdk.converter import Converter
    from label_studio_sdk.label_interface import LabelInterface

    for kind in TASKS:
        task = made(kind)
        viva("label", kind, "--export", "label_studio", "--out", f"{kind}-ls")
        config = (HOME / f"{kind}-ls/config.xml").read_text()
        interface = LabelInterface(config)
        interface.validate()
        tasks = json.loads((HOME / f"{kind}-ls/tasks.json").read_text())
        for number, entry in enumerate(tasks):
            interface.validate_task({"data": entry["data"]})
            carried = entry["data"]["viva"]
            button = said(task, carried)
            text = None if button is None else task["choices"][button]
            chosen = [] if text is None else [("answer", text)]
            if kind == "keeps_label" and text is not None:
                chosen = [("before", text)] if button >= 4 else [("before", "it does"), ("answer", text)]
            result = [
                {"value": {"choices": [choice]}, "id": f"r{number}{name}", "from_name": name, "to_name": "picture1", "type": "choices", "origin": "manual"}
                for name, choice in chosen
            ]
            worker = carried["slot"]
            by = {"id": worker + 1, "email": f"worker{worker}@example.org", "first_name": "", "last_name": ""}
            entry |= {"id": number + 1, "meta": {}, "predictions": [], "drafts": [], "project": 1}
            entry["annotations"] = [{
                "id": 1000 + number, "completed_by": by, "result": result, "was_cancelled": text is None, "ground_truth": False,
                "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z", "lead_time": 2.5, "task": number + 1,
            }]
            if not entry["annotations"][0]["was_cancelled"]:
                assert interface.validate_annotation({"result": result}), chosen
        full = HOME / f"{kind}-full.json"
        full.write_text(json.dumps(tasks))
        found = {}
        for form, name in (("JSON", "result.json"), ("JSON_MIN", "result.json"), ("CSV", "result.csv")):
            out = HOME / f"{kind}-{form}"
            Converter(config, project_dir=None).convert(str(full), str(out), form, is_dir=False)
            found[form] = read(kind, f"{kind}-{form}/{name}")
        whole, small, table = found["JSON"], found["JSON_MIN"], found["CSV"]
        assert whole["workers"] == WORKERS and sum(whole["unsaid"]) > 0, whole
        assert small["judgements"] == table["judgements"] == whole["judgements"] - whole["unanswered"], found
        assert any("were skipped" in caution for caution in small["cautions"]) and small == table, found
        both = read(kind, [f"{kind}-JSON/result.json", f"{kind}-JSON_MIN/result.json"])
        assert both["workers"] == WORKERS and both["judgements"] == whole["judgements"], "the same people by other names"
        print(f"label-studio-sdk: {kind} holds as JSON, JSON-MIN and CSV")


def argilla():
    from unittest.mock import MagicMock

    import argilla as rg
    from argilla.records._io._json import JsonIO

    rg.Argilla._get_default = classmethod(lambda cls: MagicMock())
    for kind in ("label", "pair"):
        task = made(kind)
        viva("label", kind, "--export", "argilla", "--out", f"{kind}-rg")
        settings = rg.Settings.from_json(HOME / f"{kind}-rg/settings.json")
        assert settings.questions["answer"].labels == task["choices"], settings
        fields = [field.name for field in settings.fields]
        records = JsonIO._records_from_json(HOME / f"{kind}-rg/records.json")
        people = [uuid.UUID(int=worker + 1) for worker in range(WORKERS)]
        for record in records:
            assert list(record.fields.keys()) == fields, record
            carried = record.metadata["viva"]
            button = said(task, carried)
            if button is not None:
                record.responses.add(rg.Response("answer", task["choices"][button], user_id=people[carried["slot"]], status="submitted"))
        JsonIO.to_json(records, HOME / f"{kind}-rg/out.json")
        found = read(kind, f"{kind}-rg/out.json")
        assert found["workers"] == WORKERS and found["judgements"] > 0 and found["unanswered"] == 0, found
        assert any("drafts or discarded" in caution for caution in found["cautions"]), found
        print(f"argilla: {kind} holds")


tried = 0
for package, check in (("label_studio_sdk", label_studio), ("argilla", argilla)):
    if importlib.util.find_spec(package):
        check()
        tried += 1
assert tried, "neither label-studio-sdk nor argilla is installed here"
