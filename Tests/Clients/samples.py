"""The settings that Documentation/clients.md tells users to enter, which the tests enter too."""

import pathlib
import re
import textwrap

DOCUMENT = pathlib.Path(__file__).resolve().parent.parent.parent / "Documentation/clients.md"


def block(kind):
    """The only sample of a kind, such as `lisp`."""
    (found,) = re.findall(rf"^ *```{kind}\n(.*?)^ *```", DOCUMENT.read_text(), re.M | re.S)
    return textwrap.dedent(found)
