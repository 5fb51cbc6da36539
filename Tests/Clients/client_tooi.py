"""tooi from PyPI: a Mastodon client in a terminal, which shows the previews of photos."""

import browser_login
import service
import terminal
from mastodon_client import STATUSES, address, expected, gateway

name = "tooi"
packages = ["toot-tooi==0.27.0"]
loads_originals = False
# The photo of the first status, which the keys open in the gallery.
opened = {5}


def run(tools, folder, address, server, screenshot):
    """Adds the instance and the account, then opens each status. Returns the pictures that were on the screen."""
    command = [tools / "bin/tooi", "--image-type", "halfcell", "--animation-level", "none"]
    shown = set()
    with terminal.Terminal(command, service.plain_environment(folder), folder) as window:
        window.expect("Add Instance")
        window.type("\r")
        window.expect("mastodon.social")
        # The text replaces the selected one.
        window.type(address)
        window.expect(address)
        window.type("\r")
        window.expect("Found instance")
        window.type("\r")
        window.expect("Add Account")
        window.type("\t\r")
        window.expect("Authorization code")
        window.type(browser_login.code(login_url(window, address), server) + "\r")
        window.expect("user1@")
        window.type("\t\r")
        window.expect("Status 1")
        for number in STATUSES:
            window.wait(lambda: server.pictures_of(number) <= window.pictures(), seconds=15)
            shown |= window.pictures()
            if number == 1:
                window.save(screenshot)
                window.type("m")
                window.expect("Gallery")
                window.wait(lambda: "Loading..." not in window.text and 5 in window.pictures(), seconds=15)
                window.type("q")
                window.wait(lambda: "Gallery" not in window.text)
            window.type("j")
        window.type("q")
    return shown


def login_url(window, address):
    """The address of the sign-in, which the window breaks into lines between its borders."""
    text = "".join(line.strip(" │") for line in window.text.splitlines())
    return text[text.index(f"{address}/oauth/authorize"):].split("─")[0]
