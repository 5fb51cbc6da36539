// libcurl through a table of function pointers.
//
// Linking libcurl would cost every start some 5 ms for the libraries it pulls in, so it is opened when the first
// transfer starts. The types and constants are those of <curl/curl.h>. libcurl's functions with variable arguments,
// which Swift cannot call, have one wrapper for each kind of argument.
#ifndef FEEDIMG_CCURL_H
#define FEEDIMG_CCURL_H

#include <curl/curl.h>
#include <stddef.h>
#include <sys/eventfd.h>

// OpenSSL's functions, its types being of no matter here; NULL where libcurl does without.
typedef struct ccurl_openssl {
  const void *(*get_ciphers)(const void *context);
  int (*count_of)(const void *ciphers);
  const void *(*value_at)(const void *ciphers, int index);
  const char *(*name_of)(const void *cipher);
  int (*set_ciphersuites)(void *context, const char *names);
} ccurl_openssl;

// The functions of one opened libcurl; constant once opened.
typedef struct ccurl_library {
  CURL *(*easy_init)(void);
  void (*easy_cleanup)(CURL *easy);
  void (*easy_reset)(CURL *easy);
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
  CURLMcode (*multi_timeout)(CURLM *multi, long *milliseconds);
  CURLMsg *(*multi_info_read)(CURLM *multi, int *left);
  ccurl_openssl openssl;
} ccurl_library;

// Opens and initialises the library of that file name, such as "libcurl.so.4".
//
// The caller frees the table with free(); the library itself stays open, since threads of its own may still be in it.
// Answers NULL on failure, with the reason in words, cut to `size` bytes with its terminator. Safe from any thread.
ccurl_library *ccurl_open(const char *name, char *reason, size_t size);

// Prepares the calling thread for libcurl.
//
// Makes UTF-8 its character set, and its alone, since libcurl converts the names of hosts (IDNA) from the character set
// of the locale.
void ccurl_prepare_thread(void);

// The ciphers of TLS 1.3, the quickest first, in OpenSSL's words: AES where the processor has instructions for it, else
// ChaCha20, which is several times as quick there. The same order as browsers have.
const char *ccurl_preferred_ciphers(int has_fast_aes);

// Has the handle offer these in that order, unless the system's configuration has chosen an order of its own.
//
// OpenSSL's own order begins with AES of 256 bits on every processor. All of them are allowed either way.
void ccurl_prefer_quick_ciphers(const ccurl_library *curl, CURL *easy);

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

static inline CURLcode ccurl_get_pointer(const ccurl_library *curl, CURL *easy, CURLINFO info, void **value) {
  return curl->easy_getinfo(easy, info, value);
}

// The text belongs to the handle and lasts until its next transfer.
static inline CURLcode ccurl_get_text(const ccurl_library *curl, CURL *easy, CURLINFO info, const char **value) {
  return curl->easy_getinfo(easy, info, value);
}

static inline CURLMcode ccurl_multi_set_long(
    const ccurl_library *curl, CURLM *multi, CURLMoption option, long value) {
  return curl->multi_setopt(multi, option, value);
}

// Sets what is told which sockets to wait for, and its context.
static inline CURLMcode ccurl_multi_set_socket_function(
    const ccurl_library *curl, CURLM *multi, curl_socket_callback value, void *context) {
  CURLMcode code = curl->multi_setopt(multi, CURLMOPT_SOCKETDATA, context);
  return code == CURLM_OK ? curl->multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, value) : code;
}

#endif
