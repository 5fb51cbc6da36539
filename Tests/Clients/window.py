"""A display without a monitor, with programs in windows, their keys and screenshots."""

import contextlib
import os
import subprocess
import time

import numbered
from PIL import ImageGrab


class Display:
    """Runs Xvfb until the end of the `with`."""

    def __init__(self, environment, folder, size):
        self.environment, self.folder, self.size = environment, folder, size

    def __enter__(self):
        reading, writing = os.pipe()
        width, height = self.size
        self.server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(writing), "-screen", "0", f"{width}x{height}x24", "-nolisten", "tcp"],
            pass_fds=[writing], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        os.close(writing)
        with open(reading) as lines:
            self.name = f":{lines.readline().strip()}"
        self.environment["DISPLAY"] = self.name
        return self

    def __exit__(self, *_):
        self.server.terminate()
        self.server.wait(30)

    @contextlib.contextmanager
    def program(self, command):
        process = subprocess.Popen(
            command, env=self.environment, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            yield process
        finally:
            process.kill()
            process.wait(30)

    def output(self, *command):
        done = subprocess.run(
            command, env=self.environment, timeout=30, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        return done.stdout

    def wait_for_window(self, name):
        """Waits until a program has a visible window, and gives it the keys."""
        window = self.output("xdotool", "search", "--sync", "--onlyvisible", "--class", name).split()[0]
        self.output("xdotool", "windowmove", window, "0", "0", "windowsize", window, *map(str, self.size))
        self.output("xdotool", "windowfocus", "--sync", window)

    def press(self, key):
        self.output("xdotool", "key", key)

    def type(self, text):
        self.output("xdotool", "type", "--delay", "20", text)

    def wait(self, condition, seconds):
        """Waits until a condition holds, and returns its value. Nothing tells when a program has painted its window."""
        end = time.monotonic() + seconds
        while not (value := condition()) and time.monotonic() < end:
            time.sleep(0.1)
        return value

    def screenshot(self):
        return ImageGrab.grab(xdisplay=self.name)

    def pictures(self):
        return numbered.found_in_image(self.screenshot())

    def save(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        self.screenshot().save(path)
