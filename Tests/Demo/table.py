"""Prints the result of each item in each scenario, for a terminal of 80 to 100 columns."""

import os
import sys

LABEL_WIDTH = 15
CELL_WIDTH = 16
STYLES = {"original": "32", "thumbnail": "33", "placeholder": "2", "bold": "1", "dim": "2", "bad": "31"}


def style(name, text):
    """Adds colour on a terminal, unless the user disables it (no-color.org)."""
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR") or name not in STYLES:
        return text
    return f"\033[{STYLES[name]}m{text}\033[0m"


def size(count):
    """Formats a size with three digits, such as `1.25 MB`."""
    value, unit = float(count), "B"
    for larger in ("kB", "MB", "GB"):
        if value < 999.5:
            break
        value, unit = value / 1000, larger
    digits = 0 if unit == "B" or value >= 99.95 else 1 if value >= 9.995 else 2
    return f"{value:.{digits}f} {unit}"


def cell(outcome):
    """The chosen image, its source, and the rule that decided."""
    variant, rule = outcome["variant"], f"rule {outcome['rule']}"
    if variant == "placeholder":
        return [(variant, variant), ("", outcome["placeholder"]["color"]), ("dim", rule)]
    source = f"network {size(outcome['bytes'])}" if outcome["source"] == "network" else "cache, 0 B"
    return [(variant, variant), ("", source), ("dim", rule)]


def row(label, cells):
    """Prints a row with as many lines as its longest cell."""
    for number in range(max(len(label), *map(len, cells))):
        line = ""
        for width, part in [(LABEL_WIDTH, label)] + [(CELL_WIDTH, part) for part in cells]:
            name, text = part[number] if number < len(part) else ("", "")
            line += style(name, text) + " " * (width - len(text))
        print(line.rstrip())


def print_line():
    print(style("dim", "─" * (LABEL_WIDTH + 5 * CELL_WIDTH)))


def show(items, runs):
    """Prints the table: a row for each item, a column for each run."""
    print_line()
    row([("bold", "item")], [[("bold", line) for line in run.title] for run in runs])
    print_line()
    for index, item in enumerate(items):
        sizes = {part["role"]: size(part["bytes"]) for part in item["variants"]}
        label = [("bold", item["id"]), ("dim", sizes.get("original", "no original"))]
        label.append(("dim", sizes.get("thumbnail", "no thumbnail")))
        row(label, [cell(run.outcomes[index]) for run in runs])
        print()
    sent = [sum(count for _, count in run.sent) for run in runs]
    row(
        [("bold", "bytes sent"), ("dim", "by the server")],
        [[("bold", size(count)), ("dim", f"{len(run.sent)} requests")] for count, run in zip(sent, runs)],
    )
    print_line()
    rules = sorted({(outcome["rule"], outcome["why"]) for run in runs for outcome in run.outcomes})
    for number, why in rules:
        print(f"  rule {number}  {why}")
