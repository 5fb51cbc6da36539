"""mastodon.el: a Mastodon client in a window of Emacs, under Xvfb. It shows the previews of photos."""

import browser_login
import mastodon_client
import samples
import service
import window
from mastodon_client import STATUSES, gateway

name = "emacs"
packages = []
loads_originals = False
opened = set()
# The instance of the test has a certificate of its own making.
TRUST = "(setq network-security-level 'low)\n"


def address(server, values):
    """What the user sets as the instance: without a gateway the server itself, with TLS."""
    return values["Mastodon clients"] if values else server.secure.base


def expected(server):
    """The client shows no pictures of cards."""
    return mastodon_client.expected(server) - server.pictures_of(3)


def run(tools, folder, address, server, screenshot):
    """Signs in, then goes through the statuses. Returns the pictures that were on the screen."""
    configuration = folder / ".emacs.d"
    configuration.mkdir()
    documented = samples.block("lisp").replace("http://127.0.0.1:8080", address).replace('"ada"', '"user1"')
    (configuration / "init.el").write_text(documented + TRUST)
    # Warnings of the compiler would cover the timeline.
    (configuration / "early-init.el").write_text("(setq native-comp-deferred-compilation nil)\n")
    with window.Display(service.plain_environment(folder), folder, (1100, 1500)) as display:
        command = ["emacs", "--no-splash", "--eval", "(server-start)"]
        with display.program(command):
            display.wait_for_window("emacs")
            display.press("alt+x")
            display.type("mastodon\n")
            url = display.wait(lambda: copied(display), 20)
            display.type(browser_login.code(url, server) + "\n")
            shown = set()
            display.wait(lambda: expected(server) <= display.pictures(), 15)
            display.save(screenshot)
            for _ in STATUSES:
                shown |= display.pictures()
                display.press("n")
    return shown


def copied(display):
    """The address of the sign-in, which Emacs has copied; None before."""
    text = display.output("emacsclient", "--eval", "(car kill-ring)").strip().strip('"')
    return text if "/oauth/authorize" in text else None
