"""Controls a headless Chromium with its DevTools protocol (chromedevtools.github.io/devtools-protocol)."""

import base64
import json
import pathlib
import shutil
import subprocess
import threading
import time

import websocket

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


class Browser:
    """Runs a browser with its own profile, for the duration of the `with`. Collects errors and requests of the page."""

    def __init__(self, folder):
        program = next(filter(None, map(shutil.which, PROGRAMS)), None)
        if program is None:
            raise SystemExit("chromium is not installed; run `Scripts/packages page`")
        self.folder = pathlib.Path(folder)
        self.folder.mkdir()
        # Root and containers do not support Chromium's sandbox. The browser opens only pages of this test, sends
        # no background requests, and resolves only the names of this machine.
        self.process = subprocess.Popen(
            [
                program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--mute-audio",
                "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
                "--disable-default-apps", "--disable-extensions", "--no-default-browser-check", "--force-color-profile=srgb",
                "--disable-features=Translate,OptimizationHints,MediaRouter", "--hide-scrollbars",
                "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
                "--remote-debugging-port=0", "--remote-allow-origins=*", f"--user-data-dir={self.folder}", "about:blank",
            ],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, encoding="utf-8", errors="replace",
        )
        self.errors = []
        self.requests = []
        self._responses = {}
        self._number = 0
        self._changed = threading.Condition()
        self._is_closed = False

    def __enter__(self):
        for line in self.process.stderr:
            if line.startswith("DevTools listening on "):
                address = line.split()[-1]
                break
        else:
            raise SystemExit("chromium did not start")
        threading.Thread(target=self.process.stderr.read, daemon=True).start()
        self.socket = websocket.create_connection(address, timeout=60, max_size=None)
        threading.Thread(target=self._listen, daemon=True).start()
        target = self._send("Target.createTarget", {"url": "about:blank"}, None)["targetId"]
        self.session = self._send("Target.attachToTarget", {"targetId": target, "flatten": True}, None)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log", "Accessibility"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, *_):
        self._is_closed = True
        try:
            self._send("Browser.close", {}, None)
        except (OSError, RuntimeError, websocket.WebSocketException):
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    # The protocol.

    def call(self, method, **parameters):
        return self._send(method, parameters, self.session)

    def _send(self, method, parameters, session):
        with self._changed:
            self._number += 1
            number = self._number
            message = {"id": number, "method": method, "params": parameters}
            if session:
                message["sessionId"] = session
            self.socket.send(json.dumps(message))
            if not self._changed.wait_for(lambda: number in self._responses or self._is_closed, 60):
                raise RuntimeError(f"{method}: no response")
            response = self._responses.pop(number, {})
        if "error" in response:
            raise RuntimeError(f"{method}: {response['error']['message']}")
        return response.get("result", {})

    def _listen(self):
        while True:
            try:
                message = json.loads(self.socket.recv())
            except (OSError, ValueError, websocket.WebSocketException):
                with self._changed:
                    self._is_closed = True
                    self._changed.notify_all()
                return
            with self._changed:
                if "id" in message:
                    self._responses[message["id"]] = message
                else:
                    self._note(message["method"], message["params"])
                self._changed.notify_all()

    def _note(self, method, event):
        if method == "Network.requestWillBeSent":
            self.requests.append(event["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            details = event["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Runtime.consoleAPICalled" and event["type"] in ("error", "warning", "assert"):
            self.errors.append(" ".join(str(part.get("value", part.get("description"))) for part in event["args"]))
        elif method == "Log.entryAdded" and event["entry"]["level"] in ("error", "warning"):
            self.errors.append(f"{event['entry']['text']} {event['entry'].get('url', '')}")

    # The actions of a user.

    def open(self, address):
        self.call("Page.navigate", url=address)

    def resize(self, width, height, scale=1):
        self.window = (width, height, scale)
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False,
        )

    def set_color_scheme(self, scheme):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def key(self, name, shift=False):
        codes = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "ArrowRight": 39, "ArrowLeft": 37, "ArrowDown": 40}
        event = {"key": name, "code": "Space" if name == " " else name, "windowsVirtualKeyCode": codes[name], "modifiers": 8 * shift}
        text = {" ": " ", "Enter": "\r"}.get(name)
        self.call("Input.dispatchKeyEvent", type="keyDown", **event, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **event)

    def run(self, script):
        """Evaluates an expression, and awaits a promise. Returns the value."""
        response = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in response:
            raise RuntimeError(f"{script}: {response['exceptionDetails'].get('exception', {}).get('description')}")
        return response["result"].get("value")

    def wait(self, script, what, limit=20):
        """Waits until an expression is true. `what` describes it for the error. `limit` is in seconds."""
        end = time.monotonic() + limit
        while not (value := self.run(script)):
            if time.monotonic() > end:
                raise AssertionError(f"timed out after {limit} s: {what}")
            time.sleep(0.05)
        return value

    def screenshot(self, path, whole=True, quality=None):
        """Writes a screenshot of the visible part, or of the whole page."""
        options = {"format": path.suffix.lstrip("."), "captureBeyondViewport": False}
        if quality:
            options["quality"] = quality
        if whole:
            # Make the window as tall as the page, so that all images are visible and load.
            width, height, scale = self.window
            self.resize(width, int(self.run("document.documentElement.scrollHeight")), scale)
            self.wait("new Promise((done) => setTimeout(() => done(!document.querySelector('[aria-busy]')), 200))", "the images to load")
        content = base64.b64decode(self.call("Page.captureScreenshot", **options)["data"])
        path.write_bytes(content)
        if whole:
            self.resize(width, height, scale)
