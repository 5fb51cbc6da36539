"""The servers of the clients on loopback: a Mastodon instance and a feed, which log what they send."""

import collections
import http.server
import json
import pathlib
import secrets
import ssl
import subprocess
import tempfile
import threading
import urllib.parse

import numbered

Entry = collections.namedtuple("Entry", "method path size connection agent has_authorization is_picture")

PICTURES = {1: 1, 2: 3, 4: 2}
"""The number of photos of each status; status 3 has a card and status 5 a video."""


class Origin(http.server.ThreadingHTTPServer):
    """Serves on a free port of 127.0.0.1, in a thread, for the duration of the `with`."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.port = self.server_address[1]
        self.base = f"http://127.0.0.1:{self.port}"
        self.codes, self.tokens, self.clients = set(), set(), {}
        self.lock = threading.Lock()
        self.log = []

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="feedimg-certificate-")
        self.secure = SecureEntrance(self, pathlib.Path(self.folder.name))
        for server in (self, self.secure):
            threading.Thread(target=server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        for server in (self, self.secure):
            server.shutdown()
            server.server_close()
        self.folder.cleanup()

    def take_log(self):
        """The requests since the last call."""
        with self.lock:
            log, self.log = self.log, []
            return log

    # The entities have the members that https://docs.joinmastodon.org/entities/ describes as required.

    def photo(self, number):
        return {
            "id": f"9{number}", "type": "image", "url": f"{self.base}/media/original/{number}.jpg",
            "preview_url": f"{self.base}/media/small/{number}.jpg", "remote_url": None, "preview_remote_url": None,
            "text_url": None, "meta": {
                "original": {"width": 1440, "height": 1080, "size": "1440x1080", "aspect": 4 / 3},
                "small": {"width": 320, "height": 240, "size": "320x240", "aspect": 4 / 3},
            }, "description": f"Photo {number}", "blurhash": None,
        }

    def video(self, number):
        return self.photo(number) | {"type": "video", "url": f"{self.base}/media/film.mp4", "description": "Film"}

    def account(self, number):
        image = f"{self.base}/avatars/{number}.png"
        return {
            "id": str(number), "username": f"user{number}", "acct": f"user{number}", "display_name": f"User {number}",
            "locked": False, "bot": False, "discoverable": True, "group": False, "noindex": False,
            "created_at": "2024-01-01T00:00:00.000Z", "note": "<p>A note</p>", "url": f"{self.base}/@user{number}",
            "uri": f"{self.base}/users/user{number}", "avatar": image, "avatar_static": image,
            "header": f"{self.base}/media/small/40.jpg", "header_static": f"{self.base}/media/small/40.jpg",
            "followers_count": 3, "following_count": 3, "statuses_count": 5, "last_status_at": "2024-05-01",
            "emojis": [], "fields": [], "roles": [], "source": {"note": "", "fields": [], "privacy": "public",
            "sensitive": False, "language": "en", "follow_requests_count": 0},
        }

    def status(self, number):
        first = number * 5
        attachments = [self.photo(first + index) for index in range(PICTURES.get(number, 0))]
        card = None
        if number == 3:
            card = {
                "url": f"{self.base}/article", "title": "An article", "description": "About something", "type": "link",
                "author_name": "", "author_url": "", "provider_name": "Paper", "provider_url": "", "html": "",
                "width": 320, "height": 240, "image": f"{self.base}/media/small/{first}.jpg", "embed_url": "",
                "image_description": "", "language": "en", "published_at": None, "blurhash": None, "authors": [],
            }
        if number == 5:
            attachments = [self.video(first)]
        return {
            "id": str(1000 - number), "created_at": f"2024-05-0{number}T10:00:00.000Z", "in_reply_to_id": None,
            "in_reply_to_account_id": None, "sensitive": False, "spoiler_text": "", "visibility": "public",
            "language": "en", "uri": f"{self.base}/users/user1/statuses/{number}", "url": f"{self.base}/@user1/{number}",
            "replies_count": 0, "reblogs_count": 0, "favourites_count": 0, "edited_at": None, "favourited": False,
            "reblogged": False, "muted": False, "bookmarked": False, "pinned": False, "filtered": [],
            "content": f"<p>Status {number} :sun:</p>", "reblog": None, "application": None,
            "account": self.account(1 + number % 3), "media_attachments": attachments, "mentions": [], "tags": [],
            "emojis": [{
                "shortcode": "sun", "url": f"{self.base}/emoji/sun.png", "static_url": f"{self.base}/emoji/sun.png",
                "visible_in_picker": True,
            }], "card": card, "poll": None, "text": None, "quotes_count": 0,
        }

    def pictures_of(self, number):
        """The numbers of the pictures that a client shows for a status."""
        return {number * 5 + index for index in range(PICTURES.get(number, 1))}

    def instance(self):
        return {
            "uri": "instance.example", "domain": "instance.example", "title": "A small instance",
            "short_description": "", "description": "", "email": "a@instance.example", "version": "4.2.0",
            "urls": {"streaming_api": self.base.replace("http", "ws")},
            "stats": {"user_count": 3, "status_count": 5, "domain_count": 1},
            "thumbnail": f"{self.base}/media/small/41.jpg", "languages": ["en"], "registrations": False,
            "approval_required": False, "invites_enabled": False, "contact_account": self.account(1), "rules": [],
            "configuration": {
                "accounts": {"max_featured_tags": 10},
                "statuses": {"max_characters": 500, "max_media_attachments": 4, "characters_reserved_per_url": 23},
                "media_attachments": {
                    "supported_mime_types": ["image/jpeg", "image/png"], "image_size_limit": 16777216,
                    "image_matrix_limit": 33177600, "video_size_limit": 103809024, "video_frame_rate_limit": 120,
                    "video_matrix_limit": 8294400,
                },
                "polls": {
                    "max_options": 4, "max_characters_per_option": 50, "min_expiration": 300, "max_expiration": 2629746,
                },
            },
        }

    def instance_v2(self):
        instance = self.instance()
        configuration = instance["configuration"] | {
            "urls": {"streaming": self.base.replace("http", "ws")}, "translation": {"enabled": False},
        }
        return instance | {
            "source_url": "https://github.com/mastodon/mastodon", "usage": {"users": {"active_month": 3}},
            "thumbnail": {"url": f"{self.base}/media/small/41.jpg", "blurhash": None, "versions": {}},
            "icon": [], "configuration": configuration, "contact": {"email": "a@b.example", "account": self.account(1)},
            "registrations": {"enabled": False, "approval_required": False, "message": None, "url": None},
            "api_versions": {"mastodon": 2},
        }

    def feed(self):
        """RSS as WordPress writes it: each entry has a photo in two sizes."""
        entries = "".join(f"""
    <item><title>Entry {number}</title><link>{self.base}/entry/{number}</link><guid>{self.base}/entry/{number}</guid>
      <pubDate>Wed, 0{number - 29} May 2024 10:00:00 +0000</pubDate>
      <description><![CDATA[<p>Text of entry {number}.</p><p><img src="{self.base}/media/original/{number}.jpg"
        width="1440" height="1080" srcset="{self.base}/media/original/{number}.jpg 1440w,
        {self.base}/media/small/{number}.jpg 320w" sizes="100vw" alt="Photo {number}"></p>]]></description>
    </item>""" for number in range(30, 33))
        return f"""<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0"><channel><title>A feed with photos</title><link>{self.base}/</link>
    <description>Photos</description>{entries}
</channel></rss>
"""


class SecureEntrance(http.server.ThreadingHTTPServer):
    """The same servers with TLS, as all instances have it. `certificate` is the file to trust."""

    daemon_threads = True

    def __init__(self, origin, folder):
        super().__init__(("127.0.0.1", 0), Handler)
        self.origin = origin
        self.base = f"https://127.0.0.1:{self.server_address[1]}"
        self.certificate, key = folder / "certificate.pem", folder / "key.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
             "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", self.certificate],
            check=True, stderr=subprocess.DEVNULL,
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, key)
        self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)

    def __getattr__(self, name):
        return getattr(self.origin, name)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.respond()

    do_POST = do_PUT = do_DELETE = do_PATCH = do_HEAD = do_GET

    def respond(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        url = urllib.parse.urlsplit(self.path)
        parts = url.path.strip("/").split("/")
        picture = self.picture(parts)
        if picture:
            status, kind, content = 200, "image/png" if picture.startswith(b"\x89PNG") else "image/jpeg", picture
        elif parts[:1] == ["rss.xml"]:
            status, kind, content = 200, "application/rss+xml", self.server.feed().encode()
        elif parts[:2] == ["oauth", "authorize"]:
            status, kind, content = self.authorize(urllib.parse.parse_qs(url.query or body.decode()))
        else:
            status, value = self.answer(parts, self.parameters(url, body))
            kind, content = "application/json; charset=utf-8", json.dumps(value).encode()
        with self.server.lock:
            self.server.log.append(Entry(
                self.command, url.path, len(content), self.client_address, self.headers.get("User-Agent", ""),
                "Authorization" in self.headers, bool(picture),
            ))
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        if picture:
            self.send_header("Cache-Control", "public, max-age=31536000, immutable")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def parameters(self, url, body):
        if "json" in self.headers.get("Content-Type", ""):
            return json.loads(body or b"{}")
        pairs = urllib.parse.parse_qsl(url.query) + urllib.parse.parse_qsl(body.decode())
        return dict(pairs)

    @staticmethod
    def picture(parts):
        match parts:
            case ["media", "original", name]:
                return numbered.original(int(name.split(".")[0]))
            case ["media", "small", name]:
                return numbered.thumbnail(int(name.split(".")[0]))
            case ["avatars", name]:
                return numbered.avatar(f"avatar {name.split('.')[0]}")
            case ["emoji", _]:
                return numbered.emoji()

    def authorize(self, parameters):
        """The page where the user signs in; the form leads to a page with the code."""
        client = parameters.get("client_id", [""])[0]
        if client not in self.server.clients:
            return 400, "text/plain", b"unknown client"
        if self.command == "GET":
            form = f'<form method="post"><input name="client_id" value="{client}"><button>Authorize</button></form>'
            return 200, "text/html", form.encode()
        code = secrets.token_hex(8)
        self.server.codes.add(code)
        return 200, "text/html", f'<input class="oauth-code" value="{code}">'.encode()

    def answer(self, parts, parameters):
        """The status and the JSON of a request to the API."""
        server = self.server
        if parts == ["api", "v1", "apps"]:
            client, secret = secrets.token_hex(8), secrets.token_hex(8)
            server.clients[client] = secret
            return 200, {
                "id": "1", "name": parameters["client_name"], "website": None, "scopes": ["read", "write"],
                "client_id": client, "client_secret": secret, "redirect_uri": parameters["redirect_uris"],
                "redirect_uris": [parameters["redirect_uris"]], "vapid_key": "x", "client_secret_expires_at": 0,
            }
        if parts == ["oauth", "token"]:
            is_known = server.clients.get(parameters.get("client_id")) == parameters.get("client_secret")
            if not is_known or parameters.get("code") not in server.codes:
                return 400, {"error": "invalid_grant", "error_description": "The code is invalid."}
            server.codes.remove(parameters["code"])
            token = secrets.token_hex(16)
            server.tokens.add(token)
            return 200, {"access_token": token, "token_type": "Bearer", "scope": "read write", "created_at": 1700000000}
        match parts:
            case ["api", "v1", "instance"]:
                return 200, server.instance()
            case ["api", "v2", "instance"]:
                return 200, server.instance_v2()
        if self.headers.get("Authorization", "").removeprefix("Bearer ") not in server.tokens:
            return 401, {"error": "The access token is invalid"}
        match parts:
            case ["api", "v1", "accounts", "verify_credentials"] | ["api", "v1", "accounts", "1"]:
                return 200, server.account(1)
            case ["api", "v1", "timelines", *_]:
                # The second page is empty.
                is_first = not {"max_id", "min_id", "since_id"} & set(parameters)
                return 200, [server.status(number) for number in range(1, 6)] if is_first else []
            case ["api", "v1", "statuses", name]:
                return 200, server.status(1000 - int(name))
            case ["api", "v1", "statuses", _, "context"]:
                return 200, {"ancestors": [], "descendants": []}
            case ["api", "v1", "preferences"]:
                return 200, {
                    "posting:default:visibility": "public", "posting:default:sensitive": False,
                    "posting:default:language": "en", "reading:expand:media": "show_all", "reading:expand:spoilers": True,
                }
            case ["api", "v1", "custom_emojis"]:
                return 200, server.status(1)["emojis"]
            case ["api", "v1", "lists" | "filters" | "notifications" | "followed_tags" | "conversations"]:
                return 200, []
            case ["api", "v1", "accounts", "relationships"]:
                return 200, []
        return 404, {"error": "Record not found"}

    def log_message(self, *_):
        """Writes no log."""
