"""A program in a pseudo terminal, with the screen that its user sees."""

import time

import pexpect
import numbered
import pyte
from PIL import Image, ImageDraw, ImageFont

MONO = "/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf"
CELL = (9, 18)
NAMED = {
    "black": (0, 0, 0), "red": (205, 49, 49), "green": (13, 188, 121), "brown": (229, 229, 16), "blue": (36, 114, 200),
    "magenta": (188, 63, 188), "cyan": (17, 168, 205), "white": (229, 229, 229),
    "brightblack": (102, 102, 102), "brightred": (241, 76, 76), "brightgreen": (35, 209, 139),
    "brightbrown": (245, 245, 67), "brightblue": (59, 142, 234), "brightmagenta": (214, 112, 214),
    "brightcyan": (41, 184, 219), "brightwhite": (255, 255, 255),
}


class Terminal:
    """Runs a program until the end of the `with`."""

    def __init__(self, command, environment, folder, columns=160, lines=100):
        self.screen = pyte.Screen(columns, lines)
        self.stream = pyte.ByteStream(self.screen)
        self.child = pexpect.spawn(
            str(command[0]), [str(part) for part in command[1:]], cwd=str(folder), dimensions=(lines, columns),
            env=environment | {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"},
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.close(force=True)

    @property
    def text(self):
        return "\n".join(line.rstrip() for line in self.screen.display)

    def type(self, keys):
        self.child.send(keys)

    def wait(self, condition, seconds=30):
        """Reads output until a condition holds. Returns whether it holds in time."""
        end = time.monotonic() + seconds
        while not condition():
            left = end - time.monotonic()
            if left <= 0:
                return False
            try:
                self.stream.feed(self.child.read_nonblocking(1 << 16, timeout=left))
            except pexpect.TIMEOUT:
                return condition()
            except pexpect.EOF:
                return condition()
        return True

    def expect(self, text, seconds=30):
        """Waits for a text on the screen; ends the test if it does not appear."""
        if not self.wait(lambda: text in self.text, seconds):
            raise SystemExit(f"no `{text}` on the screen:\n{self.text}")

    def pictures(self):
        """The pictures on the screen: half a cell is a pixel."""
        rows = []
        for line in range(self.screen.lines):
            cells = [self.screen.buffer[line][column] for column in range(self.screen.columns)]
            rows.append([half(cell, "▀█") for cell in cells])
            rows.append([half(cell, "▄█") for cell in cells])
        return numbered.found(rows)

    def save(self, path):
        """Writes the screen as a picture, after the program has written nothing for half a second."""
        try:
            while True:
                self.stream.feed(self.child.read_nonblocking(1 << 16, timeout=0.5))
        except (pexpect.TIMEOUT, pexpect.EOF):
            pass
        width, height = CELL
        image = Image.new("RGB", (self.screen.columns * width, self.screen.lines * height), "black")
        pen, font = ImageDraw.Draw(image), ImageFont.truetype(MONO, 14)
        for line in range(self.screen.lines):
            for column in range(self.screen.columns):
                cell = self.screen.buffer[line][column]
                front, back = colours(cell)
                left, top = column * width, line * height
                box = (left, top, left + width - 1, top + height - 1)
                pen.rectangle(box, fill=back)
                if cell.data == "▀":
                    pen.rectangle((left, top, box[2], top + height // 2 - 1), fill=front)
                elif cell.data == "▄":
                    pen.rectangle((left, top + height // 2, box[2], box[3]), fill=front)
                elif cell.data.strip():
                    pen.text((left, top), cell.data, fill=front, font=font)
        path.parent.mkdir(parents=True, exist_ok=True)
        image.save(path)


def colours(cell):
    front, back = colour(cell.fg, (204, 204, 204)), colour(cell.bg, (0, 0, 0))
    return (back, front) if cell.reverse else (front, back)


def colour(name, default):
    if name == "default":
        return default
    return NAMED[name] if name in NAMED else tuple(bytes.fromhex(name))


def half(cell, filled):
    """The colour of the upper or lower half of a cell, given the characters that fill this half."""
    front, back = colours(cell)
    return front if cell.data in filled else back
