// libcurl through a table of function pointers.
//
// Linking libcurl would add about 5 ms to every start, because libcurl pulls in many libraries. The first
// transfer opens it instead. The types and constants are those of <curl/curl.h>. Swift cannot call libcurl's
// variadic functions, so each kind of argument has a wrapper here.
#ifndef FEEDIMG_CCURL_H
#define FEEDIMG_CCURL_H

#include <curl/curl.h>
#include <stddef.h>

// The functions of one opened libcurl; never changed after ccurl_open returns.
typedef struct ccurl_library {
  CURL *(*easy_init)(void);
  void (*easy_cleanup)(CURL *easy);
  void (*easy_reset)(CURL *easy);
  CURLcode (*easy_perform)(CURL *easy);
  CURLcode (*easy_recv)(CURL *easy, void *buffer, size_t size, size_t *count);
  CURLcode (*easy_send)(CURL *easy, const void *buffer, size_t size, size_t *count);
  CURLcode (*easy_setopt)(CURL *easy, CURLoption option, ...);
  CURLcode (*easy_getinfo)(CURL *easy, CURLINFO info, ...);
  const char *(*easy_strerror)(CURLcode code);
  struct curl_slist *(*slist_append)(struct curl_slist *list, const char *text);
  void (*slist_free_all)(struct curl_slist *list);
  CURLM *(*multi_init)(void);
  CURLMcode (*multi_cleanup)(CURLM *multi);
  CURLMcode (*multi_setopt)(CURLM *multi, CURLMoption option, ...);
  CURLMcode (*multi_add_handle)(CURLM *multi, CURL *easy);
  CURLMcode (*multi_remove_handle)(CURLM *multi, CURL *easy);
  CURLMcode (*multi_socket_action)(CURLM *multi, curl_socket_t socket, int events, int *running);
  CURLMsg *(*multi_info_read)(CURLM *multi, int *left);
  struct curl_header *(*easy_nextheader)(
      CURL *easy, unsigned int origin, int request, struct curl_header *previous);
  CURLU *(*url)(void);
  void (*url_cleanup)(CURLU *url);
  CURLUcode (*url_set)(CURLU *url, CURLUPart part, const char *text, unsigned int flags);
  CURLUcode (*url_get)(CURLU *url, CURLUPart part, char **text, unsigned int flags);
  void (*free)(void *text);
  char *(*version)(void);
} ccurl_library;

// Opens and initialises the library with this file name, such as "libcurl.so.4".
//
// The caller frees the table with free(). The library stays open, because its own threads may still run in
// it. On failure, returns NULL and writes the reason to `reason`, cut to `size` bytes with the terminator.
// Any thread may call it.
ccurl_library *ccurl_open(const char *name, char *reason, size_t size);

// Prepares the calling thread for libcurl.
//
// Sets the thread's locale to UTF-8 and leaves other threads unchanged. libcurl converts international host
// names (IDNA) from the character set of the locale.
void ccurl_prepare_thread(void);

// Returns the number of bytes that a TCP socket has received since it was opened, TLS included (TCP_INFO,
// tcp(7)).
//
// Stores in `unread`, unless it is NULL, how many of them the program has not read. Returns -1 if the kernel
// has no such count, or if the descriptor is not a TCP socket with this local port, for example after a close.
long long ccurl_received(int descriptor, int local_port, int *unread);

static inline CURLcode ccurl_set_long(const ccurl_library *curl, CURL *easy, CURLoption option, long value) {
  return curl->easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_text(
    const ccurl_library *curl, CURL *easy, CURLoption option, const char *value) {
  return curl->easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_pointer(const ccurl_library *curl, CURL *easy, CURLoption option, void *value) {
  return curl->easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_list(
    const ccurl_library *curl, CURL *easy, CURLoption option, struct curl_slist *value) {
  return curl->easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_write_function(
    const ccurl_library *curl, CURL *easy, CURLoption option, curl_write_callback value) {
  return curl->easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_request_function(
    const ccurl_library *curl, CURL *easy, CURLoption option, curl_prereq_callback value) {
  return curl->easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_socket_function(
    const ccurl_library *curl, CURL *easy, CURLoption option, curl_opensocket_callback value) {
  return curl->easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_get_long(const ccurl_library *curl, CURL *easy, CURLINFO info, long *value) {
  return curl->easy_getinfo(easy, info, value);
}

static inline CURLcode ccurl_get_offset(
    const ccurl_library *curl, CURL *easy, CURLINFO info, curl_off_t *value) {
  return curl->easy_getinfo(easy, info, value);
}

static inline CURLcode ccurl_get_socket(
    const ccurl_library *curl, CURL *easy, CURLINFO info, curl_socket_t *value) {
  return curl->easy_getinfo(easy, info, value);
}

static inline CURLMcode ccurl_multi_set_long(
    const ccurl_library *curl, CURLM *multi, CURLMoption option, long value) {
  return curl->multi_setopt(multi, option, value);
}

// Sets what libcurl calls when the sockets or the time that it waits for change.
static inline CURLMcode ccurl_multi_set_callbacks(
    const ccurl_library *curl, CURLM *multi, curl_socket_callback socket, curl_multi_timer_callback timer,
    void *context) {
  curl->multi_setopt(multi, CURLMOPT_SOCKETDATA, context);
  curl->multi_setopt(multi, CURLMOPT_TIMERDATA, context);
  curl->multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, socket);
  return curl->multi_setopt(multi, CURLMOPT_TIMERFUNCTION, timer);
}

#endif
