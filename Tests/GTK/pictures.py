"""Pictures that carry a number, and a server for them.

A picture shows its number as black and white bars. It is green as an original, and red as a thumbnail.
"""
import ctypes
import http.server
import io
import os
import threading

from PIL import Image, ImageDraw

BITS, BAR = 12, 20
WIDTH, HEIGHT = 320, 180
GREEN, RED = (0, 160, 0), (200, 0, 0)
SERVER = "192.0.2.1"


def bars(number):
    return [number >> bit & 1 for bit in range(BITS)]


def picture(number, colour):
    image = Image.new("RGB", (WIDTH, HEIGHT), colour)
    draw = ImageDraw.Draw(image)
    for place, bit in enumerate(bars(number)):
        draw.rectangle((40 + place * BAR, 40, 39 + (place + 1) * BAR, 139), "white" if bit else "black")
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def animation(number, size=(WIDTH, HEIGHT), loop=1):
    """Three frames with consecutive numbers, for 50 ms each. They play once, or without end if `loop` is 0."""
    frames = [Image.open(io.BytesIO(picture(number + place, GREEN))).resize(size) for place in range(3)]
    file = io.BytesIO()
    frames[0].save(file, "WEBP", save_all=True, append_images=frames[1:], duration=50, lossless=True, loop=loop)
    return file.getvalue()


def progressive(number):
    """A progressive JPEG, and the length of its beginning with the first scan."""
    file = io.BytesIO()
    Image.open(io.BytesIO(picture(number, GREEN))).save(file, "JPEG", progressive=True, subsampling=0)
    content = file.getvalue()
    scans = [place for place in range(len(content)) if content[place:place + 2] == b"\xff\xda"]
    return content, scans[1]


class Origin(http.server.BaseHTTPRequestHandler):
    """Serves `/o/NUMBER` and `/t/NUMBER`; `/animation/NUMBER` counts up from NUMBER. `/silent/NUMBER` gets no response.

    `/small/NUMBER` is a small animation without end. `/version/NUMBER` is another animation for every
    second request, which counts up from a number larger by ten.

    After the first scan of `/scans/NUMBER`, the server waits for a request for `/rest/NUMBER`, which fails.
    """

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        role, number = self.path.split("/")[1:]
        self.server.paths.append(self.path)
        if role == "silent":
            return self.server.gate.wait()
        if role == "scans":
            return self.send_scans(int(number))
        if role == "rest":
            self.server.rest.set()
        number = int(number)
        bodies = {
            "o": lambda: picture(number, GREEN),
            "t": lambda: picture(number, RED),
            "animation": lambda: animation(number),
            "small": lambda: animation(number, size=(WIDTH // 20, HEIGHT // 20), loop=0),
            "version": lambda: animation(number + 10 * (1 - self.server.paths.count(self.path) % 2)),
        }
        if role not in bodies:
            return self.send_error(404)
        body = bodies[role]()
        self.send_response(200)
        self.send_header("Content-Type", "image/png" if role in ("o", "t") else "image/webp")
        if role == "version":
            self.send_header("Cache-Control", "max-age=0")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def send_scans(self, number):
        content, first = progressive(number)
        self.server.rest.clear()
        self.send_response(200)
        self.send_header("Content-Type", "image/jpeg")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[:first])
        self.server.rest.wait()
        self.wfile.write(content[first:])

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """Cancelled loads close their connections."""


def serve(namespace, started):
    """Serves the pictures on the loopback interface, or in a network namespace, which this thread enters."""
    if namespace:
        with open(f"/run/netns/{namespace}") as file:
            assert ctypes.CDLL(None, use_errno=True).setns(file.fileno(), 0) == 0, os.strerror(ctypes.get_errno())
    origin = Server((SERVER if namespace else "127.0.0.1", 0), Origin)
    origin.paths, origin.gate, origin.rest = [], threading.Event(), threading.Event()
    started.put(origin)
    origin.serve_forever()
