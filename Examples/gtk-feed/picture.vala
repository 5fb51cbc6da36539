// Shows the picture of an item: picture ITEM
void show(Gtk.Application app, string item) throws Error {
    var picture = new Feedimg.Paintable(new Feedimg.Loader(), 640, 480);
    picture.item = item;
    picture.notify["message"].connect(() => {
        if (picture.message != null) printerr("%s\n", picture.message);
    });
    var tap = new Gtk.GestureClick();
    tap.released.connect(() => picture.upgrade());
    var view = new Gtk.Picture.for_paintable(picture);
    view.add_controller(tap);
    new Gtk.ApplicationWindow(app) { title = "Picture", child = view }.present();
}

int main(string[] arguments) {
    var app = new Gtk.Application("org.example.Picture", 0);
    app.activate.connect(() => {
        try {
            show(app, arguments[1]);
        } catch (Error error) {
            printerr("%s\n", error.message);
        }
    });
    return app.run();
}
