"""Drives a program on a screen as a user does, and reads the pictures back from it. Tests/GTK/run starts it.

Usage: screen.py cellular FOLDER PROGRAM
       screen.py namespace FOLDER PROGRAM NAMESPACE
       screen.py guide FOLDER PROGRAM

PROGRAM is a form of Examples/gtk-feed/feed.py, and for `guide` of Examples/gtk-feed/picture.py. The second form runs in a
network namespace whose link `feed0` leads to the server in NAMESPACE.

Each picture carries its number as bars. The `id` of its item is the same number in block characters, and the programs
show it beside the picture. The two must be equal whenever a picture is shown.
"""
import collections
import contextlib
import json
import os
import pathlib
import queue
import random
import subprocess
import sys
import threading
import time

from PIL import ImageGrab

from pictures import BAR, BITS, GREEN, HEIGHT, RED, SERVER, WIDTH, bars, serve

COUNT = 3000
LIMIT = 10
BLUE = (0, 0, 200)
BLOCK, NO_BLOCK = "\N{FULL BLOCK}", "\N{LOWER ONE EIGHTH BLOCK}"

Row = collections.namedtuple("Row", "item picture colour place")


@contextlib.contextmanager
def display():
    """Runs an X server on a free display number, which it chooses itself."""
    reader, writer = os.pipe()
    server = subprocess.Popen(["Xvfb", "-displayfd", str(writer), "-screen", "0", "800x700x24", "-nolisten", "tcp", "-noreset"],
                              pass_fds=[writer], stderr=subprocess.DEVNULL)
    os.close(writer)
    try:
        with os.fdopen(reader) as pipe:
            os.environ["DISPLAY"] = f":{pipe.readline().strip()}"
        yield
    finally:
        server.terminate()
        server.wait()


def xdotool(*command):
    subprocess.run(["xdotool", *map(str, command)], check=True, timeout=60)


class Screen:
    """The screen with the window of a program in its corner."""

    def __init__(self, folder):
        self.folder = folder

    def read(self, name=None):
        """The rows that the screen shows whole. A name saves the window to a file."""
        self.image = ImageGrab.grab(xdisplay="")
        self.window = self.image.getbbox() or (0, 0, 1, 1)
        if name:
            self.image.crop(self.window).save(self.folder / f"{name}.png")
        column = self.left()
        rows, top = [], None
        for y in range(self.image.height if column else 0):
            colour = self.image.getpixel((column, y))
            if top is None or colour != self.image.getpixel((column, top)):
                top = y if colour in (GREEN, RED, BLUE) else None
            elif y == top + HEIGHT - 1:
                rows.append(self.row(column, top, colour))
        return rows

    def left(self):
        """The first column of the pictures; none before the window has any."""
        for x in range(60):
            colours = collections.Counter(self.image.getpixel((x, y)) for y in range(0, self.image.height, 7))
            if any(colours[colour] > HEIGHT // 7 for colour in (GREEN, RED, BLUE)):
                return x
        return None

    def row(self, left, top, colour):
        picture = None
        if colour != BLUE:
            picture = sum((self.image.getpixel((left + 50 + BAR * bit, top + 90))[0] > 128) << bit for bit in range(BITS))
        return Row(self.number(left + WIDTH, top), picture, colour, (left, top))

    def number(self, left, top):
        """The number in block characters. The row of pixels with the most dark ones is the lowest of the blocks."""
        box = (left + 4, top, self.window[2] - 4, top + HEIGHT)
        label = self.image.crop(box).convert("L").point(lambda value: value < 150 and 255)
        darkest = max(range(HEIGHT), key=lambda y: label.crop((0, y, label.width, y + 1)).histogram()[255])
        first, _, last, _ = label.crop((0, darkest, label.width, darkest + 1)).getbbox() or (0, 0, 0, 0)
        size = (last - first) / BITS
        assert size > 6, "a row has no number"
        return sum((label.getpixel((int(first + (bit + 0.5) * size), darkest - 5)) > 0) << bit for bit in range(BITS))

    def check(self, name=None):
        rows = self.read(name)
        for row in rows:
            assert row.picture in (None, row.item), f"the row of item {row.item} shows picture {row.picture}"
        return rows

    def until(self, what, condition):
        """Waits until the screen has rows of which a condition holds."""
        deadline = time.monotonic() + LIMIT
        while not ((rows := self.check()) and condition(rows)):
            if time.monotonic() > deadline:
                self.image.save(self.folder / "failure.png")
                raise AssertionError(f"not within {LIMIT} s: {what}; the screen shows {rows}")
        return rows

    def until_all(self, colour, *items):
        return self.until(f"all rows have the colour {colour}, and are of {items}", lambda rows: len(rows) > 1 and all(
            row.colour == colour for row in rows) and {row.item for row in rows} >= set(items))

    def has_banner(self):
        """Whether the top of the window has red text."""
        top = self.image.crop((0, 30, self.window[2], 70))
        return any(red > 150 and green < 60 and blue < 60 for _, (red, green, blue) in top.getcolors(1 << 24))

    def has_usage(self):
        """Whether the chart has a bar for today."""
        right = self.window[2]
        return (51, 128, 230) in {colour for _, colour in self.image.crop((right - 30, 4, right, 34)).getcolors(1 << 24)}


def click(x, y):
    xdotool("mousemove", x, y, "click", 1)


def fling(screen, origin):
    generator = random.Random(7)
    seen = 0
    for _ in range(12):
        xdotool("key", "--delay", 8, *[generator.choice(["Next", "Prior", "Next"])] * generator.randrange(1, 30))
        for _ in range(4):
            seen += sum(row.picture is not None for row in screen.check())
    assert seen > 30, f"only {seen} pictures were shown during the flings"
    print(f"flings: {seen} pictures on the screen, none in a wrong row; {len(origin.paths)} requests")


def focus_the_list(screen):
    left, top = screen.read()[0].place
    click(left + WIDTH + 40, top + HEIGHT - 10)


def on_cellular(screen, origin):
    screen.until_all(RED, 1, 2)
    focus_the_list(screen)
    fling(screen, origin)
    rows = screen.until_all(RED)
    assert not any(path.startswith("/o/") for path in origin.paths), "an original was loaded on cellular"
    screen.check("cellular")
    left, top = rows[0].place
    click(left + 60, top + 60)
    screen.until("a tap loads one original", lambda rows: sorted(row.colour == GREEN for row in rows)[-2:] == [False, True])
    screen.check("upgrade")
    # The setting is left of the chart.
    click(screen.window[2] - 180, 18)
    screen.until_all(GREEN)
    print("cellular: thumbnails, one original after a tap, all originals with the setting")


def on_real_networks(screen, origin):
    def link(state):
        subprocess.run(["ip", "link", "set", "feed0", state], check=True)
        if state == "up":
            subprocess.run(["ip", "route", "replace", "default", "via", SERVER], check=True)

    screen.until_all(GREEN, 1, 2)
    assert not screen.has_banner()
    screen.until("the chart shows the data of today", lambda _: screen.has_usage())
    focus_the_list(screen)
    link("down")
    screen.until("the banner is visible", lambda _: screen.has_banner())
    before = len(origin.paths)
    xdotool("key", "End")
    screen.until_all(BLUE, COUNT)
    screen.check("offline-new")
    xdotool("key", "Home")
    screen.until_all(GREEN, 1, 2)
    screen.check("offline")
    assert len(origin.paths) == before, "a request was sent offline"
    link("up")
    screen.until("the banner is hidden", lambda _: not screen.has_banner())
    xdotool("key", "End")
    screen.until_all(GREEN, COUNT)
    print("namespace: cached images offline, new ones when the link is back")


def guide(screen, origin):
    """The program of the guide shows the picture of an item."""
    deadline = time.monotonic() + LIMIT
    while True:
        image = ImageGrab.grab(xdisplay="")
        if sum(count for count, colour in image.getcolors(1 << 24) if colour == GREEN) > WIDTH * HEIGHT // 4:
            break
        assert time.monotonic() < deadline, f"the program does not show the picture within {LIMIT} s"
    image.save(screen.folder / "program.png")
    print("the program of the guide shows its picture")


def main():
    case, folder, program, *namespace = sys.argv[1:]
    started = queue.SimpleQueue()
    threading.Thread(target=serve, args=(namespace[0] if namespace else None, started), daemon=True).start()
    origin = started.get(timeout=LIMIT)
    base = "http://%s:%d" % origin.server_address
    items = [json.dumps({
        "id": "".join(BLOCK if bit else NO_BLOCK for bit in bars(number)), "originalImage": f"{base}/o/{number}",
        "thumbnailImage": f"{base}/t/{number}", "placeholder": {"color": "#0000c8"},
    }) for number in range(1, COUNT + 1)]
    file = pathlib.Path(folder) / "items.jsonl"
    file.write_text("\n".join(items))
    drive, arguments = {
        "cellular": (on_cellular, ["--network=cellular", file]),
        "namespace": (on_real_networks, [file]),
        "guide": (guide, [items[41]]),
    }[case]
    with display():
        process = subprocess.Popen([program, *arguments])
        try:
            drive(Screen(pathlib.Path(folder)), origin)
        finally:
            process.kill()
            process.wait()


if __name__ == "__main__":
    main()
