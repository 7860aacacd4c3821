"""The page of `viva label` in a real Chromium: a session by keyboard alone, one by mouse on a phone's screen, a killed server in the middle,
two workers at once, light and dark, and what axe-core finds wrong for people who see little or use a screen reader. Needs Debian's `chromium`
and `pip install playwright axe-playwright-python`.

python tests/people_page.py VIVA [SCREENSHOTS]
"""

import atexit
import json
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

import axe_playwright_python
from playwright.sync_api import sync_playwright

VIVA = str(pathlib.Path(sys.argv[1]).resolve())
SHOTS = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp())
SHOTS.mkdir(exist_ok=True)
HOME = pathlib.Path(tempfile.mkdtemp())
DATA = 'let ds = data::glyphs(#{ n: 400, size: 16, seed: 1 }); '


def made(name, rest):
    """A task in a folder of this name."""
    call = f'{DATA} people::task(ds.take(6), #{{ folder: "{name}", overlap: 3, per_worker: 3, seed: 4, {rest} }})'
    subprocess.run([VIVA, "-e", call], cwd=HOME, check=True, capture_output=True)
    return HOME / name


class Served:
    def __init__(self, folder):
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.start()

    def start(self):
        words = [VIVA, "label", str(self.folder), "--port", str(self.port)]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        atexit.register(self.process.kill)
        assert "places" in self.process.stdout.readline()
        seats = json.loads((self.folder / "seats.json").read_text())
        self.base = f"http://127.0.0.1:{self.port}"
        self.tokens, self.owner = seats["tokens"], seats["owner"]

    def kill(self):
        self.process.kill()
        self.process.wait()

    def log(self):
        return [json.loads(line) for line in (self.folder / "answers.jsonl").read_text().splitlines()]

    def questions(self, seat):
        return len(json.loads((self.folder / "task.json").read_text())["slots"][seat])


def watched(page):
    """Errors of the page, and anything it asks for from elsewhere."""
    page.wrong = []
    page.on("pageerror", lambda error: page.wrong.append(str(error)))
    page.on("console", lambda line: page.wrong.append(line.text) if line.type == "error" and "Failed to load" not in line.text and "ERR_" not in line.text else None)
    page.on("request", lambda request: page.wrong.append(request.url) if not request.url.startswith(("http://127.0.0.1", "file:", "data:", "blob:")) else None)
    return page


def wait(page, what, arg=None):
    """Until this holds; asked from outside, since the page's policy lets nothing be evaluated in it."""
    until = time.time() + 20
    while time.time() < until:
        try:
            if page.evaluate(what, arg):
                return
        except Exception as error:
            if "navigation" not in str(error) and "context" not in str(error):
                raise
        time.sleep(0.05)
    raise AssertionError(f"{what} {arg}: {page.inner_text('body')}")


def heading(page, text):
    wait(page, "text => Boolean(document.querySelector('h1')?.textContent.includes(text))", text)


def at(page, number, of):
    wait(page, """([n, of]) => document.querySelector('.top span')?.textContent === `${n} of ${of} answered`
        && document.querySelector('h1').textContent !== 'A moment …'
        && [...document.images].every(image => image.complete && image.naturalWidth > 0)""", [number, of])


def said(page, text):
    wait(page, "text => Boolean(document.querySelector('.said')?.textContent.includes(text))", text)


AXE = (pathlib.Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def accessible(page, but=()):
    """Nothing that axe-core, which knows WCAG 2.2 at the levels A and AA, can tell to be wrong."""
    page.evaluate(AXE)
    passes, found = page.evaluate("""async rules => {
        const said = await axe.run({ runOnly: rules });
        return [said.passes.length, said.violations.map(v => [v.id, v.help, v.nodes.map(n => n.html.slice(0, 200))])];
    }""", RULES)
    assert passes > 10, f"only {passes} rules were tried"
    found = [violation for violation in found if violation[0] not in but]
    assert not found, f"{page.url}: {json.dumps(found, indent=1)}"


def heard(page, *wanted):
    """What a screen reader is told."""
    tree = page.locator("body").aria_snapshot()
    for text in wanted:
        assert text in tree, f"{text!r} is not in\n{tree}"


with sync_playwright() as chrome:
    browser = chrome.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])

    # By keyboard alone, from the first page on, with an answer that is taken back and a reload in the middle.
    label = Served(made("label", 'kind: "label", real: ds.skip(30), gold: 1, wait: 0.1'))
    page = watched(browser.new_context(viewport={"width": 1100, "height": 800}).new_page())
    page.goto(label.base)
    heading(page, "Looking at pictures")
    accessible(page)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    heading(page, "Before you begin")
    page.screenshot(path=SHOTS / "begin.png")
    accessible(page)
    page.keyboard.press("Space")
    of = label.questions(0)
    at(page, 0, of)
    page.screenshot(path=SHOTS / "label.png")
    accessible(page)
    heard(page, 'heading "Which of these does the picture show best?"', 'img "picture 1 of 1"', 'button "7"', 'button "None"', "status: Question 1 of")
    room = page.evaluate("[...document.images].map(image => [image.getAttribute('width'), image.getAttribute('height')])")
    assert room == [["16", "16"]], f"the page jumps while it loads: {room}"
    for number in range(of):
        at(page, number, of)
        time.sleep(0.15)
        page.keyboard.press("n" if number == 3 else str(number))
        if number == 2:
            at(page, 3, of)
            page.keyboard.press("u")
            at(page, 2, of)
            time.sleep(0.15)
            page.keyboard.press("7")
            at(page, 3, of)
            page.reload()
    heading(page, "Thank you")
    lines = label.log()
    assert len(lines) == of + 2 and lines[3]["undo"] and lines[4]["choice"] == 7, lines
    assert lines[5]["choice"] == 10, "n stands for None"
    page.go_back()
    page.wait_for_timeout(500)
    assert len(label.log()) == of + 2

    # By mouse at 390 pixels; the server is killed in the middle, and the page goes on.
    phone = browser.new_context(viewport={"width": 390, "height": 780}, has_touch=True, color_scheme="dark")
    page = watched(phone.new_page())
    page.goto(f"{label.base}/w/{label.tokens[1]}")
    heading(page, "Before you begin")
    page.click("#go")
    of = label.questions(1)
    for number in range(of):
        at(page, number, of)
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= 390, f"{wide} pixels wide"
        small = page.evaluate("[...document.querySelectorAll('button')].filter(b => b.getBoundingClientRect().height < 44).length")
        assert small == 0, f"{small} buttons are too small to touch"
        time.sleep(0.15)
        if number == 2:
            page.screenshot(path=SHOTS / "phone.png")
            accessible(page)
            label.kill()
            page.click("button[data-choice='4']")
            said(page, "No connection")
            label.start()
        else:
            page.click("button[data-choice='4']")
    heading(page, "Thank you")
    assert [line["choice"] for line in label.log() if line["slot"] == 1] == [4] * of
    own = watched(browser.new_context(viewport={"width": 1000, "height": 600}).new_page())
    own.goto(f"{label.base}/o/{label.owner}")
    own.screenshot(path=SHOTS / "owner.png")
    # New by itself, which can be stopped.
    accessible(own, but=["meta-refresh"])
    own.click("text=Stand still")
    accessible(own)
    own.goto(f"{label.base}/?PROLIFIC_PID=1&STUDY_ID=2")
    heading(own, "Looking at pictures")
    label.kill()

    # Two at once, of twelve pictures; in two tabs of one worker an answer counts once.
    odd = Served(made("odd", 'kind: "odd_one_out", real: ds.skip(30), gold: 1, wait: 0.1, pause: 0.3, study: 1'))
    pages = [watched(browser.new_context().new_page()) for _ in range(2)]
    for page, token in zip(pages, odd.tokens):
        page.goto(f"{odd.base}/w/{token}")
        heading(page, "Before you begin")
    pages[0].screenshot(path=SHOTS / "study.png", full_page=True)
    accessible(pages[0])
    time.sleep(1.2)
    for page in pages:
        page.click("#go")
    other = watched(pages[0].context.new_page())
    other.goto(f"{odd.base}/w/{odd.tokens[0]}")
    of = odd.questions(0)
    for number in range(of):
        for place, page in enumerate(pages):
            at(page, number, of)
            time.sleep(0.15)
            page.keyboard.press("1" if place else "-")
            if not place and number == 0:
                at(page, 1, of)
                other.keyboard.press("5")
                said(other, "another question")
                other.screenshot(path=SHOTS / "odd.png")
                accessible(other)
    for page in pages:
        heading(page, "Thank you")
    for seat, choice in ((0, 10), (1, 0)):
        assert [line["choice"] for line in odd.log() if line["slot"] == seat] == [choice] * of
    odd.kill()

    # The picture before, then the changed one.
    keeps = Served(made("keeps", 'kind: "keeps_label", originals: ds.take(6), real: ds.skip(30), gold: 1, wait: 0.4, completion: "https://example.org/done?cc=1"'))
    page = watched(browser.new_context().new_page())
    page.goto(f"{keeps.base}/w/{keeps.tokens[0]}")
    heading(page, "Before you begin")
    page.keyboard.press("Space")
    of = keeps.questions(0)
    for number in range(of):
        at(page, number, of)
        heading(page, "Does it?")
        time.sleep(0.5)
        if number == 0:
            page.keyboard.press("2")
            continue
        page.keyboard.press("1")
        heading(page, "changed picture")
        page.screenshot(path=SHOTS / "keeps.png")
        if number == 1:
            accessible(page)
            assert page.request.post(f"{keeps.base}/w/{keeps.tokens[0]}/undo", data={"question": 0}).status == 200
            page.reload()
            at(page, 0, of)
            time.sleep(0.5)
            page.keyboard.press("2")
            at(page, 1, of)
            time.sleep(0.5)
            page.keyboard.press("1")
            heading(page, "changed picture")
            # The second picture has its time, too.
            page.keyboard.press("3")
            said(page, "a little longer")
        time.sleep(0.5)
        page.keyboard.press("3")
    heading(page, "Thank you")
    assert [line["choice"] for line in keeps.log() if "choice" in line] == [4, 4] + [2] * (of - 1), keeps.log()
    assert page.get_attribute("#completion", "href") == "https://example.org/done?cc=1"
    accessible(page)
    page.screenshot(path=SHOTS / "done.png")
    keeps.kill()

    # A page that needs no server: answered, saved, and read back.
    subprocess.run([VIVA, "label", "label", "--export", "pages", "--out", "pages"], cwd=HOME, check=True, capture_output=True)
    page = watched(browser.new_context(accept_downloads=True).new_page())
    page.goto((HOME / "pages/page-0002.html").as_uri())
    heading(page, "Before you begin")
    accessible(page)
    page.keyboard.press("Space")
    of = label.questions(2)
    for number in range(of):
        at(page, number, of)
        time.sleep(0.15)
        page.keyboard.press(str(number))
        if number == 1:
            at(page, 2, of)
            page.keyboard.press("u")
            at(page, 1, of)
            time.sleep(0.15)
            page.keyboard.press("9")
    heading(page, "Thank you")
    with page.expect_download() as saved:
        page.click("#save")
    saved.value.save_as(HOME / "saved.json")
    call = 'let a = people::answers(people::load("label"), "saved.json", #{ salt: "s" }); [a.workers, a.unfinished, a.conduct[0].unanswered]'
    said = subprocess.run([VIVA, "-e", call], cwd=HOME, check=True, capture_output=True, text=True).stdout
    assert said.strip() == "[1, 0, 0]", said
    assert [answer["choice"] for answer in json.loads((HOME / "saved.json").read_text())["answers"]] == [0, 9] + list(range(2, of))

    for context in browser.contexts:
        for page in context.pages:
            assert not getattr(page, "wrong", []), page.wrong
    browser.close()
print("the page holds; pictures of it:", SHOTS)
