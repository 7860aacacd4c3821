"""Draws prompt.png and report.png, the README's pictures: a session typed at a prompt, and a page of `viva report`.

usage: python docs/pictures/draw.py [VIVA]   needs Pillow, pyte (a terminal in memory) and Chromium, on PATH as chromium or in CHROMIUM"""
import fcntl, html, os, pathlib, pty, select, shutil, struct, subprocess, sys, tempfile, termios, time

import pyte
from PIL import Image

HERE = pathlib.Path(__file__).parent
VIVA = str(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "target/debug/viva").resolve())
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or sys.exit("no Chromium on PATH")
COLUMNS, ROWS = 112, 46
SESSION = """let seen = data::glyphs(#{ n: 500, size: 28, seed: 1 });
let layers = [net::conv(32, 5, #{ pad: 2 }), net::relu(), net::max_pool(4), net::flatten(), net::linear(64), net::relu(), net::linear(10)];
let f = model::train(seen, #{ arch: layers, epochs: 40, lr: 0.003, seed: 1 });
let fresh = data::glyphs(#{ n: 500, size: 28, seed: 1, split: "test" })
[f.accuracy(seen), f.accuracy(fresh)]
risk::estimte(f, seen)
risk::estimate(f, seen, #{ radius: 3 })"""


def screen():
    """What the terminal shows after the session."""
    home = tempfile.mkdtemp()
    shown, stream = pyte.Screen(COLUMNS, ROWS), None
    stream = pyte.ByteStream(shown)
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.update(HOME=home, TERM="xterm-256color", COLORTERM="truecolor", VIVA_IMAGES="half")
        os.chdir(home)
        os.execv(VIVA, [VIVA, "--no-init"])
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))

    def settle(quiet):
        last = time.time()
        while time.time() - last < quiet:
            if select.select([fd], [], [], 0.1)[0]:
                stream.feed(os.read(fd, 65536))
                last = time.time()

    settle(3)
    for line in SESSION.splitlines():
        os.write(fd, line.encode())
        settle(0.5)
        os.write(fd, b"\r")
        settle(6)
    os.write(fd, b"\x04")
    return shown


def page(shown):
    """The screen as HTML."""
    colour = lambda name, otherwise: otherwise if name == "default" else (f"#{name}" if len(name) == 6 and name.isalnum() else name)
    lines = []
    for row in range(ROWS):
        spans = ""
        for column in range(COLUMNS):
            cell = shown.buffer[row][column]
            style = f"color:{colour(cell.fg, '#d8dee9')};background:{colour(cell.bg, 'transparent')};font-weight:{700 if cell.bold else 400}"
            spans += f'<span style="{style}">{html.escape(cell.data)}</span>'
        lines.append(spans)
    return (
        "<style>body{margin:0;background:#1b1f27;padding:14px}pre{font:15px/18px 'DejaVu Sans Mono';margin:0}span{display:inline-block;width:9.03px;height:18px}</style>"
        f"<pre>{chr(10).join(lines)}</pre>"
    )


def shoot(address, name, width, height):
    out = HERE / name
    size = f"--window-size={width},{height}"
    subprocess.run([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", size, f"--screenshot={out}", address], check=True, capture_output=True)
    Image.open(out).convert("RGB").quantize(96).save(out, optimize=True)


folder = pathlib.Path(tempfile.mkdtemp())
(folder / "prompt.html").write_text(page(screen()))
shoot(f"file://{folder}/prompt.html", "prompt.png", 1040, 856)
script = HERE / "report.rhai"
subprocess.run([VIVA, "run", str(script), "--out", str(folder / "run")], check=True)
subprocess.run([VIVA, "report", str(folder / "run"), "--out", str(folder / "report.html")], check=True)
shoot(f"file://{folder}/report.html", "report.png", 1100, 900)
