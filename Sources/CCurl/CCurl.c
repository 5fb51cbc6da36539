#define _GNU_SOURCE
#include "CCurl.h"

#include <dlfcn.h>
#include <linux/tcp.h>
#include <locale.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

// curl_global_init is thread-safe only since 7.84, and only in some builds of libcurl.
static pthread_mutex_t initialising = PTHREAD_MUTEX_INITIALIZER;

// 7.88.0. In 7.87.0, curl_multi_socket_action lets TLS connections wait for minutes (curl#10146).
static const unsigned int oldest_version = 0x075800;

static int find(void *library, const char *name, void *function, char *reason, size_t size) {
  void *found = dlsym(library, name);
  if (found == NULL) {
    snprintf(reason, size, "it lacks the function %s", name);
    return 0;
  }
  // ISO C cannot convert an object pointer to a function pointer. POSIX recommends this cast (dlsym(3)).
  *(void **)function = found;
  return 1;
}

static int fill(ccurl_library *curl, void *library, char *reason, size_t size) {
#define FIND(member) find(library, "curl_" #member, &curl->member, reason, size)
  return FIND(easy_init) && FIND(easy_cleanup) && FIND(easy_reset) && FIND(easy_setopt) && FIND(easy_getinfo) &&
         FIND(easy_strerror) && FIND(slist_append) && FIND(slist_free_all) && FIND(multi_init) &&
         FIND(multi_cleanup) && FIND(multi_setopt) && FIND(multi_add_handle) && FIND(multi_remove_handle) &&
         FIND(multi_socket_action) && FIND(multi_info_read) &&
         FIND(easy_nextheader) && FIND(url) && FIND(url_cleanup) && FIND(url_set) && FIND(url_get) && FIND(free) &&
         FIND(version) && FIND(easy_perform) && FIND(easy_recv) && FIND(easy_send);
#undef FIND
}

// Tells OpenSSL to free nothing at exit (OPENSSL_init_crypto(3)). Its handler of atexit(3) would free what a load on
// another thread still uses, and the process would crash.
static void keep_tls_at_exit(void *library) {
  const uint64_t no_atexit = 0x00080000;  // OPENSSL_INIT_NO_ATEXIT of <openssl/crypto.h>
  int (*init)(uint64_t, const void *) = NULL;
  // Searches the libraries that libcurl needs too. A libcurl with another TLS library lacks the function.
  *(void **)&init = dlsym(library, "OPENSSL_init_crypto");
  if (init != NULL) {
    init(no_atexit, NULL);
  }
}

static int initialise(ccurl_library *curl, void *library, char *reason, size_t size) {
  curl_version_info_data *(*version_info)(CURLversion) = NULL;
  CURLcode (*global_init)(long) = NULL;
  if (!find(library, "curl_version_info", &version_info, reason, size) ||
      !find(library, "curl_global_init", &global_init, reason, size)) {
    return 0;
  }
  const curl_version_info_data *version = version_info(CURLVERSION_NOW);
  if (version->version_num < oldest_version) {
    snprintf(reason, size, "it is version %s, but 7.88.0 or later is required", version->version);
    return 0;
  }
  pthread_mutex_lock(&initialising);
  keep_tls_at_exit(library);
  CURLcode code = global_init(CURL_GLOBAL_DEFAULT);
  pthread_mutex_unlock(&initialising);
  if (code != CURLE_OK) {
    snprintf(reason, size, "it failed to initialise with code %d", (int)code);
    return 0;
  }
  return 1;
}

ccurl_library *ccurl_open(const char *name, char *reason, size_t size) {
  // RTLD_LAZY halves the time: libcurl pulls in about thirty libraries, and most of their functions are never
  // called.
  void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
  if (library == NULL) {
    const char *error = dlerror();
    snprintf(reason, size, "%s", error == NULL ? "it could not be opened" : error);
    return NULL;
  }
  ccurl_library *curl = calloc(1, sizeof *curl);
  if (curl == NULL) {
    snprintf(reason, size, "out of memory");
    return NULL;
  }
  if (!fill(curl, library, reason, size) || !initialise(curl, library, reason, size)) {
    free(curl);
    return NULL;
  }
  return curl;
}

static pthread_once_t utf8_once = PTHREAD_ONCE_INIT;
static locale_t utf8;

static void open_utf8(void) { utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0); }

void ccurl_prepare_thread(void) {
  pthread_once(&utf8_once, open_utf8);
  if (utf8 != (locale_t)0) {
    uselocale(utf8);
  }
}

static int local_port_of(int descriptor) {
  struct sockaddr_storage address;
  socklen_t length = sizeof address;
  if (getsockname(descriptor, (struct sockaddr *)&address, &length) != 0) {
    return -1;
  }
  switch (address.ss_family) {
    case AF_INET: return ntohs(((struct sockaddr_in *)&address)->sin_port);
    case AF_INET6: return ntohs(((struct sockaddr_in6 *)&address)->sin6_port);
    default: return -1;
  }
}

long long ccurl_received(int descriptor, int local_port, int *unread) {
  if (local_port <= 0 || local_port_of(descriptor) != local_port) {
    return -1;
  }
  struct tcp_info info;
  memset(&info, 0, sizeof info);
  socklen_t size = sizeof info;
  if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 ||
      size < offsetof(struct tcp_info, tcpi_bytes_received) + sizeof info.tcpi_bytes_received) {
    return -1;
  }
  if (unread != NULL && ioctl(descriptor, FIONREAD, unread) != 0) {
    *unread = 0;
  }
  return (long long)info.tcpi_bytes_received;
}
