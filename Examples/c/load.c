/* Loads the image of an item, and writes it to standard output: load '{"originalImage": "https://x.example/a.jpg"}' */
#include <feedimg.h>
#include <poll.h>
#include <stdio.h>

static void loaded(const feedimg_error *error, feedimg_image *image, void *payload)
{
    int *status = payload;
    *status = error ? 1 : 0;
    if (error) {
        fprintf(stderr, "%s\n", error->message);
        return;
    }
    size_t length;
    const void *bytes = feedimg_image_bytes(&length, image);
    fprintf(stderr, "%s, %zu bytes, because %s\n", feedimg_image_media_type(image), length, feedimg_image_why(image));
    fwrite(bytes, 1, length, stdout);
    feedimg_image_free(image);
}

int main(int count, char **arguments)
{
    feedimg_options options = FEEDIMG_OPTIONS_INIT;
    options.dispatch = FEEDIMG_DISPATCH_LOOP;
    feedimg_loader *loader = NULL;
    feedimg_item *item = NULL;
    struct pollfd event = {.events = POLLIN};
    int status = -1;
    if (feedimg_loader_new(&loader, &options) || feedimg_item_new(&item, count > 1 ? arguments[1] : "{}")
        || feedimg_loader_load(NULL, loader, item, NULL, loaded, &status) || feedimg_loader_fd(&event.fd, loader)) {
        fprintf(stderr, "%s\n", feedimg_error_last()->message);
        status = 2;
    }
    while (status < 0 && poll(&event, 1, -1) >= 0) feedimg_loader_dispatch(loader);
    feedimg_item_free(item);
    feedimg_loader_free(loader);
    return status;
}
