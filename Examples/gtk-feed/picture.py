#!/usr/bin/python3
"""Shows the picture of an item: picture.py ITEM"""
import sys

import gi

gi.require_version("Feedimg", "0")
gi.require_version("Gtk", "4.0")
from gi.repository import Feedimg, Gtk  # noqa: E402


def show(app):
    picture = Feedimg.Paintable.new(Feedimg.Loader.new(), 640, 480)
    picture.set_item(sys.argv[1])
    picture.connect("notify::message", lambda *_: picture.get_message() and print(picture.get_message()))
    tap = Gtk.GestureClick()
    tap.connect("released", lambda *_: picture.upgrade())
    view = Gtk.Picture(paintable=picture)
    view.add_controller(tap)
    Gtk.ApplicationWindow(application=app, title="Picture", child=view).present()


app = Gtk.Application(application_id="org.example.Picture")
app.connect("activate", show)
app.run()
