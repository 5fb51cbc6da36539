"""toot from PyPI: a Mastodon client in a terminal, which shows the originals of photos."""

import browser_login
import service
import terminal
from mastodon_client import STATUSES, address, expected, gateway

name = "toot"
packages = ["toot[images]==0.52.1"]
loads_originals = True
opened = set()


def run(tools, folder, address, server, screenshot):
    """Signs in, then opens each status of the timeline. Returns the pictures that were on the screen."""
    environment = service.plain_environment(folder)
    program = tools / "bin/toot"
    with terminal.Terminal([program, "login", "--instance", address], environment, folder, columns=400) as login:
        login.expect("Open link in default browser?")
        url = next(line.strip() for line in login.text.splitlines() if "/oauth/authorize" in line)
        login.type("n\n")
        login.expect("Authorization code:")
        login.type(browser_login.code(url, server) + "\n")
        login.expect("Successfully logged in")
    shown = set()
    with terminal.Terminal([program, "tui", "--colors", "16777216"], environment, folder) as window:
        # This program recommends its successor, tooi.
        window.expect("press Enter")
        window.type("\n")
        window.expect("Status 1")
        for number in STATUSES:
            window.wait(lambda: server.pictures_of(number) <= window.pictures(), seconds=15)
            shown |= window.pictures()
            if number == 1:
                window.save(screenshot)
            window.type("j")
        window.type("q")
    return shown
