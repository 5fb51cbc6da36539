"""An HTTP server on loopback that counts the bytes it sends."""

import functools
import http.server
import threading


class CountingServer(http.server.ThreadingHTTPServer):
    """Serves a folder on a free port of 127.0.0.1, in a thread, for the duration of the `with`."""

    daemon_threads = True

    def __init__(self, folder):
        super().__init__(("127.0.0.1", 0), functools.partial(Handler, directory=str(folder)))
        self.base = f"http://127.0.0.1:{self.server_address[1]}"
        self._idle = threading.Condition()
        self._busy = 0
        self._sent = []

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()

    def response_began(self):
        with self._idle:
            self._busy += 1

    def response_ended(self, name, count):
        with self._idle:
            self._busy -= 1
            self._sent.append((name, count))
            self._idle.notify_all()

    def take_sent(self):
        """Waits for running responses; returns the name and size of each body sent since the last call."""
        with self._idle:
            self._idle.wait_for(lambda: self._busy == 0)
            sent, self._sent = self._sent, []
            return sent


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    extensions_map = {".jpg": "image/jpeg", ".png": "image/png", ".webp": "image/webp", "": "text/plain"}

    def do_GET(self):
        self.sent = 0
        self.server.response_began()
        try:
            super().do_GET()
        finally:
            self.server.response_ended(self.path.lstrip("/"), self.sent)

    def copyfile(self, source, output):
        while block := source.read(16_384):
            output.write(block)
            self.sent += len(block)

    def end_headers(self):
        self.send_header("Cache-Control", "max-age=86400")
        super().end_headers()

    def log_message(self, *_):
        """Writes no log."""
