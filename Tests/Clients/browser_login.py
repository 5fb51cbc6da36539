"""The browser of the user, who signs in at the server and authorizes a client."""

import re
import ssl
import urllib.parse
import urllib.request


def code(url, server):
    """Opens the address that a client shows, submits the form of the server, and returns the code for the client."""
    trust = ssl.create_default_context(cafile=server.secure.certificate)
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=trust)
    )
    with opener.open(url, timeout=30) as response:
        address, page = response.url, response.read().decode()
    # No password may pass through the gateway.
    if not address.startswith((f"{server.base}/", f"{server.secure.base}/")):
        raise SystemExit(f"the browser signs in at {address}, not at {server.base}")
    client = re.search('name="client_id" value="([^"]*)"', page)[1]
    form = urllib.parse.urlencode({"client_id": client}).encode()
    with opener.open(address.split("?")[0], form, timeout=30) as response:
        return re.search('class="oauth-code" value="([^"]*)"', response.read().decode())[1]
