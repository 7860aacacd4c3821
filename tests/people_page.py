"""The page of `viva label` in a real Chromium: a session by keyboard alone, one by mouse on a phone's screen, a killed server in the middle,
two workers at once, pictures that are late or lost, names of classes that are markup or written from right to left, single keys switched off,
every kind of question light and dark, wide, at 390 and at 320 pixels, and what axe-core finds wrong for people who see little or use a screen
reader. Needs Debian's `chromium` and `pip install playwright axe-playwright-python`.

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
        && [...document.images].every(image => image.complete && image.naturalWidth > 0)
        && [...document.querySelectorAll('button[data-choice]')].every(button => button.getAttribute('aria-disabled') !== 'true')""", [number, of])


def begin(page):
    """Once the pictures to study, if there are any, are there."""
    heading(page, "Before you begin")
    wait(page, "() => [...document.images].every(image => image.complete && image.naturalWidth > 0)")
    page.click("#go")


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
        begin(page)
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

    # Every kind, in both lights and at every width: nothing wrong that can be told, nothing wider than the screen, nothing too small.
    kinds = {
        "every-label": 'kind: "label", gold: 0',
        "every-keeps": 'kind: "keeps_label", originals: ds.take(6), gold: 0',
        "every-pair": 'kind: "pair", real: ds.skip(30), gold: 0, study: 0',
        "every-odd": 'kind: "odd_one_out", real: ds.skip(30), gold: 0, study: 0',
        "every-attribute": 'kind: "attribute", originals: ds.take(6), attribute: "ink", gold: 0',
        "every-realism": 'kind: "realism", gold: 0',
    }
    for name, rest in kinds.items():
        every = Served(made(name, f"{rest}, wait: 0, pause: 1, instructed: 0"))
        seat = 0
        for light in ("light", "dark"):
            for width in (1100, 390, 320):
                context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=light)
                page = watched(context.new_page())
                page.goto(every.base)
                heading(page, "Looking at pictures")
                accessible(page)
                page.goto(f"{every.base}/w/{every.tokens[seat]}")
                heading(page, "Before you begin")
                accessible(page)
                begin(page)
                at(page, 0, every.questions(seat))
                accessible(page)
                wide = page.evaluate("document.documentElement.scrollWidth")
                assert wide <= width, f"{name} at {width}: {wide} pixels wide"
                small = page.evaluate("[...document.querySelectorAll('button')].filter(b => Math.min(b.offsetWidth, b.offsetHeight) < 24).length")
                assert small == 0, f"{name} at {width}: {small} buttons are too small"
                page.screenshot(path=SHOTS / f"{name}-{light}-{width}.png")
                page.keyboard.press("0" if name == "every-label" else "2")
                heading(page, "A moment")
                accessible(page)
                own = watched(context.new_page())
                own.goto(f"{every.base}/o/{every.owner}/still")
                accessible(own)
                seat += 1
                context.close()
        every.kill()

    # Pictures that are late or lost: nobody judges what is not there, and what was lost is asked for again.
    late = Served(made("late", 'kind: "pair", real: ds.skip(30), gold: 0, study: 0, wait: 0, pause: 0'))
    page = watched(browser.new_context().new_page())
    asked = []

    def slow(route):
        asked.append(route.request.url)
        if len(asked) == 1:
            route.abort()
        else:
            time.sleep(0.4)
            route.continue_()

    page.route("**/picture/**", slow)
    page.goto(f"{late.base}/w/{late.tokens[0]}")
    begin(page)
    heading(page, "Which is the real one?")
    page.keyboard.press("1")
    said(page, "on their way")
    assert not late.log(), "a picture was judged that nobody saw"
    at(page, 0, late.questions(0))
    assert len(asked) == 3 and len(set(asked)) == 2, asked
    page.keyboard.press("1")
    at(page, 1, late.questions(0))
    # Single keys switched off, as who steers by voice may want: buttons answer, keys do nothing, also after a reload.
    page.click("#keys")
    page.keyboard.press("1")
    page.keyboard.press("u")
    page.wait_for_timeout(300)
    assert len(late.log()) == 1, late.log()
    assert page.get_attribute("#keys", "aria-pressed") == "false"
    page.reload()
    at(page, 1, late.questions(0))
    page.keyboard.press("1")
    page.wait_for_timeout(300)
    assert len(late.log()) == 1, late.log()
    page.screenshot(path=SHOTS / "keyless.png")
    accessible(page)
    page.click("button[data-choice='1']")
    at(page, 2, late.questions(0))
    late.kill()

    # Classes with the oddest names, and pictures that are larger than there is room for; a worker whom a platform sends twice.
    names = 'ds.take(6).relabel(|row| row.index % 3, #{ classes: ["<img src=x onerror=alert(1)>", "كلب", "🐙 & \\"co\\" </script>"] })'
    call = f'{DATA} people::task({names}, #{{ folder: "names", kind: "keeps_label", originals: {names}, gold: 0, overlap: 3, per_worker: 3, wait: 0, seed: 4 }})'
    subprocess.run([VIVA, "-e", call], cwd=HOME, check=True, capture_output=True)
    named = Served(HOME / "names")
    task = json.loads((HOME / "names/task.json").read_text())
    places = []
    for _ in range(2):
        page = watched(browser.new_context().new_page())
        page.goto(f"{named.base}/?PROLIFIC_PID=5e9088a8a4b6ed018b45ba7b&STUDY_ID=1&SESSION_ID=2")
        heading(page, "Looking at pictures")
        accessible(page)
        page.click("#join")
        heading(page, "Before you begin")
        places.append(page.url)
    assert places[0] == places[1], places
    page.click("#go")
    for number in range(named.questions(0)):
        at(page, number, named.questions(0))
        item = next(item for item in task["items"] if item["id"] == task["slots"][0][number]["item"])
        heading(page, item["about"]["label"])
        accessible(page)
        page.screenshot(path=SHOTS / f"names-{number}.png")
        page.keyboard.press("2")
    heading(page, "Thank you")
    assert all(line["platform"] == "5e9088a8a4b6ed018b45ba7b" for line in named.log()), named.log()
    named.kill()

    # MTurk's frame: the page is handed in as a form, to MTurk alone.
    subprocess.run([VIVA, "label", "label", "--export", "mturk", "--out", "turk"], cwd=HOME, check=True, capture_output=True)
    question = (HOME / "turk/question-0002.xml").read_text()
    (HOME / "turk/inner.html").write_text(question.split("<![CDATA[")[1].split("]]>")[0])
    page = watched(browser.new_context().new_page())
    page.goto((HOME / "turk/inner.html").as_uri() + "?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId=H")
    heading(page, "Before you begin")
    assert "This is a preview" in page.inner_text("main")
    page.click("#go")
    said(page, "seconds more")
    page.goto((HOME / "turk/inner.html").as_uri() + "?assignmentId=A1&hitId=H&workerId=W1&turkSubmitTo=https%3A%2F%2Fworkersandbox.mturk.com")
    heading(page, "Before you begin")
    page.click("#go")
    of = label.questions(2)
    for number in range(of):
        at(page, number, of)
        time.sleep(0.15)
        page.keyboard.press(str(number))
    heading(page, "Thank you")
    accessible(page)
    handed = []
    page.wrong.clear()
    page.route("https://workersandbox.mturk.com/**", lambda route: (handed.append(route.request), route.fulfill(body="thanks")))
    page.click("text=Hand in")
    wait(page, "() => document.body.innerText.includes('thanks')")
    from urllib.parse import parse_qs

    form = parse_qs(handed[0].post_data)
    assert handed[0].url == "https://workersandbox.mturk.com/mturk/externalSubmit" and form["assignmentId"] == ["A1"], handed[0].url
    answer = json.loads(form["viva"][0])
    assert answer["worker"] == "W1" and [given["choice"] for given in answer["answers"]] == list(range(of)), answer
    page.wrong.clear()

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
        if number == 3:
            # What was answered outlives a reload.
            at(page, 4, of)
            page.reload()
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
