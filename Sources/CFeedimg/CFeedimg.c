#include "CFeedimg.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

const char *feedimg_version(void)
{
    return FEEDIMG_VERSION;
}

void feedimg_free(void *memory)
{
    free(memory);
}

const char *feedimg_strerror(int code)
{
    switch (code) {
    case FEEDIMG_OK: return "success";
    case FEEDIMG_ERROR_ARGUMENT: return "invalid argument";
    case FEEDIMG_ERROR_CONFIGURATION: return "invalid option, setting or value";
    case FEEDIMG_ERROR_SYSTEM: return "the system refused";
    case FEEDIMG_ERROR_ITEM: return "the JSON text is not an item";
    case FEEDIMG_ERROR_STATUS: return "the server sent an error status";
    case FEEDIMG_ERROR_TRUNCATED: return "the body ended early";
    case FEEDIMG_ERROR_TOO_LARGE: return "the image exceeds a limit";
    case FEEDIMG_ERROR_TOO_MANY_REDIRECTS: return "too many redirects";
    case FEEDIMG_ERROR_FORBIDDEN_REDIRECT: return "a redirect led to a forbidden URL";
    case FEEDIMG_ERROR_FORBIDDEN_ADDRESS: return "the host is in a private network";
    case FEEDIMG_ERROR_NOT_AN_IMAGE: return "the body is not an image that can be decoded";
    case FEEDIMG_ERROR_UNKNOWN_HOST: return "the host name could not be resolved";
    case FEEDIMG_ERROR_CONNECTION: return "the connection failed";
    case FEEDIMG_ERROR_TIMEOUT: return "a time limit passed";
    case FEEDIMG_ERROR_SECURITY: return "the TLS handshake or the certificate check failed";
    case FEEDIMG_ERROR_CANCELLED: return "the load was cancelled";
    case FEEDIMG_ERROR_NOTHING_TO_SHOW: return "only the placeholder is available";
    case FEEDIMG_ERROR_UNAVAILABLE: return "a library, memory, a thread or a descriptor is missing";
    case FEEDIMG_ERROR_MALFORMED: return "the response violated HTTP";
    case FEEDIMG_ERROR_POLICY: return "the policy is missing or invalid";
    default: return "unknown code";
    }
}

/* The last error of a thread, with its strings behind it in one block. */
static pthread_key_t last_error;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int has_key;

static void make_key(void)
{
    has_key = pthread_key_create(&last_error, free) == 0;
}

void cfeedimg_set_error(const feedimg_error *error)
{
    const size_t message = error->message ? strlen(error->message) + 1 : 0;
    const size_t url = error->url ? strlen(error->url) + 1 : 0;
    pthread_once(&once, make_key);
    if (!has_key) return;
    feedimg_error *copy = malloc(sizeof *copy + message + url);
    if (!copy) return;
    *copy = *error;
    char *text = (char *)(copy + 1);
    if (message) copy->message = memcpy(text, error->message, message);
    if (url) copy->url = memcpy(text + message, error->url, url);
    feedimg_error *before = pthread_getspecific(last_error);
    if (pthread_setspecific(last_error, copy) == 0) free(before);
    else free(copy);
}

const feedimg_error *feedimg_error_last(void)
{
    pthread_once(&once, make_key);
    return has_key ? pthread_getspecific(last_error) : NULL;
}

size_t cfeedimg_size(const void *structure)
{
    size_t size;
    memcpy(&size, structure, sizeof size);
    return size < sizeof size || size > 4096 ? 0 : size;
}

void cfeedimg_write(void *structure, const void *value, size_t size)
{
    const size_t known = cfeedimg_size(structure) < size ? cfeedimg_size(structure) : size;
    const size_t own = sizeof size;
    if (known > own) memcpy((char *)structure + own, (const char *)value + own, known - own);
}

void cfeedimg_stop(int *stop)
{
    __atomic_store_n(stop, 1, __ATOMIC_RELAXED);
}
