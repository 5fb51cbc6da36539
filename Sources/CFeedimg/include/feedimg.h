/* feedimg: a network-aware image loader for Linux. https://example.org/feedimg
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Rules that hold for every function:
 *
 * - Results: a function that can fail returns FEEDIMG_OK or a negative #feedimg_code. After a failure,
 *   feedimg_error_last() has the message, and the out-parameter is unchanged. Out-parameters come first.
 * - Handles: the program frees each handle that it receives with the function named after its type. NULL is allowed
 *   there. Handles that callbacks receive belong to the program too.
 * - Strings are UTF-8 and end with a zero byte. Functions copy what they receive. A returned `const char *` lives as
 *   long as its handle. The program frees a returned `char *` with feedimg_free().
 * - Threads: every function may be called on any thread, unless its comment says otherwise. One handle must not be
 *   freed while another thread uses it.
 * - Callbacks never run at the same time, for one loader. See #feedimg_dispatch for their thread. A callback may call
 *   every function, and may free its own handle.
 * - Transparent structs begin with their size, so that later versions can add members at the end. Initialize them with
 *   their macro, such as FEEDIMG_OPTIONS_INIT. Zero is the default of every other member. #feedimg_fact,
 *   #feedimg_header and #feedimg_processor have no size and no macro, and never get other members.
 * - fork(2) without exec is not supported: no thread of the library runs in the child, and calls may block there.
 *   posix_spawn(3), and exec after fork, are supported. All descriptors have the flag FD_CLOEXEC.
 * - dlclose(3) never unloads the library, because its threads may still run.
 */
#ifndef FEEDIMG_H
#define FEEDIMG_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * FEEDIMG_VERSION:
 *
 * The version of this header.
 */
#define FEEDIMG_VERSION "0.1.0"

/**
 * feedimg_version:
 *
 * The version of the library, such as `0.1.0`. It is static.
 *
 * Returns: (transfer none): a string.
 */
const char *feedimg_version(void);

/**
 * feedimg_free:
 * @memory: (nullable): a `char *` that a function of this library returned.
 *
 * Frees a returned string.
 */
void feedimg_free(void *memory);

/* ---- Errors ---- */

/**
 * feedimg_code:
 * @FEEDIMG_OK: success.
 * @FEEDIMG_ERROR_ARGUMENT: an argument is NULL, too small, or outside its range.
 * @FEEDIMG_ERROR_CONFIGURATION: an option, a setting or a value is invalid; the message has one line for each fault.
 * @FEEDIMG_ERROR_SYSTEM: the system refused, such as a file that cannot be written.
 * @FEEDIMG_ERROR_ITEM: the JSON text is not an item.
 * @FEEDIMG_ERROR_STATUS: the server sent an error status; see #feedimg_error.http_status.
 * @FEEDIMG_ERROR_TRUNCATED: the body ended early.
 * @FEEDIMG_ERROR_TOO_LARGE: the image exceeds a limit of bytes or pixels.
 * @FEEDIMG_ERROR_TOO_MANY_REDIRECTS: more than five redirects, or a loop.
 * @FEEDIMG_ERROR_FORBIDDEN_REDIRECT: a redirect led to another scheme or to no valid URL.
 * @FEEDIMG_ERROR_FORBIDDEN_ADDRESS: the host is private, and the options do not allow that.
 * @FEEDIMG_ERROR_NOT_AN_IMAGE: the body is not an image of a known format, or cannot be decoded.
 * @FEEDIMG_ERROR_UNKNOWN_HOST: the host name could not be resolved.
 * @FEEDIMG_ERROR_CONNECTION: the connection failed or was closed early.
 * @FEEDIMG_ERROR_TIMEOUT: a time limit passed.
 * @FEEDIMG_ERROR_SECURITY: the TLS handshake or the certificate check failed.
 * @FEEDIMG_ERROR_CANCELLED: feedimg_loader_cancel_loads() ended the load.
 * @FEEDIMG_ERROR_NOTHING_TO_SHOW: no image is cached, and the policy allows no request: show the placeholder.
 * @FEEDIMG_ERROR_UNAVAILABLE: a library, memory, a thread or a descriptor is missing.
 * @FEEDIMG_ERROR_MALFORMED: the response violated HTTP.
 * @FEEDIMG_ERROR_POLICY: the named policy is missing or invalid.
 *
 * What went wrong.
 */
typedef enum feedimg_code {
    FEEDIMG_OK = 0,
    FEEDIMG_ERROR_ARGUMENT = -1,
    FEEDIMG_ERROR_CONFIGURATION = -2,
    FEEDIMG_ERROR_SYSTEM = -3,
    FEEDIMG_ERROR_ITEM = -4,
    FEEDIMG_ERROR_STATUS = -16,
    FEEDIMG_ERROR_TRUNCATED = -17,
    FEEDIMG_ERROR_TOO_LARGE = -18,
    FEEDIMG_ERROR_TOO_MANY_REDIRECTS = -19,
    FEEDIMG_ERROR_FORBIDDEN_REDIRECT = -20,
    FEEDIMG_ERROR_FORBIDDEN_ADDRESS = -21,
    FEEDIMG_ERROR_NOT_AN_IMAGE = -22,
    FEEDIMG_ERROR_UNKNOWN_HOST = -23,
    FEEDIMG_ERROR_CONNECTION = -24,
    FEEDIMG_ERROR_TIMEOUT = -25,
    FEEDIMG_ERROR_SECURITY = -26,
    FEEDIMG_ERROR_CANCELLED = -27,
    FEEDIMG_ERROR_NOTHING_TO_SHOW = -28,
    FEEDIMG_ERROR_UNAVAILABLE = -29,
    FEEDIMG_ERROR_MALFORMED = -30,
    FEEDIMG_ERROR_POLICY = -31
} feedimg_code;

/**
 * feedimg_error:
 * @size: the size of the struct that the library knows.
 * @code: the kind of failure, a #feedimg_code.
 * @http_status: the status of the response; 0 if there was none.
 * @retry_after: the seconds of `Retry-After`; -1 if the response had none.
 * @message: what happened, without the URL.
 * @url: (nullable): the requested URL, if the failure concerns one.
 *
 * Why something failed.
 */
typedef struct feedimg_error {
    size_t size;
    int code;
    int http_status;
    int64_t retry_after;
    const char *message;
    const char *url;
} feedimg_error;

/**
 * feedimg_error_last:
 *
 * The latest failure of a function on this thread, or NULL. It lives until the next call on this thread fails. A
 * success does not remove it.
 *
 * Returns: (transfer none) (nullable): a #feedimg_error.
 */
const feedimg_error *feedimg_error_last(void);

/**
 * feedimg_strerror:
 * @code: a #feedimg_code.
 *
 * A short description of the code. It is static.
 *
 * Returns: (transfer none): a string.
 */
const char *feedimg_strerror(int code);

/* ---- Items ---- */

/**
 * feedimg_item:
 *
 * One image of a feed, with its variants and its placeholder. It never changes.
 */
typedef struct feedimg_item feedimg_item;

/**
 * feedimg_item_new:
 * @out: (out) (transfer full): the item.
 * @json: one object as in `Documentation/json.md`, such as
 *   `{"originalImage": "https://x.example/a.jpg", "thumbnailImage": "https://x.example/a-small.jpg"}`.
 *
 * Reads an item.
 *
 * Returns: FEEDIMG_OK or FEEDIMG_ERROR_ITEM.
 */
int feedimg_item_new(feedimg_item **out, const char *json);

/**
 * feedimg_item_free:
 * @item: (nullable) (transfer full): the item. Loads and slots that use it continue.
 *
 * Frees an item.
 */
void feedimg_item_free(feedimg_item *item);

/**
 * feedimg_item_id:
 * @item: an item.
 *
 * The member `id`; NULL if the item has none.
 *
 * Returns: (transfer none) (nullable): a string.
 */
const char *feedimg_item_id(const feedimg_item *item);

/* ---- Pixels ---- */

/**
 * feedimg_pixels:
 * @size: the size of the struct.
 * @width: in pixels.
 * @height: in pixels.
 * @stride: the bytes from the start of a row to the start of the next; a multiple of four.
 * @data: `stride` times `height` bytes: rows from top to bottom, in sRGB, four bytes for each pixel.
 * @is_opaque: 1 if every alpha value is 255, else 0.
 *
 * Pixels in the byte order blue, green, red, alpha, with premultiplied alpha. On little-endian processors this is
 * Cairo's `CAIRO_FORMAT_ARGB32`, and GDK's `GDK_MEMORY_B8G8R8A8_PREMULTIPLIED` everywhere.
 */
typedef struct feedimg_pixels {
    size_t size;
    size_t width;
    size_t height;
    size_t stride;
    const uint8_t *data;
    int is_opaque;
} feedimg_pixels;

/**
 * FEEDIMG_PIXELS_INIT:
 *
 * An empty struct to receive pixels.
 */
#define FEEDIMG_PIXELS_INIT {sizeof(feedimg_pixels), 0, 0, 0, NULL, 0}

/**
 * feedimg_processor_kind:
 * @FEEDIMG_PROCESSOR_ROUNDED_CORNERS: rounds the corners by #feedimg_processor.radius.
 * @FEEDIMG_PROCESSOR_BLUR: blurs by #feedimg_processor.radius.
 * @FEEDIMG_PROCESSOR_TINT: paints #feedimg_processor.color over the image.
 * @FEEDIMG_PROCESSOR_FUNCTION: calls #feedimg_processor.process.
 *
 * The kinds of processors.
 */
typedef enum feedimg_processor_kind {
    FEEDIMG_PROCESSOR_ROUNDED_CORNERS = 0,
    FEEDIMG_PROCESSOR_BLUR = 1,
    FEEDIMG_PROCESSOR_TINT = 2,
    FEEDIMG_PROCESSOR_FUNCTION = 3
} feedimg_processor_kind;

/**
 * feedimg_processor:
 * @kind: what it does.
 * @radius: in pixels.
 * @color: a colour as 0xAARRGGBB, such as 0x80ff0000 for half a red.
 * @identifier: for a function: a text that is equal for functions that make equal pixels. Memory keeps them by it.
 * @process: for a function: changes the pixels in their place, on any thread. It may make opaque pixels transparent. It
 *   returns FEEDIMG_OK or an error. After an error, the image counts as not decoded.
 * @payload: passed to @process; it lives as long as the loader.
 *
 * Changes the pixels of decoded images. Members for other kinds are 0.
 */
typedef struct feedimg_processor {
    feedimg_processor_kind kind;
    int radius;
    uint32_t color;
    const char *identifier;
    int (*process)(uint8_t *data, size_t width, size_t height, size_t stride, void *payload);
    void *payload;
} feedimg_processor;

/**
 * feedimg_pixel_request:
 * @size: the size of the struct.
 * @width: the width of the view in points; 0 for no limit.
 * @height: the height of the view in points; 0 for no limit. Without limits, the pixels have the size of the image.
 * @scale: the pixels per point, such as 2; 0 for 1.
 * @fills: 1 to cover the whole view and crop two sides, 0 to show the whole image. If @width or @height is 0, the whole
 *   image is shown.
 * @shows_damage: 1 to decode damaged images as far as possible, 0 to refuse them.
 * @processors: (array length=processor_count) (nullable): change the pixels, in this order.
 * @processor_count: the number of processors.
 *
 * The size of the pixels to decode. An image is never enlarged.
 */
typedef struct feedimg_pixel_request {
    size_t size;
    double width;
    double height;
    double scale;
    int fills;
    int shows_damage;
    const feedimg_processor *processors;
    size_t processor_count;
} feedimg_pixel_request;

/**
 * FEEDIMG_PIXEL_REQUEST_INIT:
 *
 * The size of the image.
 */
#define FEEDIMG_PIXEL_REQUEST_INIT {sizeof(feedimg_pixel_request), 0, 0, 0, 0, 0, NULL, 0}

/**
 * feedimg_decoded:
 * @size: the size of the struct.
 * @width: as in #feedimg_pixels.
 * @height: as in #feedimg_pixels.
 * @stride: as in #feedimg_pixels.
 * @data: as in #feedimg_pixels; upright.
 * @is_opaque: as in #feedimg_pixels.
 * @is_partial: 1 if a part of the image is missing or damaged.
 * @is_animated: 1 if the image has more frames.
 * @source_width: the width of the encoded image, upright.
 * @source_height: the height of the encoded image, upright.
 * @detail_width: the width of the details that the pixels show: 0 if parts are missing, less than @width while only
 *   coarse scans have arrived.
 * @detail_height: the height of the details.
 * @handle: (nullable): for the decoder's own use.
 *
 * The result of a decoder.
 */
typedef struct feedimg_decoded {
    size_t size;
    size_t width;
    size_t height;
    size_t stride;
    const uint8_t *data;
    int is_opaque;
    int is_partial;
    int is_animated;
    size_t source_width;
    size_t source_height;
    size_t detail_width;
    size_t detail_height;
    void *handle;
} feedimg_decoded;

/**
 * FEEDIMG_DECODED_INIT:
 *
 * An empty struct to receive a result.
 */
#define FEEDIMG_DECODED_INIT {sizeof(feedimg_decoded), 0, 0, 0, NULL, 0, 0, 0, 0, 0, 0, 0, NULL}

/**
 * feedimg_decoder:
 * @size: the size of the struct.
 * @media_types: the types that it decodes, separated by commas, such as `image/avif,image/png`.
 * @threads: the most calls of @decode at once, up to 64; 0 for 1.
 * @decode: decodes an image, or its beginning, to @out. It returns FEEDIMG_OK, FEEDIMG_ERROR_NOT_AN_IMAGE,
 *   FEEDIMG_ERROR_TOO_LARGE, FEEDIMG_ERROR_CANCELLED or FEEDIMG_ERROR_UNAVAILABLE. The arguments live until it
 *   returns. Once `__atomic_load_n(stop, __ATOMIC_RELAXED)` is not 0, it should soon return FEEDIMG_ERROR_CANCELLED.
 * @release: frees the result of a successful @decode; called once for each.
 * @payload: (nullable): passed to both functions.
 *
 * Decodes images to pixels. feedimg_codecs() of `feedimg-decoding.h` returns one. Both functions are called on threads
 * of the library, several at once.
 */
typedef struct feedimg_decoder {
    size_t size;
    const char *media_types;
    size_t threads;
    int (*decode)(feedimg_decoded *out, const void *bytes, size_t length, const feedimg_pixel_request *request,
                  const int *stop, void *payload);
    void (*release)(feedimg_decoded *decoded, void *payload);
    void *payload;
} feedimg_decoder;

/**
 * FEEDIMG_DECODER_INIT:
 *
 * An empty struct for a decoder of the program.
 */
#define FEEDIMG_DECODER_INIT {sizeof(feedimg_decoder), NULL, 0, NULL, NULL, NULL}

/* ---- The loader ---- */

/**
 * feedimg_fact:
 * @name: the name of the fact in policies, such as `network`.
 * @value: its value, such as `cellular`.
 *
 * A fact with its value.
 */
typedef struct feedimg_fact {
    const char *name;
    const char *value;
} feedimg_fact;

/**
 * feedimg_header:
 * @origin: the only origin that receives the field, such as `https://x.example`.
 * @name: the name of the field, such as `Authorization`.
 * @value: its value.
 *
 * A header field of the requests to one origin.
 */
typedef struct feedimg_header {
    const char *origin;
    const char *name;
    const char *value;
} feedimg_header;

/**
 * feedimg_folders:
 * @size: the size of the struct.
 * @cache: (nullable): the folder of the disk cache; NULL for `feedimg` in `$XDG_CACHE_HOME`.
 * @settings: (nullable): the folder of settings and policies; NULL for `feedimg` in `$XDG_CONFIG_HOME`.
 * @state: (nullable): the folder of the usage; NULL for `feedimg` in `$XDG_STATE_HOME`.
 *
 * The folders of a loader.
 */
typedef struct feedimg_folders {
    size_t size;
    const char *cache;
    const char *settings;
    const char *state;
} feedimg_folders;

/**
 * FEEDIMG_FOLDERS_INIT:
 *
 * The folders of the user.
 */
#define FEEDIMG_FOLDERS_INIT {sizeof(feedimg_folders), NULL, NULL, NULL}

/**
 * feedimg_requests:
 * @size: the size of the struct.
 * @user_agent: (nullable): the name of the program, such as `Tuba/0.9`; NULL for `feedimg`.
 * @account: (nullable): the account on whose behalf @headers are sent; accounts never share cached images.
 * @headers: (array length=header_count) (nullable): fields for origins. No other origin receives them.
 * @header_count: their number.
 * @proxy: (nullable): such as `socks5h://127.0.0.1:9050`; empty for none, NULL for that of the environment.
 * @certificate_file: (nullable): a PEM file of the authorities to trust; NULL for those of the system.
 * @refuses_private_hosts: 1 if the user does not choose the URLs: refuses this machine and private networks.
 * @client_certificate: (nullable): a PEM file with the certificate of the program, for servers that ask for one.
 * @client_key: (nullable): a PEM file with its private key; NULL if @client_certificate has it too.
 * @client_origins: (array length=client_origin_count) (nullable): the origins that may ask for the certificate, such as
 *   `https://x.example`.
 * @client_origin_count: their number.
 *
 * How a loader sends its requests.
 */
typedef struct feedimg_requests {
    size_t size;
    const char *user_agent;
    const char *account;
    const feedimg_header *headers;
    size_t header_count;
    const char *proxy;
    const char *certificate_file;
    int refuses_private_hosts;
    const char *client_certificate;
    const char *client_key;
    const char *const *client_origins;
    size_t client_origin_count;
} feedimg_requests;

/**
 * FEEDIMG_REQUESTS_INIT:
 *
 * The usual requests.
 */
#define FEEDIMG_REQUESTS_INIT \
    {sizeof(feedimg_requests), NULL, NULL, NULL, 0, NULL, NULL, 0, NULL, NULL, NULL, 0}

/**
 * feedimg_dispatch:
 * @FEEDIMG_DISPATCH_THREAD: one thread of the library runs them, in order.
 * @FEEDIMG_DISPATCH_LOOP: feedimg_loader_dispatch() runs them, on the thread of its caller.
 *
 * The thread on which the callbacks of a loader run.
 */
typedef enum feedimg_dispatch {
    FEEDIMG_DISPATCH_THREAD = 0,
    FEEDIMG_DISPATCH_LOOP = 1
} feedimg_dispatch;

/**
 * feedimg_options:
 * @size: the size of the struct.
 * @dispatch: the thread of the callbacks.
 * @folders: (nullable): NULL for the folders of the user.
 * @policy: (nullable): the name of a policy, or the path of its file; NULL for `default`.
 * @overrides: (array length=override_count) (nullable): facts with a fixed value, which are not read from the machine.
 * @override_count: their number.
 * @host_facts: (array length=host_fact_count) (nullable): facts that the program declares for policies. The value is
 *   the list of values, separated by commas; the first one is the default.
 * @host_fact_count: their number.
 * @requests: (nullable): NULL for the usual requests.
 * @service: (nullable): the socket of a service that loads what is not cached; NULL to load in this process.
 * @memory_limit: the most bytes of images in memory; the user's setting may be lower. 0 for the user's setting alone.
 * @decoder: (nullable): makes pixels; NULL if the program decodes images itself. What it points to is copied, and its
 *   `payload` must live as long as the process.
 *
 * The options of a loader. The library copies them, so they need only live during the call.
 */
typedef struct feedimg_options {
    size_t size;
    feedimg_dispatch dispatch;
    const feedimg_folders *folders;
    const char *policy;
    const feedimg_fact *overrides;
    size_t override_count;
    const feedimg_fact *host_facts;
    size_t host_fact_count;
    const feedimg_requests *requests;
    const char *service;
    uint64_t memory_limit;
    const feedimg_decoder *decoder;
} feedimg_options;

/**
 * FEEDIMG_OPTIONS_INIT:
 *
 * The default options.
 */
#define FEEDIMG_OPTIONS_INIT \
    {sizeof(feedimg_options), FEEDIMG_DISPATCH_THREAD, NULL, NULL, NULL, 0, NULL, 0, NULL, NULL, 0, NULL}

/**
 * feedimg_loader:
 *
 * Decides which image of an item to show, and loads it. One loader serves a whole program.
 */
typedef struct feedimg_loader feedimg_loader;

/**
 * feedimg_loader_new:
 * @out: (out) (transfer full): the loader.
 * @options: (nullable): NULL for the default options.
 *
 * Makes a loader. It reads the policy and the settings at once, and opens everything else on first use.
 *
 * Returns: FEEDIMG_OK, FEEDIMG_ERROR_ARGUMENT, FEEDIMG_ERROR_CONFIGURATION, FEEDIMG_ERROR_SYSTEM, or
 *   FEEDIMG_ERROR_UNAVAILABLE if the system has no thread or descriptor left or hides `/proc`.
 */
int feedimg_loader_new(feedimg_loader **out, const feedimg_options *options);

/**
 * feedimg_loader_free:
 * @loader: (nullable) (transfer full): the loader.
 *
 * Ends all loads and prefetches, and records the usage. No callback of the loader runs after the call; it waits for a
 * callback that another thread runs. Slots, loads and other handles of the loader must still be freed. The call waits
 * for the disk, usually less than a millisecond.
 */
void feedimg_loader_free(feedimg_loader *loader);

/**
 * feedimg_loader_fd:
 * @out: (out): a descriptor that the loader owns: wait for it to become readable, and do nothing else with it.
 * @loader: a loader with FEEDIMG_DISPATCH_LOOP.
 *
 * The descriptor for poll(2), `g_unix_fd_add`, `QSocketNotifier` or `uv_poll`. It is readable while callbacks wait.
 *
 * Returns: FEEDIMG_OK, or FEEDIMG_ERROR_ARGUMENT for a loader with FEEDIMG_DISPATCH_THREAD.
 */
int feedimg_loader_fd(int *out, feedimg_loader *loader);

/**
 * feedimg_loader_dispatch:
 * @loader: a loader with FEEDIMG_DISPATCH_LOOP.
 *
 * Runs the callbacks that wait at the moment of the call. It never blocks. A call during another call runs nothing.
 *
 * Returns: the number of callbacks that ran, or FEEDIMG_ERROR_ARGUMENT.
 */
int feedimg_loader_dispatch(feedimg_loader *loader);

/**
 * feedimg_loader_warnings:
 * @out: (out) (transfer full): warnings about settings and policies, one line each; empty for none.
 * @loader: a loader.
 *
 * Takes the warnings for the user. Each is reported once.
 *
 * Returns: FEEDIMG_OK or FEEDIMG_ERROR_ARGUMENT.
 */
int feedimg_loader_warnings(char **out, feedimg_loader *loader);

/* ---- Decisions ---- */

/**
 * feedimg_role:
 * @FEEDIMG_PLACEHOLDER: no image: draw the placeholder.
 * @FEEDIMG_THUMBNAIL: the thumbnail.
 * @FEEDIMG_ORIGINAL: the original.
 *
 * What a view shows; a greater value is a better picture.
 */
typedef enum feedimg_role {
    FEEDIMG_PLACEHOLDER = 0,
    FEEDIMG_THUMBNAIL = 1,
    FEEDIMG_ORIGINAL = 2
} feedimg_role;

/**
 * feedimg_source:
 * @FEEDIMG_SOURCE_NONE: no bytes: the placeholder.
 * @FEEDIMG_SOURCE_CACHE: memory or disk; only decisions use it.
 * @FEEDIMG_SOURCE_NETWORK: the network.
 * @FEEDIMG_SOURCE_MEMORY: the memory of this process.
 * @FEEDIMG_SOURCE_DISK: the disk cache.
 *
 * The source of the bytes of an image.
 */
typedef enum feedimg_source {
    FEEDIMG_SOURCE_NONE = 0,
    FEEDIMG_SOURCE_CACHE = 1,
    FEEDIMG_SOURCE_NETWORK = 2,
    FEEDIMG_SOURCE_MEMORY = 3,
    FEEDIMG_SOURCE_DISK = 4
} feedimg_source;

/**
 * feedimg_resolution:
 *
 * A decision about one item, with its reasons. It never changes.
 */
typedef struct feedimg_resolution feedimg_resolution;

/**
 * feedimg_loader_resolve:
 * @out: (out) (transfer full): the decision.
 * @loader: a loader.
 * @item: an item.
 * @facts: (array length=fact_count) (nullable): the values of declared facts.
 * @fact_count: their number.
 *
 * Decides which image a load would choose now. It fetches nothing and never waits for another computer.
 *
 * Returns: FEEDIMG_OK or FEEDIMG_ERROR_ARGUMENT.
 */
int feedimg_loader_resolve(feedimg_resolution **out, feedimg_loader *loader, const feedimg_item *item,
                           const feedimg_fact *facts, size_t fact_count);

/**
 * feedimg_resolution_free:
 * @resolution: (nullable) (transfer full): a decision.
 *
 * Frees a decision.
 */
void feedimg_resolution_free(feedimg_resolution *resolution);

/**
 * feedimg_resolution_image:
 * @resolution: a decision.
 *
 * The image to show in the end.
 *
 * Returns: a #feedimg_role.
 */
feedimg_role feedimg_resolution_image(const feedimg_resolution *resolution);

/**
 * feedimg_resolution_show:
 * @resolution: a decision.
 *
 * The image to show meanwhile.
 *
 * Returns: a #feedimg_role.
 */
feedimg_role feedimg_resolution_show(const feedimg_resolution *resolution);

/**
 * feedimg_resolution_source:
 * @resolution: a decision.
 *
 * FEEDIMG_SOURCE_CACHE, FEEDIMG_SOURCE_NETWORK or FEEDIMG_SOURCE_NONE.
 *
 * Returns: a #feedimg_source.
 */
feedimg_source feedimg_resolution_source(const feedimg_resolution *resolution);

/**
 * feedimg_resolution_url:
 * @resolution: a decision.
 *
 * The URL of the image; NULL for the placeholder.
 *
 * Returns: (transfer none) (nullable): a string.
 */
const char *feedimg_resolution_url(const feedimg_resolution *resolution);

/**
 * feedimg_resolution_policy:
 * @resolution: a decision.
 *
 * The name of the policy that decided.
 *
 * Returns: (transfer none): a string.
 */
const char *feedimg_resolution_policy(const feedimg_resolution *resolution);

/**
 * feedimg_resolution_why:
 * @resolution: a decision.
 *
 * Why the rule applies, such as `network is wifi`.
 *
 * Returns: (transfer none): a string.
 */
const char *feedimg_resolution_why(const feedimg_resolution *resolution);

/**
 * feedimg_resolution_json:
 * @resolution: a decision.
 *
 * The decision as in `Documentation/json.md`, in one line.
 *
 * Returns: (transfer none): a string.
 */
const char *feedimg_resolution_json(const feedimg_resolution *resolution);

/* ---- Images ---- */

/**
 * feedimg_image:
 *
 * A loaded image. It never changes, and may outlive its loader.
 */
typedef struct feedimg_image feedimg_image;

/**
 * feedimg_image_free:
 * @image: (nullable) (transfer full): an image.
 *
 * Frees an image, and everything that its functions returned.
 */
void feedimg_image_free(feedimg_image *image);

/**
 * feedimg_image_bytes:
 * @length: (out) (nullable): the number of bytes.
 * @image: an image.
 *
 * Reads the complete encoded image.
 *
 * Returns: (transfer none): the complete encoded image. It lives as long as @image.
 */
const void *feedimg_image_bytes(size_t *length, const feedimg_image *image);

/**
 * feedimg_image_media_type:
 * @image: an image.
 *
 * The type, detected from the bytes, such as `image/jpeg`.
 *
 * Returns: (transfer none): a string.
 */
const char *feedimg_image_media_type(const feedimg_image *image);

/**
 * feedimg_image_role:
 * @image: an image.
 *
 * FEEDIMG_ORIGINAL or FEEDIMG_THUMBNAIL.
 *
 * Returns: a #feedimg_role.
 */
feedimg_role feedimg_image_role(const feedimg_image *image);

/**
 * feedimg_image_source:
 * @image: an image.
 *
 * FEEDIMG_SOURCE_MEMORY, FEEDIMG_SOURCE_DISK or FEEDIMG_SOURCE_NETWORK.
 *
 * Returns: a #feedimg_source.
 */
feedimg_source feedimg_image_source(const feedimg_image *image);

/**
 * feedimg_image_url:
 * @image: an image.
 *
 * The URL of the variant.
 *
 * Returns: (transfer none): a string.
 */
const char *feedimg_image_url(const feedimg_image *image);

/**
 * feedimg_image_path:
 * @image: an image.
 *
 * The file in the cache; NULL if the image is not stored, or not yet. When a new version replaces the image, the file
 * stays for ten minutes, unless the limits of the cache need its space.
 *
 * Returns: (transfer none) (nullable): a string.
 */
const char *feedimg_image_path(const feedimg_image *image);

/**
 * feedimg_image_why:
 * @image: an image.
 *
 * The reason for the choice, such as `network is wifi`.
 *
 * Returns: (transfer none): a string.
 */
const char *feedimg_image_why(const feedimg_image *image);

/**
 * feedimg_image_is_animated:
 * @image: an image.
 *
 * Whether the image has more frames than one.
 *
 * Returns: 1 or 0.
 */
int feedimg_image_is_animated(const feedimg_image *image);

/**
 * feedimg_image_failure:
 * @image: an image.
 *
 * Why the original failed, if this is the thumbnail in its place, else NULL.
 *
 * Returns: (transfer none) (nullable): a #feedimg_error.
 */
const feedimg_error *feedimg_image_failure(const feedimg_image *image);

/**
 * feedimg_image_json:
 * @image: an image.
 *
 * The image as in `Documentation/json.md`, in one line.
 *
 * Returns: (transfer none): a string.
 */
const char *feedimg_image_json(const feedimg_image *image);

/**
 * feedimg_image_pixels:
 * @out: (out) (transfer none): receives the pixels, which live as long as @image.
 * @image: an image.
 *
 * Reads the pixels that the load requested.
 *
 * Returns: 1; 0 without pixels, because none were requested or the loader has no decoder; or FEEDIMG_ERROR_ARGUMENT.
 */
int feedimg_image_pixels(feedimg_pixels *out, const feedimg_image *image);

/* ---- Loads ---- */

/**
 * feedimg_priority:
 * @FEEDIMG_PRIORITY_VISIBLE: on screen now.
 * @FEEDIMG_PRIORITY_NEAR: needed soon, such as just below the screen.
 * @FEEDIMG_PRIORITY_PREFETCH: may be needed later.
 *
 * The urgency of a load among all loads.
 */
typedef enum feedimg_priority {
    FEEDIMG_PRIORITY_VISIBLE = 0,
    FEEDIMG_PRIORITY_NEAR = 1,
    FEEDIMG_PRIORITY_PREFETCH = 2
} feedimg_priority;

/**
 * feedimg_cache:
 * @FEEDIMG_CACHE_DEFAULT: show a cached image at once, and revalidate it meanwhile.
 * @FEEDIMG_CACHE_RELOAD: revalidate a cached image first.
 * @FEEDIMG_CACHE_ONLY: send no request.
 * @FEEDIMG_CACHE_BYPASS_MEMORY: neither read nor fill memory.
 * @FEEDIMG_CACHE_BYPASS_DISK: neither read nor write files.
 *
 * How a load uses memory and disk.
 */
typedef enum feedimg_cache {
    FEEDIMG_CACHE_DEFAULT = 0,
    FEEDIMG_CACHE_RELOAD = 1,
    FEEDIMG_CACHE_ONLY = 2,
    FEEDIMG_CACHE_BYPASS_MEMORY = 3,
    FEEDIMG_CACHE_BYPASS_DISK = 4
} feedimg_cache;

/**
 * feedimg_progress_callback:
 * @received: the bytes received so far.
 * @total: the announced length; 0 if unknown.
 * @payload: the payload of the load.
 *
 * Receives the progress of a load, and never after its result. Values that have not been delivered are skipped.
 */
typedef void (*feedimg_progress_callback)(uint64_t received, uint64_t total, void *payload);

/**
 * feedimg_load_options:
 * @size: the size of the struct.
 * @priority: the urgency.
 * @pixels: (nullable): the pixels to decode; needs a decoder. NULL for none.
 * @facts: (array length=fact_count) (nullable): the values of declared facts.
 * @fact_count: their number.
 * @cache: how the load uses memory and disk; slots accept only FEEDIMG_CACHE_DEFAULT.
 * @policy: (nullable): the name of another policy for this load; slots accept only NULL.
 * @progress: (nullable): receives the progress as bytes arrive from the network; slots accept only NULL, because their
 *   presentations have the progress.
 *
 * The options of one load, or of one item in a slot. The library copies them.
 */
typedef struct feedimg_load_options {
    size_t size;
    feedimg_priority priority;
    const feedimg_pixel_request *pixels;
    const feedimg_fact *facts;
    size_t fact_count;
    feedimg_cache cache;
    const char *policy;
    feedimg_progress_callback progress;
} feedimg_load_options;

/**
 * FEEDIMG_LOAD_OPTIONS_INIT:
 *
 * A visible load without pixels.
 */
#define FEEDIMG_LOAD_OPTIONS_INIT \
    {sizeof(feedimg_load_options), FEEDIMG_PRIORITY_VISIBLE, NULL, NULL, 0, FEEDIMG_CACHE_DEFAULT, NULL, NULL}

/**
 * feedimg_load:
 *
 * A running load.
 */
typedef struct feedimg_load feedimg_load;

/**
 * feedimg_load_callback:
 * @error: (nullable): why there is no image; NULL after a success. It lives until the callback returns.
 * @image: (nullable) (transfer full): the image, which the program frees; NULL after a failure.
 * @payload: the payload of the load.
 *
 * Receives the result of a load, once.
 */
typedef void (*feedimg_load_callback)(const feedimg_error *error, feedimg_image *image, void *payload);

/**
 * feedimg_loader_load:
 * @out: (out) (transfer full) (nullable): a handle to cancel the load; NULL if the program never cancels it.
 * @loader: a loader.
 * @item: an item.
 * @options: (nullable): NULL for the default options.
 * @callback: receives the result, never before the call returns control to the loop or its thread.
 * @payload: (nullable): passed to @callback.
 *
 * Loads the image that the policy chooses: from memory, from disk or from the network. Callers that request the same
 * image share one download.
 *
 * Returns: FEEDIMG_OK, and then @callback runs; or FEEDIMG_ERROR_ARGUMENT, and then it does not.
 */
int feedimg_loader_load(feedimg_load **out, feedimg_loader *loader, const feedimg_item *item,
                        const feedimg_load_options *options, feedimg_load_callback callback, void *payload);

/**
 * feedimg_load_cancel:
 * @load: (nullable): a load.
 *
 * Cancels a load; one that has ended stays as it is. The callback never runs after the call returns. The call waits
 * for a callback that another thread runs, so the caller must hold no lock that the callback takes.
 */
void feedimg_load_cancel(feedimg_load *load);

/**
 * feedimg_load_free:
 * @load: (nullable) (transfer full): a load.
 *
 * Cancels a load as feedimg_load_cancel() does, and frees the handle.
 */
void feedimg_load_free(feedimg_load *load);

/**
 * feedimg_loader_cancel_loads:
 * @loader: a loader.
 *
 * Ends all running loads with FEEDIMG_ERROR_CANCELLED. Their callbacks run. Interrupted downloads keep their bytes.
 */
void feedimg_loader_cancel_loads(feedimg_loader *loader);

/* ---- Prefetching ---- */

/**
 * feedimg_prefetch_options:
 * @size: the size of the struct.
 * @total_bytes: the most bytes for all items; 0 for 64 MiB.
 * @image_bytes: the most bytes for one image; 0 for 8 MiB.
 * @waits_for_network: 1 if items wait for a better network or server, 0 to skip them.
 *
 * The limits of a prefetch.
 */
typedef struct feedimg_prefetch_options {
    size_t size;
    uint64_t total_bytes;
    uint64_t image_bytes;
    int waits_for_network;
} feedimg_prefetch_options;

/**
 * FEEDIMG_PREFETCH_OPTIONS_INIT:
 *
 * The default limits.
 */
#define FEEDIMG_PREFETCH_OPTIONS_INIT {sizeof(feedimg_prefetch_options), 0, 0, 0}

/**
 * feedimg_prefetch_result:
 * @FEEDIMG_PREFETCH_FETCHED: the image is now in the cache.
 * @FEEDIMG_PREFETCH_UNKEPT: the image was fetched, but the cache could not keep it.
 * @FEEDIMG_PREFETCH_SKIPPED: the item was skipped; the reason says why.
 * @FEEDIMG_PREFETCH_FAILED: the image could not be loaded; the reason says why.
 *
 * How an item of a prefetch ended.
 */
typedef enum feedimg_prefetch_result {
    FEEDIMG_PREFETCH_FETCHED = 0,
    FEEDIMG_PREFETCH_UNKEPT = 1,
    FEEDIMG_PREFETCH_SKIPPED = 2,
    FEEDIMG_PREFETCH_FAILED = 3
} feedimg_prefetch_result;

/**
 * feedimg_prefetch_outcome:
 * @size: the size of the struct that the library knows.
 * @index: the index of the item, from 0.
 * @result: how it ended.
 * @received: the bytes that its transfer took.
 * @reason: (nullable): why it was skipped, not kept, or failed, such as `cached`; NULL if it was fetched.
 * @done: the number of items that have ended.
 * @count: the number of all items.
 *
 * The outcome of one item.
 */
typedef struct feedimg_prefetch_outcome {
    size_t size;
    size_t index;
    feedimg_prefetch_result result;
    uint64_t received;
    const char *reason;
    size_t done;
    size_t count;
} feedimg_prefetch_outcome;

/**
 * feedimg_prefetch:
 *
 * A running prefetch.
 */
typedef struct feedimg_prefetch feedimg_prefetch;

/**
 * feedimg_prefetch_callback:
 * @outcome: (nullable): the outcome of an item, which lives until the callback returns; NULL after the last item.
 * @payload: the payload of the prefetch.
 *
 * Receives the outcomes of a prefetch.
 */
typedef void (*feedimg_prefetch_callback)(const feedimg_prefetch_outcome *outcome, void *payload);

/**
 * feedimg_loader_prefetch:
 * @out: (out) (transfer full): the prefetch, which runs until it is freed.
 * @loader: a loader.
 * @items: (array length=item_count): the items, in the order in which they will be needed. They may be freed at once.
 * @item_count: their number.
 * @options: (nullable): NULL for the default limits.
 * @callback: (nullable): receives each outcome, and NULL at the end.
 * @payload: (nullable): passed to @callback.
 *
 * Fetches images into the cache before a view shows them, after all other loads, and only where data is free or the
 * policy permits it.
 *
 * Returns: FEEDIMG_OK or FEEDIMG_ERROR_ARGUMENT.
 */
int feedimg_loader_prefetch(feedimg_prefetch **out, feedimg_loader *loader, feedimg_item *const *items,
                            size_t item_count, const feedimg_prefetch_options *options,
                            feedimg_prefetch_callback callback, void *payload);

/**
 * feedimg_prefetch_free:
 * @prefetch: (nullable) (transfer full): a prefetch.
 *
 * Stops a prefetch. No callback runs after the call, as with feedimg_load_cancel(). Unfinished downloads keep their
 * bytes.
 */
void feedimg_prefetch_free(feedimg_prefetch *prefetch);

/* ---- Slots ---- */

/**
 * feedimg_slot:
 *
 * Shows one item after another in one reusable view, such as a row of a list.
 */
typedef struct feedimg_slot feedimg_slot;

/**
 * feedimg_presentation:
 *
 * Everything that a view shows at one moment. It never changes, and may outlive its slot.
 */
typedef struct feedimg_presentation feedimg_presentation;

/**
 * feedimg_presentation_callback:
 * @presentation: (transfer full): what the view must draw now. The program frees it.
 * @payload: the payload of the slot.
 *
 * Receives the latest presentation of a slot. Earlier ones that have not been delivered are skipped. A presentation of
 * an earlier item never arrives after feedimg_slot_show() or feedimg_slot_clear() returned on the thread of the
 * callbacks.
 */
typedef void (*feedimg_presentation_callback)(feedimg_presentation *presentation, void *payload);

/**
 * feedimg_slot_new:
 * @out: (out) (transfer full): the slot, which shows nothing yet.
 * @loader: a loader.
 * @callback: (nullable): receives the presentations.
 * @payload: (nullable): passed to @callback.
 *
 * Makes a slot for one reusable view.
 *
 * Returns: FEEDIMG_OK or FEEDIMG_ERROR_ARGUMENT.
 */
int feedimg_slot_new(feedimg_slot **out, feedimg_loader *loader, feedimg_presentation_callback callback,
                     void *payload);

/**
 * feedimg_slot_free:
 * @slot: (nullable) (transfer full): a slot.
 *
 * Frees a slot. No callback runs after the call, as with feedimg_load_cancel(). Its transfer stops unless another
 * caller waits for it.
 */
void feedimg_slot_free(feedimg_slot *slot);

/**
 * feedimg_slot_show:
 * @slot: a slot.
 * @item: the item to show, which may be freed at once.
 * @options: (nullable): NULL for the default options.
 *
 * Binds an item, and cancels the one before. Afterwards feedimg_slot_presentation() has the best picture that memory
 * holds.
 *
 * The call waits neither for the network nor for the file of an image. It may read the index of the cache, which takes
 * microseconds.
 *
 * If the same item is bound again, its load continues and the shown image stays. An item that failed or ended as a
 * placeholder starts again.
 *
 * Returns: FEEDIMG_OK or FEEDIMG_ERROR_ARGUMENT.
 */
int feedimg_slot_show(feedimg_slot *slot, const feedimg_item *item, const feedimg_load_options *options);

/**
 * feedimg_slot_clear:
 * @slot: a slot.
 *
 * Shows nothing, such as when a row is put back for reuse. No callback runs until the next item.
 */
void feedimg_slot_clear(feedimg_slot *slot);

/**
 * feedimg_slot_upgrade:
 * @slot: a slot.
 *
 * Loads the original that the policy leaves to the user, such as after a tap; not offline. A thumbnail that is large
 * enough for the view stays.
 */
void feedimg_slot_upgrade(feedimg_slot *slot);

/**
 * feedimg_slot_set_priority:
 * @slot: a slot.
 * @priority: the new urgency.
 *
 * Changes the urgency, such as when a row leaves the screen.
 */
void feedimg_slot_set_priority(feedimg_slot *slot, feedimg_priority priority);

/**
 * feedimg_slot_presentation:
 * @out: (out) (transfer full): what the view must draw now.
 * @slot: a slot.
 *
 * Reads what the view must draw now.
 *
 * Returns: 1; 0 if the slot shows nothing, and then @out is unchanged; or FEEDIMG_ERROR_ARGUMENT.
 */
int feedimg_slot_presentation(feedimg_presentation **out, feedimg_slot *slot);

/**
 * feedimg_presentation_free:
 * @presentation: (nullable) (transfer full): a presentation.
 *
 * Frees a presentation, and everything that its functions returned with it.
 */
void feedimg_presentation_free(feedimg_presentation *presentation);

/**
 * feedimg_presentation_shown:
 * @presentation: a presentation.
 *
 * The kind of picture to draw.
 *
 * Returns: a #feedimg_role.
 */
feedimg_role feedimg_presentation_shown(const feedimg_presentation *presentation);

/**
 * feedimg_presentation_item_id:
 * @presentation: a presentation.
 *
 * The `id` of the shown item.
 *
 * Returns: (transfer none) (nullable): a string.
 */
const char *feedimg_presentation_item_id(const feedimg_presentation *presentation);

/**
 * feedimg_presentation_color:
 * @presentation: a presentation.
 *
 * The placeholder's colour, such as `#5f4456`.
 *
 * Returns: (transfer none) (nullable): a string.
 */
const char *feedimg_presentation_color(const feedimg_presentation *presentation);

/**
 * feedimg_presentation_is_loading:
 * @presentation: a presentation.
 *
 * Whether a better image is loading.
 *
 * Returns: 1 or 0.
 */
int feedimg_presentation_is_loading(const feedimg_presentation *presentation);

/**
 * feedimg_presentation_progress:
 * @received: (out) (nullable): the bytes received so far.
 * @total: (out) (nullable): the announced length; 0 if unknown.
 * @presentation: a presentation.
 *
 * Reads the progress of the image that is loading.
 *
 * Returns: 1; 0 before the first byte and if nothing is loading.
 */
int feedimg_presentation_progress(uint64_t *received, uint64_t *total, const feedimg_presentation *presentation);

/**
 * feedimg_presentation_error:
 * @presentation: a presentation.
 *
 * Why a better image could not be loaded.
 *
 * Returns: (transfer none) (nullable): a #feedimg_error.
 */
const feedimg_error *feedimg_presentation_error(const feedimg_presentation *presentation);

/**
 * feedimg_presentation_why:
 * @presentation: a presentation.
 *
 * The reason for the choice; NULL before it is made.
 *
 * Returns: (transfer none) (nullable): a string.
 */
const char *feedimg_presentation_why(const feedimg_presentation *presentation);

/**
 * feedimg_presentation_image:
 * @presentation: a presentation.
 *
 * The image, which lives as long as @presentation and must not be freed; NULL for a placeholder.
 *
 * Returns: (transfer none) (nullable): an image.
 */
const feedimg_image *feedimg_presentation_image(const feedimg_presentation *presentation);

/**
 * feedimg_presentation_pixels:
 * @out: (out) (transfer none): receives the pixels, which live as long as @presentation.
 * @presentation: a presentation.
 *
 * The pixels to stretch over the view: of the image, of the part that has arrived, or of the placeholder.
 *
 * Returns: 1; 0 without pixels; or FEEDIMG_ERROR_ARGUMENT.
 */
int feedimg_presentation_pixels(feedimg_pixels *out, const feedimg_presentation *presentation);

/**
 * feedimg_presentation_is_partial:
 * @presentation: a presentation.
 *
 * Whether the pixels show the part of a better image that has arrived, such as the first scan of a progressive JPEG.
 * Until the whole image arrives, feedimg_presentation_shown() names the picture that they cover.
 *
 * Returns: 1 or 0.
 */
int feedimg_presentation_is_partial(const feedimg_presentation *presentation);

/* ---- The network ---- */

/**
 * feedimg_network_kind:
 * @FEEDIMG_NETWORK_OFFLINE: no network.
 * @FEEDIMG_NETWORK_WIFI: Wi-Fi.
 * @FEEDIMG_NETWORK_ETHERNET: Ethernet.
 * @FEEDIMG_NETWORK_CELLULAR: a mobile network.
 * @FEEDIMG_NETWORK_OTHER: connected, but the kind is unknown.
 *
 * The kind of network that carries the data, below any tunnel.
 */
typedef enum feedimg_network_kind {
    FEEDIMG_NETWORK_OFFLINE = 0,
    FEEDIMG_NETWORK_WIFI = 1,
    FEEDIMG_NETWORK_ETHERNET = 2,
    FEEDIMG_NETWORK_CELLULAR = 3,
    FEEDIMG_NETWORK_OTHER = 4
} feedimg_network_kind;

/**
 * feedimg_metered:
 * @FEEDIMG_METERED_UNKNOWN: no source says.
 * @FEEDIMG_METERED_NO: data is free.
 * @FEEDIMG_METERED_YES: the user pays for data.
 *
 * Whether the user pays for data.
 */
typedef enum feedimg_metered {
    FEEDIMG_METERED_UNKNOWN = 0,
    FEEDIMG_METERED_NO = 1,
    FEEDIMG_METERED_YES = 2
} feedimg_metered;

/**
 * feedimg_network:
 * @size: the size of the struct.
 * @kind: the kind of network.
 * @metered: whether the user pays for data.
 * @is_reachable: 1 if packets have a route out, as far as this machine knows.
 * @is_roaming: 1 if the modem is roaming.
 * @is_captive: 1 if a service reports a captive portal.
 * @is_tethered: 1 if a phone provides the connection.
 * @is_tunnelled: 1 if a tunnel carries the data.
 *
 * The state of the network.
 */
typedef struct feedimg_network {
    size_t size;
    feedimg_network_kind kind;
    feedimg_metered metered;
    int is_reachable;
    int is_roaming;
    int is_captive;
    int is_tethered;
    int is_tunnelled;
} feedimg_network;

/**
 * FEEDIMG_NETWORK_INIT:
 *
 * An empty struct to receive a state.
 */
#define FEEDIMG_NETWORK_INIT \
    {sizeof(feedimg_network), FEEDIMG_NETWORK_OFFLINE, FEEDIMG_METERED_UNKNOWN, 0, 0, 0, 0, 0}

/**
 * feedimg_loader_network:
 * @out: (out): receives the state; its member `size` must be set.
 * @loader: a loader.
 *
 * Reads the state of the network. It takes microseconds and sends no packet. Overrides of facts do not change it.
 *
 * Returns: FEEDIMG_OK or FEEDIMG_ERROR_ARGUMENT.
 */
int feedimg_loader_network(feedimg_network *out, feedimg_loader *loader);

/**
 * feedimg_loader_network_json:
 * @out: (out) (transfer full): the state with its reasons, as in `Documentation/json.md`.
 * @loader: a loader.
 *
 * Describes the state of the network.
 *
 * Returns: FEEDIMG_OK or FEEDIMG_ERROR_ARGUMENT.
 */
int feedimg_loader_network_json(char **out, feedimg_loader *loader);

/**
 * feedimg_watch:
 *
 * An observation of the network.
 */
typedef struct feedimg_watch feedimg_watch;

/**
 * feedimg_network_callback:
 * @network: the latest state, which lives until the callback returns.
 * @payload: the payload of the watch.
 *
 * Receives the state of the network.
 */
typedef void (*feedimg_network_callback)(const feedimg_network *network, void *payload);

/**
 * feedimg_loader_watch_network:
 * @out: (out) (transfer full): the watch, which runs until it is freed.
 * @loader: a loader.
 * @callback: receives the current state at once, and then each change.
 * @payload: (nullable): passed to @callback.
 *
 * Watches the network.
 *
 * Returns: FEEDIMG_OK, FEEDIMG_ERROR_ARGUMENT, or FEEDIMG_ERROR_UNAVAILABLE if the system has no thread left.
 */
int feedimg_loader_watch_network(feedimg_watch **out, feedimg_loader *loader, feedimg_network_callback callback,
                                 void *payload);

/**
 * feedimg_watch_free:
 * @watch: (nullable) (transfer full): a watch.
 *
 * Ends a watch. No callback runs after the call, as with feedimg_load_cancel().
 */
void feedimg_watch_free(feedimg_watch *watch);

/* ---- Settings and usage ---- */

/**
 * FEEDIMG_SETTING_ALWAYS_ORIGINALS:
 *
 * Loads originals also on cellular networks; `yes` or `no`.
 */
#define FEEDIMG_SETTING_ALWAYS_ORIGINALS "always-load-originals-on-cellular"

/**
 * feedimg_loader_setting:
 * @out: (out) (transfer full): the value in force, such as `yes` or `512 MiB`.
 * @loader: a loader.
 * @name: the name of a setting, as `feedimg settings` lists it.
 *
 * Reads a setting of the user.
 *
 * Returns: FEEDIMG_OK, or FEEDIMG_ERROR_CONFIGURATION for an unknown name.
 */
int feedimg_loader_setting(char **out, feedimg_loader *loader, const char *name);

/**
 * feedimg_loader_set_setting:
 * @loader: a loader.
 * @name: the name of a setting.
 * @value: (nullable): the value as a user types it; NULL for the default.
 *
 * Changes a setting of the user for all programs. The file holds the value when the call returns.
 *
 * Returns: FEEDIMG_OK, FEEDIMG_ERROR_CONFIGURATION for an invalid name or value, or FEEDIMG_ERROR_SYSTEM.
 */
int feedimg_loader_set_setting(feedimg_loader *loader, const char *name, const char *value);

/**
 * feedimg_loader_usage_json:
 * @out: (out) (transfer full): the data received by all programs of the user, as in `Documentation/json.md`.
 * @loader: a loader.
 * @days: the number of days up to today, at least 1.
 *
 * Records what this loader has received so far, and reports the sums by day and network. The call waits for the disk.
 *
 * Returns: FEEDIMG_OK, FEEDIMG_ERROR_ARGUMENT or FEEDIMG_ERROR_SYSTEM.
 */
int feedimg_loader_usage_json(char **out, feedimg_loader *loader, int days);

/**
 * feedimg_loader_usage:
 * @out: (out caller-allocates) (array length=days): the bytes that all programs of the user received on each day; the
 *   last day is today.
 * @loader: a loader.
 * @days: the number of days, at least 1.
 *
 * Records what this loader has received so far, and reads the sums of the last days, such as for a chart. The call
 * waits for the disk.
 *
 * Returns: FEEDIMG_OK, FEEDIMG_ERROR_ARGUMENT or FEEDIMG_ERROR_SYSTEM.
 */
int feedimg_loader_usage(uint64_t *out, feedimg_loader *loader, int days);

/* ---- Memory and cache ---- */

/**
 * feedimg_memory:
 * @FEEDIMG_MEMORY_NOTHING: free nothing, and permit everything again.
 * @FEEDIMG_MEMORY_DECODED: free decoded images.
 * @FEEDIMG_MEMORY_ENCODED: also free encoded images.
 * @FEEDIMG_MEMORY_PREFETCH: also stop prefetching.
 *
 * The steps in which a loader frees memory.
 */
typedef enum feedimg_memory {
    FEEDIMG_MEMORY_NOTHING = 0,
    FEEDIMG_MEMORY_DECODED = 1,
    FEEDIMG_MEMORY_ENCODED = 2,
    FEEDIMG_MEMORY_PREFETCH = 3
} feedimg_memory;

/**
 * feedimg_loader_trim_memory:
 * @loader: a loader.
 * @step: what to free.
 *
 * Frees memory on a warning of the toolkit. The step lasts until the next call. Handles keep what they hold.
 */
void feedimg_loader_trim_memory(feedimg_loader *loader, feedimg_memory step);

/**
 * feedimg_loader_clear_memory:
 * @loader: a loader.
 *
 * Removes all images of a loader from memory; the disk keeps them.
 */
void feedimg_loader_clear_memory(feedimg_loader *loader);

/**
 * feedimg_done_callback:
 * @error: (nullable): why it failed; NULL after a success. It lives until the callback returns.
 * @payload: the payload of the call.
 *
 * Receives the end of a call that has no other result.
 */
typedef void (*feedimg_done_callback)(const feedimg_error *error, void *payload);

/**
 * feedimg_loader_clear_cache:
 * @loader: a loader.
 * @callback: (nullable): called once when the files are gone; FEEDIMG_ERROR_SYSTEM if one could not be removed.
 * @payload: (nullable): passed to @callback.
 *
 * Removes all images from the disk, and from the memory of all programs that share the cache.
 *
 * Returns: FEEDIMG_OK or FEEDIMG_ERROR_ARGUMENT.
 */
int feedimg_loader_clear_cache(feedimg_loader *loader, feedimg_done_callback callback, void *payload);

/**
 * feedimg_loader_store:
 * @loader: a loader.
 * @url: the URL of the image.
 * @bytes: the complete encoded image, in a format that feedimg recognizes.
 * @length: the number of bytes.
 * @role: FEEDIMG_ORIGINAL or FEEDIMG_THUMBNAIL, which chooses the limit that the image counts toward.
 * @cache: FEEDIMG_CACHE_BYPASS_MEMORY keeps the image only on disk, FEEDIMG_CACHE_BYPASS_DISK only in memory. An older
 *   file then stays, and loads show it once memory has dropped the image.
 * @callback: (nullable): called once when the image is kept; FEEDIMG_ERROR_NOT_AN_IMAGE, FEEDIMG_ERROR_TOO_LARGE, or
 *   FEEDIMG_ERROR_UNAVAILABLE if the file cannot be written, or if the disk is bypassed while memory keeps no images.
 * @payload: (nullable): passed to @callback.
 *
 * Keeps bytes as the image of a URL, such as those of a photo that the user has just sent. They replace a cached image
 * of the URL, except for the file with FEEDIMG_CACHE_BYPASS_DISK. Loads show them at once, and later ask the server
 * whether it has another version.
 *
 * Returns: FEEDIMG_OK, and then @callback runs; or FEEDIMG_ERROR_ARGUMENT, and then it does not.
 */
int feedimg_loader_store(feedimg_loader *loader, const char *url, const void *bytes, size_t length, feedimg_role role,
                         feedimg_cache cache, feedimg_done_callback callback, void *payload);

/**
 * feedimg_cached_image:
 * @size: the size of the struct that the library knows.
 * @bytes: the complete encoded image.
 * @length: the number of bytes.
 * @media_type: the type, detected from the bytes, such as `image/jpeg`.
 * @source: FEEDIMG_SOURCE_MEMORY or FEEDIMG_SOURCE_DISK.
 * @path: (nullable): the file in the cache; NULL if the image is only in memory.
 * @is_fresh: 1 if the image needs no revalidation.
 *
 * A cached image.
 */
typedef struct feedimg_cached_image {
    size_t size;
    const void *bytes;
    size_t length;
    const char *media_type;
    feedimg_source source;
    const char *path;
    int is_fresh;
} feedimg_cached_image;

/**
 * feedimg_cached_callback:
 * @image: (nullable): the image, which lives until the callback returns; NULL if none is cached.
 * @payload: the payload of the call.
 *
 * Receives a cached image, once.
 */
typedef void (*feedimg_cached_callback)(const feedimg_cached_image *image, void *payload);

/**
 * feedimg_loader_cached:
 * @loader: a loader.
 * @url: the URL of the image.
 * @cache: FEEDIMG_CACHE_BYPASS_DISK looks only in memory, FEEDIMG_CACHE_BYPASS_MEMORY only on disk.
 * @callback: receives the image.
 * @payload: (nullable): passed to @callback.
 *
 * Looks up the cached image of a URL, fresh or stale. The loader does not decide and sends no request.
 *
 * Returns: FEEDIMG_OK, and then @callback runs; or FEEDIMG_ERROR_ARGUMENT, and then it does not.
 */
int feedimg_loader_cached(feedimg_loader *loader, const char *url, feedimg_cache cache,
                          feedimg_cached_callback callback, void *payload);

#ifdef __cplusplus
}
#endif

#endif
