"""newsboat: a feed reader in a terminal. It opens a link of an entry in a program, here chafa, which shows pictures."""

import samples
import service
import terminal

name = "newsboat"
packages = []
loads_originals = True
opened = set()
ENTRIES = range(30, 33)


def gateway(server):
    """The value of `--gateway`."""
    return "pictures"


def address(server, values):
    """The feed that the user adds: through a gateway, the address of the feed follows that of the gateway."""
    return (values["feed readers"] if values else "") + f"{server.base}/rss.xml"


def expected(server):
    return set(ENTRIES)


def run(tools, folder, address, server, screenshot):
    """Opens each entry and its picture. Returns the pictures that were on the screen."""
    configuration = folder / ".newsboat"
    configuration.mkdir()
    (configuration / "urls").write_text(f"{address}\n")
    (configuration / "config").write_text(samples.block("text"))
    shown = set()
    with terminal.Terminal(["newsboat", "-r"], service.plain_environment(folder), folder, columns=100, lines=40) as window:
        window.expect("A feed with photos")
        window.type("\r")
        window.expect(f"Entry {ENTRIES[-1]}")
        # The newest entry is the first.
        for number in reversed(ENTRIES):
            window.type("\r" if number == ENTRIES[-1] else "n")
            window.expect(f"Text of entry {number}")
            window.type("1")
            window.wait(lambda: number in window.pictures(), seconds=15)
            shown |= window.pictures()
            window.save(screenshot)
            window.type("\r")
            window.expect(f"Text of entry {number}")
    return shown
