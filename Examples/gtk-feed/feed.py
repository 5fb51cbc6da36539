#!/usr/bin/python3
"""A feed of pictures in GTK: feedimg decides which image of each row to load, and loads it.

The file has one item as JSON a line, as `feedimg items` prints them. --network shows the feed as on another network.
"""
import argparse
import sys

import gi

gi.require_version("Feedimg", "0")
gi.require_version("Gtk", "4.0")
from gi.repository import Feedimg, Gio, Gtk  # noqa: E402

WIDTH, HEIGHT = 320, 180


class Feed(Gtk.Application):
    def __init__(self, items, override=None):
        super().__init__(application_id="org.example.Feed", flags=Gio.ApplicationFlags.NON_UNIQUE)
        self.items, self.override = items, override

    def do_activate(self):
        self.loader = Feedimg.Loader.new_with_policy(None, [f"network={self.override}"] if self.override else [])
        self.network = self.loader.get_network()
        self.network.connect("notify", lambda *_: self.show_network())

        self.state = Gtk.Label(xalign=0, hexpand=True)
        setting = Gtk.CheckButton(label="Always load originals on cellular")
        setting.set_active(self.loader.get_always_originals_on_cellular())
        setting.connect("toggled", self.change_setting)
        self.usage = Gtk.DrawingArea(content_width=120, content_height=24, tooltip_text="Data of the last seven days")
        self.usage.set_draw_func(self.draw_usage)
        bar = Gtk.Box(spacing=12, margin_start=12, margin_end=12, margin_top=6, margin_bottom=6)
        for widget in (self.state, setting, self.usage):
            bar.append(widget)
        self.banner = Gtk.Label(label="Offline: only images that were loaded before", css_classes=["error"])

        rows = Gtk.SignalListItemFactory()
        rows.connect("setup", self.make_row)
        rows.connect("bind", self.bind_row)
        rows.connect("unbind", lambda _, row: row.paintable.set_item(None))
        model = Gtk.StringList.new(self.items)
        self.list = Gtk.ListView(model=Gtk.NoSelection(model=model), factory=rows)
        self.scrolled = Gtk.ScrolledWindow(child=self.list, vexpand=True)

        page = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
        for widget in (bar, self.banner, self.scrolled):
            page.append(widget)
        self.window = Gtk.ApplicationWindow(application=self, title="Feed", child=page, default_width=520,
                                            default_height=640)
        self.show_network()
        self.window.present()

    def make_row(self, _, row):
        row.paintable = Feedimg.Paintable.new(self.loader, WIDTH, HEIGHT)
        picture = Gtk.Picture(paintable=row.paintable, width_request=WIDTH, height_request=HEIGHT)
        row.label = Gtk.Label(xalign=0, wrap=True, hexpand=True)
        row.paintable.connect("notify", lambda paintable, _: self.show_row(row, paintable))
        tap = Gtk.GestureClick()
        tap.connect("released", lambda *_: row.paintable.upgrade())
        picture.add_controller(tap)
        row.box = Gtk.Box(spacing=12, margin_start=12, margin_end=12, margin_top=6, margin_bottom=6)
        row.box.append(picture)
        row.box.append(row.label)
        row.set_child(row.box)

    def bind_row(self, _, row):
        row.paintable.set_item(row.get_item().get_string())

    def show_row(self, row, paintable):
        state = "loading" if paintable.get_loading() else paintable.get_message() or paintable.get_shown().value_nick
        row.label.set_label(f"{paintable.get_item_id() or ''}\n{state}" if paintable.get_item() else "")
        self.usage.queue_draw()

    def show_network(self):
        kind, metered = self.network.get_kind(), self.network.get_metered()
        shown = kind.value_nick + (", metered" if metered == Feedimg.Metered.YES else "")
        self.state.set_label(f"Network: {self.override or shown}")
        self.banner.set_visible(not self.override and kind == Feedimg.NetworkKind.OFFLINE)

    def change_setting(self, button):
        self.loader.set_always_originals_on_cellular(button.get_active())

    def draw_usage(self, _, cairo, width, height):
        """Draws the bytes of each day as a bar."""
        days = self.loader.get_daily_usage(7)
        most = max(days) or 1
        cairo.set_source_rgb(0.2, 0.5, 0.9)
        for index, count in enumerate(days):
            tall = height * count / most
            cairo.rectangle(index * width / 7 + 1, height - tall, width / 7 - 2, tall)
        cairo.fill()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("items", type=argparse.FileType())
    parser.add_argument("--network", metavar="KIND")
    options = parser.parse_args()
    items = [line.strip() for line in options.items if line.strip()]
    return Feed(items, options.network).run([])


if __name__ == "__main__":
    sys.exit(main())
