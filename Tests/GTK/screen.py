"""Drives Examples/gtk-feed on a screen, and reads the pictures back from it. Tests/GTK/run starts it.

Usage: screen.py cellular FOLDER
       screen.py program FOLDER
       screen.py namespace FOLDER NAMESPACE

The last form runs in a network namespace whose link `feed0` leads to the server in NAMESPACE.

Each picture carries its number as bars. Each row shows the number of its item in the same way, beside the picture. The
two must be equal whenever a picture is shown.
"""
import io
import json
import pathlib
import queue
import random
import subprocess
import sys
import threading
import time

from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "Examples/gtk-feed"))
import feed  # noqa: E402
from pictures import BAR, BITS, GREEN, HEIGHT, RED, SERVER, WIDTH, bars, serve  # noqa: E402
from gi.repository import GLib, Gtk  # noqa: E402

COUNT = 3000
LIMIT = 10


class Driven(feed.Feed):
    """The example, with the number of each item beside its picture, and a script of steps."""

    def __init__(self, items, script, folder, override=None):
        super().__init__(items, override)
        self.script, self.folder, self.fault, self.rows = script, folder, None, set()

    def do_activate(self):
        super().do_activate()
        self.steps = self.script(self)
        self.condition, self.left = next(self.steps), LIMIT * 50
        # After GTK has drawn.
        GLib.timeout_add(20, self.advance, priority=GLib.PRIORITY_LOW)

    def make_row(self, factory, row):
        super().make_row(factory, row)
        row.number = Gtk.DrawingArea(content_width=BITS * 8, content_height=60)
        row.number.set_draw_func(self.draw_number, row)
        row.box.append(row.number)
        self.rows.add(row)

    def bind_row(self, factory, row):
        super().bind_row(factory, row)
        row.number.queue_draw()

    def draw_number(self, _, cairo, width, height, row):
        number = int(json.loads(row.get_item().get_string())["id"]) if row.get_item() else 0
        for place, bit in enumerate(bars(number)):
            cairo.set_source_rgb(bit, bit, bit)
            cairo.rectangle(place * 8, 0, 8, height)
            cairo.fill()

    def advance(self):
        """Goes on to the next step once the condition of this one holds."""
        try:
            if self.condition():
                self.condition, self.left = next(self.steps), LIMIT * 50
                return GLib.SOURCE_CONTINUE
            self.left -= 1
            assert self.left, f"not within {LIMIT} s: {self.condition.__name__}"
            return GLib.SOURCE_CONTINUE
        except StopIteration:
            pass
        except Exception as error:
            self.fault = error
            self.screenshot().save(self.folder / "failure.png")
        self.window.close()
        return GLib.SOURCE_REMOVE

    # What is on the screen

    def place(self, widget):
        """The rectangle of a widget in the window; None outside the list's visible part."""
        is_known, bounds = widget.compute_bounds(self.window)
        _, view = self.scrolled.compute_bounds(self.window)
        top, bottom = bounds.get_y(), bounds.get_y() + bounds.get_height()
        if not is_known or top < view.get_y() or bottom > view.get_y() + view.get_height():
            return None
        return int(bounds.get_x()), int(top)

    def screenshot(self):
        png = subprocess.run(["import", "-window", "root", "png:-"], stdout=subprocess.PIPE, check=True, timeout=60)
        return Image.open(io.BytesIO(png.stdout)).convert("RGB")

    def shown(self, path=None):
        """For each row that the screen shows whole, the numbers of its item and its picture, and its colour."""
        screen = self.screenshot()
        if path:
            screen.crop((0, 0, self.window.get_width(), self.window.get_height())).save(path)
        rows = []
        for row in self.rows:
            if not row.get_item() or not row.number.get_mapped() or not (place := self.place(row.number)):
                continue
            image = row.box.get_first_child()
            if not (corner := self.place(image)):
                continue
            item = sum((screen.getpixel((place[0] + 4 + 8 * bit, place[1] + 30))[0] > 128) << bit for bit in range(BITS))
            colour = screen.getpixel((corner[0] + 10, corner[1] + 10))
            number = sum((screen.getpixel((corner[0] + 50 + BAR * bit, corner[1] + 90))[0] > 128) << bit
                         for bit in range(BITS))
            rows.append((item, number if colour in (GREEN, RED) else None, colour))
        return rows

    def check(self, path=None):
        rows = self.shown(path)
        for item, number, _ in rows:
            assert number in (None, item), f"the row of item {item} shows picture {number}"
        return rows

    def scrolls_to(self, position):
        """Scrolls to a row, and waits until the screen shows it."""
        self.list.activate_action("list.scroll-to-item", GLib.Variant("u", position))

        def row_is_on_the_screen():
            return any(item == position + 1 for item, _, _ in self.check())
        return row_is_on_the_screen

    def are_all(self, colour):
        def rows_show():
            rows = self.check()
            return len(rows) > 1 and all(shown == colour for _, _, shown in rows)
        return rows_show


def frames(count):
    """Lets the main loop run for some turns of 20 ms."""
    left = [count]

    def frames_passed():
        left[0] -= 1
        return left[0] < 0
    return frames_passed


def fling(app, pictures):
    adjustment = app.scrolled.get_vadjustment()
    generator = random.Random(7)
    seen = 0
    for _ in range(12):
        speed = generator.choice([-1, 1]) * generator.randrange(100, 4000)
        for _ in range(10):
            most = adjustment.get_upper() - adjustment.get_page_size()
            adjustment.set_value(min(max(0, adjustment.get_value() + speed), most))
            speed *= 0.7
            yield frames(1)
            if generator.random() < 0.3:
                seen += sum(number is not None for _, number, _ in app.check())
        yield frames(10)
        seen += sum(number is not None for _, number, _ in app.check())
    assert seen > 30, f"only {seen} pictures were shown during the flings"
    print(f"flings: {seen} pictures on the screen, none in a wrong row; {len(pictures)} requests")


def on_cellular(folder, origin):
    def script(app):
        yield app.are_all(RED)
        yield from fling(app, origin.paths)
        yield app.are_all(RED)
        assert not any(path.startswith("/o/") for path in origin.paths), "an original was loaded on cellular"
        app.check(folder / "cellular.png")
        # A tap loads the original of one row.
        places = [app.place(row.box.get_first_child()) for row in app.rows if row.box.get_mapped()]
        x, y = next(place for place in places if place)
        subprocess.run(["xdotool", "mousemove", str(x + 60), str(y + 60), "click", "1"], check=True, timeout=60)

        def original_of_one_row():
            return sorted(colour == GREEN for _, _, colour in app.check())[-2:] == [False, True]
        yield original_of_one_row
        app.check(folder / "upgrade.png")
        app.loader.set_property("always-originals-on-cellular", True)
        yield app.are_all(GREEN)
        print("cellular: thumbnails, one original after a tap, all originals with the setting")
    return script, "cellular"


def on_real_networks(folder, origin):
    def link(state):
        subprocess.run(["ip", "link", "set", "feed0", state], check=True)
        if state == "up":
            subprocess.run(["ip", "route", "replace", "default", "via", SERVER], check=True)

    def script(app):
        yield app.are_all(GREEN)
        assert not app.banner.get_visible()
        link("down")

        def banner_is_visible():
            return app.banner.get_visible()
        yield banner_is_visible
        before = len(origin.paths)
        yield app.scrolls_to(2000)
        yield frames(20)
        rows = app.check(folder / "offline-new.png")
        assert rows and all(number is None for _, number, _ in rows), f"offline, new rows show {rows}"
        yield app.scrolls_to(0)
        yield app.are_all(GREEN)
        app.check(folder / "offline.png")
        assert len(origin.paths) == before, "a request was sent offline"
        link("up")

        def banner_is_hidden():
            return not app.banner.get_visible()
        yield banner_is_hidden
        yield app.scrolls_to(2000)
        yield app.are_all(GREEN)
        print("namespace: cached images offline, new ones when the link is back")
    return script, None


def program(folder, item):
    """The program of the guide shows the picture of an item."""
    process = subprocess.Popen([ROOT / "Examples/gtk-feed/picture.py", item])
    try:
        deadline = time.monotonic() + LIMIT
        while True:
            png = subprocess.run(["import", "-window", "root", "png:-"], stdout=subprocess.PIPE, check=True, timeout=60)
            screen = Image.open(io.BytesIO(png.stdout)).convert("RGB")
            if sum(count for count, colour in screen.getcolors(1 << 24) if colour == GREEN) > WIDTH * HEIGHT // 4:
                break
            assert time.monotonic() < deadline, f"the program does not show the picture within {LIMIT} s"
        screen.save(folder / "program.png")
        print("the program of the guide shows its picture")
    finally:
        process.kill()
        process.wait()


def main():
    folder = pathlib.Path(sys.argv[2])
    started = queue.SimpleQueue()
    threading.Thread(target=serve, args=(sys.argv[3] if len(sys.argv) > 3 else None, started), daemon=True).start()
    origin = started.get(timeout=LIMIT)
    base = "http://%s:%d" % origin.server_address
    items = [json.dumps({"id": str(number), "originalImage": f"{base}/o/{number}", "thumbnailImage": f"{base}/t/{number}"})
             for number in range(1, COUNT + 1)]
    if sys.argv[1] == "program":
        return program(folder, items[41])
    script, override = {"cellular": on_cellular, "namespace": on_real_networks}[sys.argv[1]](folder, origin)
    app = Driven(items, script, folder, override)
    app.run([])
    if app.fault:
        raise app.fault


if __name__ == "__main__":
    main()
