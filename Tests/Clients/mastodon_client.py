"""What all Mastodon clients have in common."""

STATUSES = range(1, 6)


def gateway(server):
    """The value of `--gateway`."""
    return f"mastodon={server.base}"


def address(server, values):
    """What the user enters as the server: without a gateway the server itself."""
    return values["Mastodon clients"] if values else server.base


def expected(server):
    """All pictures of the statuses, and the avatars of their authors."""
    return set().union(*map(server.pictures_of, STATUSES)) | {"avatar 1", "avatar 2", "avatar 3"}
