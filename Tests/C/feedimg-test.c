/* Calls every function of feedimg.h and feedimg-decoding.h. Valid as C11 and as C++17.
 *
 *   feedimg-test --abi            prints the size of each struct
 *   feedimg-test URL TLS FOLDER   tests against the servers of Tests/C/run, with files below FOLDER; the server at TLS
 *                                 wants the certificate `client.pem`, and `server.pem` certifies it
 */
#include <feedimg-decoding.h>
#include <feedimg.h>

#include <dlfcn.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *base;
static const char *tls;
static const char *folder;

static void fail(int line, const char *condition)
{
    const feedimg_error *error = feedimg_error_last();
    fprintf(stderr, "feedimg-test.c:%d: expected %s; the last error is: %s\n", line, condition,
            error ? error->message : "none");
    exit(1);
}

#define CHECK(condition) ((condition) ? (void)0 : fail(__LINE__, #condition))
#define OK(call) CHECK((call) == FEEDIMG_OK)

/* The failure of the last call has this code, and its message has this part. */
#define FAILS(call, expected, part)                                                         \
    do {                                                                                    \
        CHECK((call) == (expected));                                                        \
        CHECK(feedimg_error_last()->code == (expected));                                    \
        CHECK(strstr(feedimg_error_last()->message, part) != NULL);                         \
    } while (0)

static feedimg_item *make_item(const char *id, const char *original, const char *thumbnail)
{
    char json[2048];
    feedimg_item *item = NULL;
    int length = snprintf(json, sizeof json, "{\"id\": \"%s\", \"placeholder\": {\"color\": \"#5f4456\"}", id);
    if (original)
        length += snprintf(json + length, sizeof json - (size_t)length, ", \"originalImage\": \"%s/%s\"", base, original);
    if (thumbnail)
        length += snprintf(json + length, sizeof json - (size_t)length, ", \"thumbnailImage\": \"%s/%s\"", base, thumbnail);
    snprintf(json + length, sizeof json - (size_t)length, "}");
    OK(feedimg_item_new(&item, json));
    CHECK(strcmp(feedimg_item_id(item), id) == 0);
    return item;
}

/* Waits until the server has received the request for `stalled.jpg`. */
static void wait_for_request(void)
{
    char path[512];
    snprintf(path, sizeof path, "%s/requested", folder);
    FILE *pipe = fopen(path, "r");
    CHECK(pipe != NULL && fgetc(pipe) == '!');
    fclose(pipe);
}

/* Waits until callbacks of the loader wait, for at most ten seconds. */
static void wait_for_callbacks(feedimg_loader *loader)
{
    struct pollfd event = {-1, POLLIN, 0};
    OK(feedimg_loader_fd(&event.fd, loader));
    CHECK(poll(&event, 1, 10000) == 1);
}

/* Runs callbacks until `*flag` is at least `count`. */
static void run_until(feedimg_loader *loader, const int *flag, int count)
{
    while (*flag < count) {
        wait_for_callbacks(loader);
        CHECK(feedimg_loader_dispatch(loader) > 0);
    }
}

/* ---- Loads ---- */

typedef struct result {
    int calls;
    int steps;
    uint64_t received;
    uint64_t total;
    int code;
    int http_status;
    feedimg_image *image;
} result;

static void take_result(const feedimg_error *error, feedimg_image *image, void *payload)
{
    result *to = (result *)payload;
    CHECK((error == NULL) != (image == NULL));
    CHECK(error == NULL || error->message != NULL);
    to->calls++;
    to->code = error ? error->code : FEEDIMG_OK;
    to->http_status = error ? error->http_status : 0;
    feedimg_image_free(to->image);
    to->image = image;
}

static void take_progress(uint64_t received, uint64_t total, void *payload)
{
    result *to = (result *)payload;
    CHECK(to->calls == 0);
    CHECK(received >= to->received);
    to->steps++;
    to->received = received;
    to->total = total;
}

static int set_first_pixel(uint8_t *data, size_t width, size_t height, size_t stride, void *payload)
{
    CHECK(width == 40 && height == 20 && stride >= 160);
    for (int part = 0; part < 3; part++) data[part] = *(uint8_t *)payload;
    return FEEDIMG_OK;
}

static void load(result *to, feedimg_loader *loader, const feedimg_item *item, const feedimg_load_options *options)
{
    to->calls = 0;
    OK(feedimg_loader_load(NULL, loader, item, options, take_result, to));
    CHECK(to->calls == 0);
    run_until(loader, &to->calls, 1);
    CHECK(to->calls == 1);
}

static void test_errors(void)
{
    feedimg_loader *loader = NULL;
    feedimg_item *item = NULL;
    feedimg_options options = FEEDIMG_OPTIONS_INIT;
    CHECK(strcmp(feedimg_version(), FEEDIMG_VERSION) == 0);
    CHECK(strcmp(feedimg_strerror(FEEDIMG_OK), "success") == 0);
    CHECK(strcmp(feedimg_strerror(FEEDIMG_ERROR_TIMEOUT), feedimg_strerror(12345)) != 0);
    CHECK(feedimg_error_last() == NULL);

    FAILS(feedimg_loader_new(NULL, &options), FEEDIMG_ERROR_ARGUMENT, "`out` is NULL");
    FAILS(feedimg_item_new(&item, NULL), FEEDIMG_ERROR_ARGUMENT, "`json` is NULL");
    FAILS(feedimg_item_new(&item, "{"), FEEDIMG_ERROR_ITEM, "line 1");
    FAILS(feedimg_item_new(&item, "{\"id\": \"a\"}"), FEEDIMG_ERROR_ITEM, "an item needs");
    CHECK(item == NULL);

    options.policy = "no-such-policy";
    FAILS(feedimg_loader_new(&loader, &options), FEEDIMG_ERROR_CONFIGURATION, "no-such-policy");
    options.policy = NULL;
    options.dispatch = (feedimg_dispatch)9;
    FAILS(feedimg_loader_new(&loader, &options), FEEDIMG_ERROR_ARGUMENT, "`options.dispatch` is 9");
    options.dispatch = FEEDIMG_DISPATCH_THREAD;
    const feedimg_decoder decoder = FEEDIMG_DECODER_INIT;
    options.decoder = &decoder;
    FAILS(feedimg_loader_new(&loader, &options), FEEDIMG_ERROR_ARGUMENT, "`decoder.media_types` is NULL");
    options.decoder = NULL;
    options.size = 0;
    FAILS(feedimg_loader_new(&loader, &options), FEEDIMG_ERROR_ARGUMENT, "`options.size` is 0");

    /* A program with a newer header, first without and then with a member that this library does not know. */
    struct {
        feedimg_options options;
        size_t unknown;
    } newer = {FEEDIMG_OPTIONS_INIT, 0};
    newer.options.size = sizeof newer;
    newer.options.policy = "no-such-policy";
    FAILS(feedimg_loader_new(&loader, &newer.options), FEEDIMG_ERROR_CONFIGURATION, "no-such-policy");
    newer.unknown = 1;
    FAILS(feedimg_loader_new(&loader, &newer.options), FEEDIMG_ERROR_ARGUMENT, "newer");

    /* A program with an older header, whose struct ends before the policy. */
    options.size = offsetof(feedimg_options, policy);
    options.policy = "no-such-policy";
    OK(feedimg_loader_new(&loader, &options));
    FAILS(feedimg_loader_dispatch(loader), FEEDIMG_ERROR_ARGUMENT, "FEEDIMG_DISPATCH_LOOP");
    int descriptor = -1;
    FAILS(feedimg_loader_fd(&descriptor, loader), FEEDIMG_ERROR_ARGUMENT, "FEEDIMG_DISPATCH_LOOP");
    feedimg_loader_free(loader);

    feedimg_free(NULL);
    feedimg_loader_free(NULL);
    feedimg_item_free(NULL);
    feedimg_resolution_free(NULL);
    feedimg_image_free(NULL);
    feedimg_load_free(NULL);
    feedimg_prefetch_free(NULL);
    feedimg_slot_free(NULL);
    feedimg_presentation_free(NULL);
    feedimg_watch_free(NULL);
}

static void test_resolve(feedimg_loader *loader)
{
    feedimg_resolution *resolution = NULL;
    feedimg_item *item = make_item("a", "clouds.jpg", "part.avif");
    OK(feedimg_loader_resolve(&resolution, loader, item, NULL, 0));
    CHECK(feedimg_resolution_image(resolution) == FEEDIMG_ORIGINAL);
    CHECK(feedimg_resolution_show(resolution) == FEEDIMG_PLACEHOLDER);
    CHECK(feedimg_resolution_source(resolution) == FEEDIMG_SOURCE_NETWORK);
    CHECK(strstr(feedimg_resolution_url(resolution), "/clouds.jpg") != NULL);
    CHECK(strcmp(feedimg_resolution_policy(resolution), "default") == 0);
    CHECK(strstr(feedimg_resolution_why(resolution), "network is wifi") != NULL);
    CHECK(strstr(feedimg_resolution_json(resolution), "\"image\":\"original\"") != NULL);
    feedimg_resolution_free(resolution);

    feedimg_fact facts[1] = {{"undeclared", "yes"}};
    OK(feedimg_loader_resolve(&resolution, loader, item, facts, 1));
    feedimg_resolution_free(resolution);
    char *warnings = NULL;
    OK(feedimg_loader_warnings(&warnings, loader));
    CHECK(strstr(warnings, "`undeclared`") != NULL);
    feedimg_free(warnings);
    FAILS(feedimg_loader_resolve(&resolution, loader, item, NULL, 1), FEEDIMG_ERROR_ARGUMENT, "`facts` is NULL");
    feedimg_item_free(item);
}

static void check_file(const feedimg_image *image)
{
    size_t length = 0;
    const char *bytes = (const char *)feedimg_image_bytes(&length, image);
    FILE *file = fopen(feedimg_image_path(image), "rb");
    CHECK(file != NULL);
    char *content = (char *)malloc(length + 1);
    CHECK(fread(content, 1, length + 1, file) == length);
    CHECK(memcmp(content, bytes, length) == 0);
    free(content);
    fclose(file);
}

static void test_loads(feedimg_loader *loader)
{
    result to = {0, 0, 0, 0, 0, 0, NULL};
    feedimg_item *item = make_item("a", "clouds.jpg", NULL);
    feedimg_pixel_request request = FEEDIMG_PIXEL_REQUEST_INIT;
    request.width = 20;
    request.height = 10;
    request.scale = 2;
    request.fills = 1;
    feedimg_load_options options = FEEDIMG_LOAD_OPTIONS_INIT;
    options.pixels = &request;

    load(&to, loader, item, &options);
    CHECK(to.code == FEEDIMG_OK);
    CHECK(strcmp(feedimg_image_media_type(to.image), "image/jpeg") == 0);
    CHECK(feedimg_image_role(to.image) == FEEDIMG_ORIGINAL);
    CHECK(feedimg_image_source(to.image) == FEEDIMG_SOURCE_NETWORK);
    CHECK(strstr(feedimg_image_url(to.image), "/clouds.jpg") != NULL);
    CHECK(strstr(feedimg_image_why(to.image), "network is wifi") != NULL);
    CHECK(strstr(feedimg_image_json(to.image), "\"mediaType\":\"image/jpeg\"") != NULL);
    CHECK(feedimg_image_failure(to.image) == NULL);
    CHECK(!feedimg_image_is_animated(to.image));
    check_file(to.image);
    feedimg_pixels pixels = FEEDIMG_PIXELS_INIT;
    CHECK(feedimg_image_pixels(&pixels, to.image) == 1);
    CHECK(pixels.width == 40 && pixels.height == 20 && pixels.stride >= 160 && pixels.is_opaque);
    CHECK(pixels.data[3] == 255 && pixels.data[19 * pixels.stride + 4 * 39 + 3] == 255);

    /* A side of 0 sets no limit, and the image keeps its shape of 256 by 192. */
    request.height = 0;
    load(&to, loader, item, &options);
    CHECK(feedimg_image_pixels(&pixels, to.image) == 1 && pixels.width == 40 && pixels.height == 30);
    request.height = 10;

    uint8_t value = 7;
    const feedimg_processor processors[] = {
        {FEEDIMG_PROCESSOR_BLUR, 2, 0, NULL, NULL, NULL},
        {FEEDIMG_PROCESSOR_TINT, 0, 0xff0000ff, NULL, NULL, NULL},
        {FEEDIMG_PROCESSOR_FUNCTION, 0, 0, "first pixel", set_first_pixel, &value},
        {FEEDIMG_PROCESSOR_ROUNDED_CORNERS, 4, 0, NULL, NULL, NULL},
    };
    request.processors = processors;
    request.processor_count = 3;
    load(&to, loader, item, &options);
    CHECK(feedimg_image_pixels(&pixels, to.image) == 1 && pixels.is_opaque);
    CHECK(memcmp(pixels.data, "\7\7\7\xff\xff\0\0\xff", 8) == 0);
    request.processor_count = 4;
    load(&to, loader, item, &options);
    CHECK(feedimg_image_pixels(&pixels, to.image) == 1 && !pixels.is_opaque && pixels.data[3] == 0);
    const feedimg_processor nameless = {FEEDIMG_PROCESSOR_FUNCTION, 0, 0, NULL, set_first_pixel, NULL};
    request.processors = &nameless;
    request.processor_count = 1;
    CHECK(feedimg_loader_load(NULL, loader, item, &options, take_result, &to) == FEEDIMG_ERROR_ARGUMENT);

    load(&to, loader, item, NULL);
    CHECK(feedimg_image_source(to.image) == FEEDIMG_SOURCE_MEMORY);
    CHECK(feedimg_image_pixels(&pixels, to.image) == 0);
    feedimg_loader_clear_memory(loader);
    load(&to, loader, item, NULL);
    CHECK(feedimg_image_source(to.image) == FEEDIMG_SOURCE_DISK);
    feedimg_item_free(item);

    /* The thumbnail replaces an original that fails, and a load without either fails. */
    item = make_item("b", "missing.jpg", "animation.gif");
    load(&to, loader, item, NULL);
    CHECK(feedimg_image_role(to.image) == FEEDIMG_THUMBNAIL);
    CHECK(feedimg_image_is_animated(to.image));
    CHECK(feedimg_image_failure(to.image)->code == FEEDIMG_ERROR_STATUS);
    CHECK(feedimg_image_failure(to.image)->http_status == 404);
    CHECK(feedimg_image_failure(to.image)->retry_after == -1);
    CHECK(strstr(feedimg_image_failure(to.image)->url, "/missing.jpg") != NULL);
    feedimg_item_free(item);
    item = make_item("c", "missing.jpg", NULL);
    load(&to, loader, item, NULL);
    CHECK(to.code == FEEDIMG_ERROR_STATUS && to.http_status == 404 && to.image == NULL);
    feedimg_item_free(item);

    /* The options reach the load, and the header fields reach their origin. */
    item = make_item("d", "private/clouds.png", NULL);
    feedimg_load_options only = FEEDIMG_LOAD_OPTIONS_INIT;
    only.cache = FEEDIMG_CACHE_ONLY;
    load(&to, loader, item, &only);
    CHECK(to.code == FEEDIMG_ERROR_NOTHING_TO_SHOW);
    only.cache = FEEDIMG_CACHE_DEFAULT;
    only.policy = "no-such-policy";
    load(&to, loader, item, &only);
    CHECK(to.code == FEEDIMG_ERROR_POLICY);
    load(&to, loader, item, NULL);
    CHECK(to.code == FEEDIMG_OK);
    feedimg_item_free(item);

    item = make_item("e", "private/clouds.jpg", NULL);
    feedimg_load_options progress = FEEDIMG_LOAD_OPTIONS_INIT;
    progress.progress = take_progress;
    /* Only memory keeps the image, so that the next load sends a request again. */
    progress.cache = FEEDIMG_CACHE_BYPASS_DISK;
    load(&to, loader, item, &progress);
    size_t length = 0;
    CHECK(feedimg_image_bytes(&length, to.image) != NULL);
    CHECK(to.steps > 0 && to.received > 0 && to.received <= length && to.total == length);
    /* A program with an older header, whose struct ends before the progress. */
    feedimg_loader_clear_memory(loader);
    progress.size = offsetof(feedimg_load_options, progress);
    to.steps = 0;
    load(&to, loader, item, &progress);
    CHECK(feedimg_image_source(to.image) == FEEDIMG_SOURCE_NETWORK && to.steps == 0);
    feedimg_item_free(item);

    FAILS(feedimg_loader_load(NULL, loader, NULL, NULL, take_result, &to), FEEDIMG_ERROR_ARGUMENT, "`item`");
    feedimg_image_free(to.image);
}

static void test_cancellation(feedimg_loader *loader)
{
    result to = {0, 0, 0, 0, 0, 0, NULL};
    feedimg_load *running = NULL;
    feedimg_item *cached = make_item("a", "clouds.jpg", NULL);
    feedimg_item *silent = make_item("s", "silent.jpg", NULL);
    feedimg_item *stalled = make_item("t", "stalled.jpg", NULL);

    /* A result that waits for the loop is never delivered after the cancellation. */
    OK(feedimg_loader_load(&running, loader, cached, NULL, take_result, &to));
    wait_for_callbacks(loader);
    feedimg_load_cancel(running);
    CHECK(feedimg_loader_dispatch(loader) == 0);
    feedimg_load_free(running);

    OK(feedimg_loader_load(&running, loader, silent, NULL, take_result, &to));
    feedimg_load_free(running);
    CHECK(to.calls == 0);

    OK(feedimg_loader_load(&running, loader, stalled, NULL, take_result, &to));
    wait_for_request();
    feedimg_loader_cancel_loads(loader);
    run_until(loader, &to.calls, 1);
    CHECK(to.code == FEEDIMG_ERROR_CANCELLED);
    feedimg_load_free(running);
    feedimg_item_free(cached);
    feedimg_item_free(silent);
    feedimg_item_free(stalled);
}

/* ---- Prefetching ---- */

typedef struct prefetched {
    int ends;
    feedimg_prefetch_result results[2];
    char reasons[2][64];
} prefetched;

static void take_outcome(const feedimg_prefetch_outcome *outcome, void *payload)
{
    prefetched *to = (prefetched *)payload;
    if (!outcome) {
        to->ends++;
        return;
    }
    CHECK(outcome->size == sizeof *outcome && outcome->count == 2 && outcome->done >= 1 && outcome->index < 2);
    to->results[outcome->index] = outcome->result;
    snprintf(to->reasons[outcome->index], 64, "%s", outcome->reason ? outcome->reason : "");
}

static void test_prefetch(feedimg_loader *loader)
{
    prefetched to;
    memset(&to, 0, sizeof to);
    feedimg_item *items[2] = {make_item("a", "clouds.jpg", NULL), make_item("p", "fields.png", NULL)};
    feedimg_prefetch_options options = FEEDIMG_PREFETCH_OPTIONS_INIT;
    options.total_bytes = 10000000;
    feedimg_prefetch *prefetch = NULL;
    OK(feedimg_loader_prefetch(&prefetch, loader, items, 2, &options, take_outcome, &to));
    run_until(loader, &to.ends, 1);
    CHECK(to.results[0] == FEEDIMG_PREFETCH_SKIPPED && strcmp(to.reasons[0], "cached") == 0);
    CHECK(to.results[1] == FEEDIMG_PREFETCH_FETCHED && to.reasons[1][0] == 0);
    feedimg_prefetch_free(prefetch);
    feedimg_item_free(items[0]);
    feedimg_item_free(items[1]);
}

/* ---- Slots ---- */

typedef struct view {
    int calls;
    int originals;
    char first[8];
} view;

static void show(feedimg_presentation *presentation, void *payload)
{
    view *to = (view *)payload;
    uint64_t received = 0, total = 0;
    if (to->calls++ == 0) snprintf(to->first, sizeof to->first, "%s", feedimg_presentation_item_id(presentation));
    CHECK(strcmp(feedimg_presentation_color(presentation), "#5f4456") == 0);
    CHECK(feedimg_presentation_error(presentation) == NULL);
    if (feedimg_presentation_progress(&received, &total, presentation)) CHECK(received > 0);
    const feedimg_image *image = feedimg_presentation_image(presentation);
    CHECK((image == NULL) == (feedimg_presentation_shown(presentation) == FEEDIMG_PLACEHOLDER));
    feedimg_pixels pixels = FEEDIMG_PIXELS_INIT;
    CHECK(feedimg_presentation_pixels(&pixels, presentation) == 1);
    if (feedimg_presentation_is_partial(presentation)) CHECK(feedimg_presentation_is_loading(presentation));
    if (image && !feedimg_presentation_is_loading(presentation)) {
        CHECK(feedimg_presentation_why(presentation) != NULL);
        CHECK(pixels.width == 16 && pixels.height == 16);
        to->originals++;
    }
    feedimg_presentation_free(presentation);
}

static void test_slots(feedimg_loader *loader)
{
    view to;
    memset(&to, 0, sizeof to);
    feedimg_slot *slot = NULL;
    feedimg_presentation *presentation = NULL;
    feedimg_item *first = make_item("one", "clouds.jpg", NULL);
    feedimg_item *second = make_item("two", "fields.png", NULL);
    feedimg_pixel_request request = FEEDIMG_PIXEL_REQUEST_INIT;
    request.width = request.height = 16;
    request.fills = 1;
    feedimg_load_options options = FEEDIMG_LOAD_OPTIONS_INIT;
    options.pixels = &request;

    OK(feedimg_slot_new(&slot, loader, show, &to));
    CHECK(feedimg_slot_presentation(&presentation, slot) == 0);
    OK(feedimg_slot_show(slot, first, &options));
    CHECK(feedimg_slot_presentation(&presentation, slot) == 1);
    CHECK(strcmp(feedimg_presentation_item_id(presentation), "one") == 0);
    feedimg_presentation_free(presentation);

    /* A presentation of the first item waits, but the view already shows the second one. */
    wait_for_callbacks(loader);
    OK(feedimg_slot_show(slot, second, &options));
    run_until(loader, &to.originals, 1);
    CHECK(strcmp(to.first, "two") == 0);

    feedimg_slot_set_priority(slot, FEEDIMG_PRIORITY_NEAR);
    feedimg_slot_upgrade(slot);
    OK(feedimg_slot_show(slot, first, &options));
    wait_for_callbacks(loader);
    to.calls = 0;
    feedimg_slot_clear(slot);
    feedimg_loader_dispatch(loader);
    CHECK(to.calls == 0);
    options.cache = FEEDIMG_CACHE_ONLY;
    FAILS(feedimg_slot_show(slot, first, &options), FEEDIMG_ERROR_ARGUMENT, "a slot accepts");
    options.cache = FEEDIMG_CACHE_DEFAULT;
    options.progress = take_progress;
    FAILS(feedimg_slot_show(slot, first, &options), FEEDIMG_ERROR_ARGUMENT, "a slot accepts");
    feedimg_slot_free(slot);
    feedimg_item_free(first);
    feedimg_item_free(second);
}

/* ---- Leaks ---- */

/* Loads and binds cached images, a number of times. */
static void repeat(feedimg_loader *loader, int count)
{
    result to = {0, 0, 0, 0, 0, 0, NULL};
    view shown;
    memset(&shown, 0, sizeof shown);
    feedimg_slot *slot = NULL;
    feedimg_item *items[2] = {make_item("one", "clouds.jpg", NULL), make_item("two", "fields.png", NULL)};
    feedimg_pixel_request request = FEEDIMG_PIXEL_REQUEST_INIT;
    request.width = request.height = 16;
    request.fills = 1;
    feedimg_load_options options = FEEDIMG_LOAD_OPTIONS_INIT;
    options.pixels = &request;
    OK(feedimg_slot_new(&slot, loader, show, &shown));
    for (int number = 0; number < count; number++) {
        load(&to, loader, items[number % 2], &options);
        CHECK(feedimg_image_source(to.image) == FEEDIMG_SOURCE_MEMORY);
        const int before = shown.originals;
        OK(feedimg_slot_show(slot, items[number % 2], &options));
        run_until(loader, &shown.originals, before + 1);
    }
    feedimg_slot_free(slot);
    feedimg_image_free(to.image);
    feedimg_item_free(items[0]);
    feedimg_item_free(items[1]);
}

/*
 * Some round needs no more memory than the one before. A handle that stays would take a hundred bytes in each load of
 * each round; what a round leaves to other threads is freed in a later one.
 */
static void test_leaks(feedimg_loader *loader)
{
    repeat(loader, 200);
    size_t before = mallinfo2().uordblks;
    for (int round = 0; round < 5; round++) {
        repeat(loader, 2000);
        const size_t after = mallinfo2().uordblks;
        if (after <= before + 100000) return;
        fprintf(stderr, "2,000 loads and bindings left %zu bytes\n", after - before);
        before = after;
    }
    CHECK(!"memory grows in each round");
}

/* ---- Cached images ---- */

static const unsigned char gif[] = "GIF89a\1\0\1\0\x80\0\0\xff\0\0\0\0\0,\0\0\0\0\1\0\1\0\0\2\2D\1\0;";

typedef struct ending {
    int calls;
    int code;
} ending;

static void take_ending(const feedimg_error *error, void *payload)
{
    ending *to = (ending *)payload;
    to->calls++;
    to->code = error ? error->code : FEEDIMG_OK;
}

/* Stores bytes and waits for the end. */
static int store(feedimg_loader *loader, const char *url, const void *bytes, size_t length, feedimg_cache cache)
{
    ending to = {0, 0};
    OK(feedimg_loader_store(loader, url, bytes, length, FEEDIMG_ORIGINAL, cache, take_ending, &to));
    CHECK(to.calls == 0);
    run_until(loader, &to.calls, 1);
    return to.code;
}

typedef struct lookup {
    int calls;
    int is_found;
    feedimg_source source;
} lookup;

static void take_cached(const feedimg_cached_image *image, void *payload)
{
    lookup *to = (lookup *)payload;
    to->calls++;
    to->is_found = image != NULL;
    if (!image) return;
    CHECK(image->size == sizeof *image && image->length == sizeof gif - 1);
    CHECK(memcmp(image->bytes, gif, image->length) == 0 && strcmp(image->media_type, "image/gif") == 0);
    CHECK(!image->is_fresh && (image->path != NULL || image->source == FEEDIMG_SOURCE_MEMORY));
    to->source = image->source;
}

static lookup cached(feedimg_loader *loader, const char *url, feedimg_cache cache)
{
    lookup to = {0, 0, FEEDIMG_SOURCE_NONE};
    OK(feedimg_loader_cached(loader, url, cache, take_cached, &to));
    run_until(loader, &to.calls, 1);
    return to;
}

static void test_cached_images(feedimg_loader *loader)
{
    char url[512];
    const size_t length = sizeof gif - 1;
    snprintf(url, sizeof url, "%s/sent.gif", base);
    CHECK(!cached(loader, url, FEEDIMG_CACHE_DEFAULT).is_found);
    CHECK(store(loader, url, gif, length, FEEDIMG_CACHE_DEFAULT) == FEEDIMG_OK);
    CHECK(cached(loader, url, FEEDIMG_CACHE_DEFAULT).source == FEEDIMG_SOURCE_MEMORY);
    CHECK(cached(loader, url, FEEDIMG_CACHE_BYPASS_MEMORY).source == FEEDIMG_SOURCE_DISK);

    /* A load shows it, although the server has no such image. */
    result to = {0, 0, 0, 0, 0, 0, NULL};
    feedimg_item *item = make_item("sent", "sent.gif", NULL);
    load(&to, loader, item, NULL);
    CHECK(to.code == FEEDIMG_OK && strcmp(feedimg_image_media_type(to.image), "image/gif") == 0);
    feedimg_image_free(to.image);
    feedimg_item_free(item);

    /* Bytes that are stored only in memory leave the file as it is. */
    snprintf(url, sizeof url, "%s/kept.gif", base);
    CHECK(store(loader, url, gif, length, FEEDIMG_CACHE_BYPASS_DISK) == FEEDIMG_OK);
    CHECK(!cached(loader, url, FEEDIMG_CACHE_BYPASS_MEMORY).is_found);
    CHECK(store(loader, url, gif, length, FEEDIMG_CACHE_DEFAULT) == FEEDIMG_OK);
    CHECK(store(loader, url, gif, length, FEEDIMG_CACHE_BYPASS_DISK) == FEEDIMG_OK);
    CHECK(cached(loader, url, FEEDIMG_CACHE_BYPASS_MEMORY).source == FEEDIMG_SOURCE_DISK);
    CHECK(store(loader, url, "text", 4, FEEDIMG_CACHE_DEFAULT) == FEEDIMG_ERROR_NOT_AN_IMAGE);
    OK(feedimg_loader_store(loader, url, gif, length, FEEDIMG_THUMBNAIL, FEEDIMG_CACHE_DEFAULT, NULL, NULL));
    FAILS(feedimg_loader_store(loader, "ftp://x.example/a", gif, length, FEEDIMG_ORIGINAL, FEEDIMG_CACHE_DEFAULT, NULL, NULL),
          FEEDIMG_ERROR_ARGUMENT, "`url`");
    FAILS(feedimg_loader_store(loader, url, gif, length, FEEDIMG_PLACEHOLDER, FEEDIMG_CACHE_DEFAULT, NULL, NULL),
          FEEDIMG_ERROR_ARGUMENT, "`role`");
    FAILS(feedimg_loader_store(loader, url, NULL, 1, FEEDIMG_ORIGINAL, FEEDIMG_CACHE_DEFAULT, NULL, NULL),
          FEEDIMG_ERROR_ARGUMENT, "`bytes`");
    FAILS(feedimg_loader_cached(loader, url, (feedimg_cache)9, take_cached, NULL), FEEDIMG_ERROR_ARGUMENT, "is 9");
    FAILS(feedimg_loader_cached(loader, url, FEEDIMG_CACHE_DEFAULT, NULL, NULL), FEEDIMG_ERROR_ARGUMENT, "`callback`");
}

/* ---- Certificates ---- */

/* Loads an image from a server that wants a certificate. */
static int load_by_tls(feedimg_options options, const feedimg_requests *requests)
{
    feedimg_loader *loader = NULL;
    feedimg_item *item = NULL;
    char json[512];
    result to = {0, 0, 0, 0, 0, 0, NULL};
    options.requests = requests;
    snprintf(json, sizeof json, "{\"originalImage\": \"%s/clouds.jpg\"}", tls);
    OK(feedimg_item_new(&item, json));
    OK(feedimg_loader_new(&loader, &options));
    feedimg_load_options uncached = FEEDIMG_LOAD_OPTIONS_INIT;
    uncached.cache = FEEDIMG_CACHE_BYPASS_DISK;
    load(&to, loader, item, &uncached);
    feedimg_image_free(to.image);
    feedimg_item_free(item);
    feedimg_loader_free(loader);
    return to.code;
}

static void test_certificates(feedimg_options options)
{
    char authority[512], certificate[512], key[512];
    const char *origins[] = {tls};
    feedimg_requests requests = FEEDIMG_REQUESTS_INIT;
    snprintf(authority, sizeof authority, "%s/server.pem", folder);
    snprintf(certificate, sizeof certificate, "%s/client.pem", folder);
    snprintf(key, sizeof key, "%s/client.key", folder);
    requests.proxy = "";
    requests.client_certificate = certificate;
    requests.client_key = key;
    requests.client_origins = origins;
    requests.client_origin_count = 1;
    CHECK(load_by_tls(options, &requests) == FEEDIMG_ERROR_SECURITY);
    requests.certificate_file = authority;
    CHECK(load_by_tls(options, &requests) == FEEDIMG_OK);
    origins[0] = "https://x.example";
    CHECK(load_by_tls(options, &requests) != FEEDIMG_OK);
    origins[0] = tls;
    /* A program with an older header, whose struct ends before the client's certificate. */
    requests.size = offsetof(feedimg_requests, client_certificate);
    CHECK(load_by_tls(options, &requests) != FEEDIMG_OK);
    requests.size = sizeof requests;
    requests.client_origins = NULL;
    feedimg_loader *loader = NULL;
    options.requests = &requests;
    FAILS(feedimg_loader_new(&loader, &options), FEEDIMG_ERROR_ARGUMENT, "client_origins");
}

/* ---- A decoder of the program ---- */

/* Records the request, and decodes with the codecs. */
static int decode_recorded(feedimg_decoded *out, const void *bytes, size_t length, const feedimg_pixel_request *request,
                           const int *stop, void *payload)
{
    const feedimg_decoder *codecs = feedimg_codecs();
    *(feedimg_pixel_request *)payload = *request;
    return codecs->decode(out, bytes, length, request, stop, codecs->payload);
}

static void release_recorded(feedimg_decoded *decoded, void *payload)
{
    const feedimg_decoder *codecs = feedimg_codecs();
    CHECK(payload != NULL);
    codecs->release(decoded, codecs->payload);
}

/* The decoder has received the request of a load, and the pixels have this size. */
static void check_request(feedimg_loader *loader, const feedimg_pixel_request *request,
                          const feedimg_pixel_request *received, size_t width, size_t height)
{
    result to = {0, 0, 0, 0, 0, 0, NULL};
    feedimg_item *item = make_item("a", "clouds.jpg", NULL);
    feedimg_load_options options = FEEDIMG_LOAD_OPTIONS_INIT;
    feedimg_pixels pixels = FEEDIMG_PIXELS_INIT;
    options.pixels = request;
    load(&to, loader, item, &options);
    CHECK(to.code == FEEDIMG_OK);
    CHECK(received->width == request->width && received->height == request->height);
    CHECK(received->scale == request->scale);
    CHECK(feedimg_image_pixels(&pixels, to.image) == 1 && pixels.width == width && pixels.height == height);
    feedimg_image_free(to.image);
    feedimg_item_free(item);
}

/* A side without a limit is 0 for the decoder too. It gets one thread if it states no number. */
static void test_program_decoder(feedimg_options options)
{
    feedimg_loader *loader = NULL;
    feedimg_pixel_request request = FEEDIMG_PIXEL_REQUEST_INIT, received = FEEDIMG_PIXEL_REQUEST_INIT;
    feedimg_decoder decoder = FEEDIMG_DECODER_INIT;
    decoder.media_types = "image/jpeg";
    decoder.decode = decode_recorded;
    decoder.release = release_recorded;
    decoder.payload = &received;
    options.decoder = &decoder;
    decoder.threads = 65;
    FAILS(feedimg_loader_new(&loader, &options), FEEDIMG_ERROR_ARGUMENT, "`decoder.threads` is 65");
    decoder.threads = 0;
    OK(feedimg_loader_new(&loader, &options));
    request.scale = 2;
    request.width = 20;
    check_request(loader, &request, &received, 40, 30);
    request.height = 10;
    check_request(loader, &request, &received, 27, 20);
    request.width = 0;
    check_request(loader, &request, &received, 27, 20);
    feedimg_loader_free(loader);
}

/* ---- Network, settings, usage, cache ---- */

static void take_network(const feedimg_network *network, void *payload)
{
    CHECK(network->size == sizeof *network);
    ++*(int *)payload;
}

static void take_done(const feedimg_error *error, void *payload)
{
    CHECK(error == NULL);
    ++*(int *)payload;
}

static void test_rest(feedimg_loader *loader)
{
    int networks = 0, done = 0;
    char *text = NULL;
    feedimg_network network = FEEDIMG_NETWORK_INIT;
    OK(feedimg_loader_network(&network, loader));
    CHECK(network.is_reachable == (network.kind != FEEDIMG_NETWORK_OFFLINE) || network.is_reachable == 0);
    OK(feedimg_loader_network_json(&text, loader));
    CHECK(strstr(text, "\"kind\"") != NULL);
    feedimg_free(text);
    feedimg_watch *watch = NULL;
    OK(feedimg_loader_watch_network(&watch, loader, take_network, &networks));
    run_until(loader, &networks, 1);
    feedimg_watch_free(watch);

    OK(feedimg_loader_set_setting(loader, FEEDIMG_SETTING_ALWAYS_ORIGINALS, "yes"));
    OK(feedimg_loader_setting(&text, loader, FEEDIMG_SETTING_ALWAYS_ORIGINALS));
    CHECK(strcmp(text, "yes") == 0);
    feedimg_free(text);
    OK(feedimg_loader_set_setting(loader, FEEDIMG_SETTING_ALWAYS_ORIGINALS, NULL));
    OK(feedimg_loader_setting(&text, loader, FEEDIMG_SETTING_ALWAYS_ORIGINALS));
    CHECK(strcmp(text, "no") == 0);
    feedimg_free(text);
    FAILS(feedimg_loader_set_setting(loader, FEEDIMG_SETTING_ALWAYS_ORIGINALS, "perhaps"),
          FEEDIMG_ERROR_CONFIGURATION, "perhaps");
    FAILS(feedimg_loader_setting(&text, loader, "no-such-setting"), FEEDIMG_ERROR_CONFIGURATION, "no-such-setting");

    OK(feedimg_loader_usage_json(&text, loader, 7));
    /* Transfers over loopback are not counted. */
    CHECK(strstr(text, "\"total\":{\"bytes\":") != NULL);
    feedimg_free(text);
    FAILS(feedimg_loader_usage_json(&text, loader, 0), FEEDIMG_ERROR_ARGUMENT, "`days`");
    uint64_t bytes[3] = {7, 7, 7};
    OK(feedimg_loader_usage(bytes, loader, 2));
    CHECK(bytes[0] == 0 && bytes[1] == 0 && bytes[2] == 7);
    FAILS(feedimg_loader_usage(bytes, loader, 0), FEEDIMG_ERROR_ARGUMENT, "`days`");

    feedimg_loader_trim_memory(loader, FEEDIMG_MEMORY_ENCODED);
    feedimg_loader_trim_memory(loader, FEEDIMG_MEMORY_NOTHING);
    OK(feedimg_loader_clear_cache(loader, take_done, &done));
    run_until(loader, &done, 1);
    feedimg_resolution *resolution = NULL;
    feedimg_item *item = make_item("a", "clouds.jpg", NULL);
    OK(feedimg_loader_resolve(&resolution, loader, item, NULL, 0));
    CHECK(feedimg_resolution_source(resolution) == FEEDIMG_SOURCE_NETWORK);
    feedimg_resolution_free(resolution);
    feedimg_item_free(item);
}

/* ---- Callbacks on the library's thread ---- */

typedef struct meeting {
    sem_t has_started;
    sem_t may_end;
    pthread_t thread;
    int has_ended;
} meeting;

static void meet(const feedimg_error *error, feedimg_image *image, void *payload)
{
    meeting *to = (meeting *)payload;
    CHECK(error == NULL);
    feedimg_image_free(image);
    to->thread = pthread_self();
    sem_post(&to->has_started);
    sem_wait(&to->may_end);
    __atomic_store_n(&to->has_ended, 1, __ATOMIC_RELEASE);
}

static void test_thread(feedimg_options options)
{
    meeting to;
    memset(&to, 0, sizeof to);
    sem_init(&to.has_started, 0, 0);
    sem_init(&to.may_end, 0, 0);
    feedimg_loader *loader = NULL;
    feedimg_load *running = NULL;
    feedimg_slot *slot = NULL;
    feedimg_item *item = make_item("a", "clouds.jpg", NULL);
    options.dispatch = FEEDIMG_DISPATCH_THREAD;
    OK(feedimg_loader_new(&loader, &options));
    OK(feedimg_loader_load(&running, loader, item, NULL, meet, &to));
    sem_wait(&to.has_started);
    CHECK(!pthread_equal(to.thread, pthread_self()));
    sem_post(&to.may_end);
    /* Waits for the callback, which still uses the payload. */
    feedimg_load_free(running);
    CHECK(__atomic_load_n(&to.has_ended, __ATOMIC_ACQUIRE) == 1);

    /* A loader may go before its handles, and while it loads. */
    OK(feedimg_slot_new(&slot, loader, NULL, NULL));
    OK(feedimg_slot_show(slot, item, NULL));
    OK(feedimg_loader_load(NULL, loader, item, NULL, meet, &to));
    sem_post(&to.may_end);
    feedimg_loader_free(loader);
    feedimg_slot_free(slot);
    feedimg_item_free(item);
    sem_destroy(&to.has_started);
    sem_destroy(&to.may_end);
}

/* ---- Many threads ---- */

enum { THREADS = 4, ROUNDS = 200 };

typedef struct worker {
    pthread_t thread;
    feedimg_loader *loader;
    feedimg_item *items[2];
    int delivered;
} worker;

static void count_result(const feedimg_error *error, feedimg_image *image, void *payload)
{
    CHECK(error == NULL);
    feedimg_image_free(image);
    ++**(int **)payload;
}

static void count_presentation(feedimg_presentation *presentation, void *payload)
{
    feedimg_presentation_free(presentation);
    ++**(int **)payload;
}

/* Frees each payload at once after the operation, so that a later callback would use freed memory. */
static void *work(void *argument)
{
    worker *own = (worker *)argument;
    for (int round = 0; round < ROUNDS; round++) {
        int **load_payload = (int **)malloc(sizeof *load_payload);
        int **slot_payload = (int **)malloc(sizeof *slot_payload);
        *load_payload = *slot_payload = &own->delivered;
        feedimg_load *running = NULL;
        feedimg_slot *slot = NULL;
        OK(feedimg_loader_load(&running, own->loader, own->items[round % 2], NULL, count_result, load_payload));
        OK(feedimg_slot_new(&slot, own->loader, count_presentation, slot_payload));
        OK(feedimg_slot_show(slot, own->items[round % 2], NULL));
        if (round % 3 == 0) feedimg_load_cancel(running);
        if (round % 5 == 0) feedimg_slot_clear(slot);
        feedimg_slot_free(slot);
        free(slot_payload);
        feedimg_load_free(running);
        free(load_payload);
    }
    return NULL;
}

static void test_threads(feedimg_options options)
{
    worker workers[THREADS];
    feedimg_loader *loader = NULL;
    options.dispatch = FEEDIMG_DISPATCH_THREAD;
    OK(feedimg_loader_new(&loader, &options));
    for (int index = 0; index < THREADS; index++) {
        workers[index].loader = loader;
        workers[index].items[0] = make_item("one", "clouds.jpg", NULL);
        workers[index].items[1] = make_item("two", "fields.png", NULL);
        workers[index].delivered = 0;
        CHECK(pthread_create(&workers[index].thread, NULL, work, &workers[index]) == 0);
    }
    for (int index = 0; index < THREADS; index++) {
        pthread_join(workers[index].thread, NULL);
        feedimg_item_free(workers[index].items[0]);
        feedimg_item_free(workers[index].items[1]);
    }
    feedimg_loader_free(loader);
}

/* ---- Decoding without a loader ---- */

static void test_decoder(void)
{
    const feedimg_decoder *codecs = feedimg_codecs();
    const feedimg_pixel_request request = FEEDIMG_PIXEL_REQUEST_INIT;
    feedimg_decoded decoded = FEEDIMG_DECODED_INIT;
    int stop = 0;
    CHECK(strstr(codecs->media_types, "image/jpeg") != NULL && codecs->threads >= 1);
    OK(codecs->decode(&decoded, gif, sizeof gif - 1, &request, &stop, codecs->payload));
    CHECK(decoded.width == 1 && decoded.height == 1 && decoded.source_width == 1 && !decoded.is_animated);
    CHECK(memcmp(decoded.data, "\0\0\xff\xff", 4) == 0);
    codecs->release(&decoded, codecs->payload);
    CHECK(codecs->decode(&decoded, "text", 4, &request, &stop, codecs->payload) == FEEDIMG_ERROR_NOT_AN_IMAGE);
    /* Without its last member, the program could not release the pixels. */
    decoded.size = offsetof(feedimg_decoded, handle);
    CHECK(codecs->decode(&decoded, gif, sizeof gif - 1, &request, &stop, codecs->payload) == FEEDIMG_ERROR_ARGUMENT);
    decoded.size = sizeof decoded;
    stop = 1;
    CHECK(codecs->decode(&decoded, gif, sizeof gif - 1, &request, &stop, codecs->payload) == FEEDIMG_ERROR_CANCELLED);
}

/* A red and a blue frame of 1 by 1, for 70 ms each, twice. */
static void test_frames(void)
{
    static const unsigned char animation[] =
        "GIF89a\1\0\1\0\x80\0\0\xff\0\0\0\0\xff!\xff\13NETSCAPE2.0\3\1\1\0\0"
        "!\xf9\4\0\7\0\0\0,\0\0\0\0\1\0\1\0\0\2\2D\1\0"
        "!\xf9\4\0\7\0\0\0,\0\0\0\0\1\0\1\0\0\2\2L\1\0;";
    feedimg_frames *frames = NULL;
    feedimg_frame frame = FEEDIMG_FRAME_INIT;
    OK(feedimg_frames_new(&frames, animation, sizeof animation - 1, NULL));
    CHECK(feedimg_frames_loop_count(frames) == 2);
    CHECK(feedimg_frames_next(&frame, frames) == 1);
    CHECK(frame.milliseconds == 70 && frame.width == 1 && memcmp(frame.data, "\0\0\xff\xff", 4) == 0);
    CHECK(feedimg_frames_next(&frame, frames) == 1);
    CHECK(memcmp(frame.data, "\xff\0\0\xff", 4) == 0);
    CHECK(feedimg_frames_next(&frame, frames) == 0);
    frame.size = 0;
    CHECK(feedimg_frames_next(&frame, frames) == FEEDIMG_ERROR_ARGUMENT);
    feedimg_frames_free(frames);
    /* A program with an older header, whose struct ends before the time; valgrind finds a write beyond it. */
    const size_t shorter = offsetof(feedimg_frame, milliseconds);
    feedimg_frame *earlier = (feedimg_frame *)calloc(1, shorter);
    CHECK(earlier != NULL);
    earlier->size = shorter;
    OK(feedimg_frames_new(&frames, animation, sizeof animation - 1, NULL));
    CHECK(feedimg_frames_next(earlier, frames) == 1);
    CHECK(earlier->size == shorter && earlier->width == 1 && memcmp(earlier->data, "\0\0\xff\xff", 4) == 0);
    free(earlier);
    /* The size of the struct decides, also where its memory is larger. */
    frame.size = shorter;
    frame.milliseconds = 1;
    CHECK(feedimg_frames_next(&frame, frames) == 1);
    CHECK(memcmp(frame.data, "\xff\0\0\xff", 4) == 0 && frame.milliseconds == 1);
    feedimg_frames_free(frames);
    feedimg_frames_free(NULL);
    /* The functions of feedimg-decoding.h set no message. */
    const feedimg_error *last = feedimg_error_last();
    CHECK(feedimg_frames_new(&frames, "text", 4, NULL) == FEEDIMG_ERROR_NOT_AN_IMAGE);
    CHECK(feedimg_error_last() == last);
    /* The struct of a program from before the processors; valgrind finds a read beyond it. */
    const size_t size = offsetof(feedimg_pixel_request, processors);
    feedimg_pixel_request *older = (feedimg_pixel_request *)calloc(1, size);
    CHECK(older != NULL);
    older->size = size;
    older->shows_damage = 1;
    OK(feedimg_frames_new(&frames, animation, sizeof animation - 1, older));
    feedimg_frames_free(frames);
    free(older);
    CHECK(feedimg_frames_new(NULL, animation, sizeof animation - 1, NULL) == FEEDIMG_ERROR_ARGUMENT);
}

static void refuse_clean_up(void)
{
    fprintf(stderr, "feedimg-test.c: OpenSSL frees at exit what loads of other threads may still use\n");
    _exit(1);
}

/* OpenSSL, which libcurl has opened, cleans nothing up at exit. */
static void test_exit(void)
{
    int (*at_exit)(void (*)(void)) = NULL;
    void *library = dlopen("libcrypto.so.3", RTLD_LAZY | RTLD_NOLOAD);
    CHECK(library != NULL);
    void *found = dlsym(library, "OPENSSL_atexit");
    memcpy(&at_exit, &found, sizeof at_exit);
    CHECK(at_exit != NULL && at_exit(refuse_clean_up) == 1);
}

static void print_abi(void)
{
#define SIZE(type) printf("%s %zu\n", #type, sizeof(type))
    SIZE(feedimg_cached_image);
    SIZE(feedimg_decoded);
    SIZE(feedimg_decoder);
    SIZE(feedimg_dispatch);
    SIZE(feedimg_error);
    SIZE(feedimg_fact);
    SIZE(feedimg_folders);
    SIZE(feedimg_frame);
    SIZE(feedimg_header);
    SIZE(feedimg_load_options);
    SIZE(feedimg_network);
    SIZE(feedimg_options);
    SIZE(feedimg_pixel_request);
    SIZE(feedimg_pixels);
    SIZE(feedimg_prefetch_options);
    SIZE(feedimg_prefetch_outcome);
    SIZE(feedimg_processor);
    SIZE(feedimg_requests);
}

int main(int count, char **arguments)
{
    if (count == 2 && strcmp(arguments[1], "--abi") == 0) {
        print_abi();
        return 0;
    }
    if (count != 4) {
        fprintf(stderr, "usage: feedimg-test --abi | URL TLS FOLDER\n");
        return 2;
    }
    base = arguments[1];
    tls = arguments[2];
    folder = arguments[3];
    char cache[512], settings[512], state[512];
    snprintf(cache, sizeof cache, "%s/cache", folder);
    snprintf(settings, sizeof settings, "%s/settings", folder);
    snprintf(state, sizeof state, "%s/state", folder);
    feedimg_folders folders = FEEDIMG_FOLDERS_INIT;
    folders.cache = cache;
    folders.settings = settings;
    folders.state = state;
    const feedimg_fact overrides[] = {{"network", "wifi"}, {"metered", "no"}};
    const feedimg_fact declared[] = {{"on screen", "no, yes"}};
    const feedimg_header headers[] = {{base, "Authorization", "Bearer abc"}};
    feedimg_requests requests = FEEDIMG_REQUESTS_INIT;
    requests.user_agent = "feedimg-test/1";
    requests.headers = headers;
    requests.header_count = 1;
    requests.proxy = "";
    feedimg_options options = FEEDIMG_OPTIONS_INIT;
    options.dispatch = FEEDIMG_DISPATCH_LOOP;
    options.folders = &folders;
    options.overrides = overrides;
    options.override_count = 2;
    options.host_facts = declared;
    options.host_fact_count = 1;
    options.requests = &requests;
    options.memory_limit = 64 << 20;
    options.decoder = feedimg_codecs();

    test_errors();
    test_decoder();
    test_frames();
    feedimg_loader *loader = NULL;
    OK(feedimg_loader_new(&loader, &options));
    test_resolve(loader);
    test_loads(loader);
    test_cancellation(loader);
    test_prefetch(loader);
    test_slots(loader);
    test_cached_images(loader);
    test_leaks(loader);
    test_rest(loader);
    feedimg_loader_free(loader);
    test_certificates(options);
    test_program_decoder(options);
    test_thread(options);
    test_threads(options);
    test_exit();
    puts("passed");
    return 0;
}
