#include "ciphers.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>

// Those of TLS 1.3 in the order of OpenSSL's TLS_DEFAULT_CIPHERSUITES.
static const char *const usual[] = {
    "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256", "TLS_AES_128_GCM_SHA256"};
static const int usual_count = sizeof usual / sizeof *usual;

typedef enum { unknown, slow, fast } aes_speed;

static aes_speed speed_of_aes(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_cpu_init();
  return __builtin_cpu_supports("aes") && __builtin_cpu_supports("pclmul") ? fast : slow;
#elif defined(__aarch64__)
  // HWCAP_AES and HWCAP_PMULL of <asm/hwcap.h>.
  const unsigned long needed = (1UL << 3) | (1UL << 4);
  return (getauxval(AT_HWCAP) & needed) == needed ? fast : slow;
#else
  return unknown;
#endif
}

const char *ccurl_preferred_ciphers(int has_fast_aes) {
  return has_fast_aes ? "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"
                      : "TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384";
}

ccurl_openssl ccurl_find_openssl(void *library, const curl_version_info_data *version) {
  ccurl_openssl found = {0};
  // Another library may have been linked to something that has these functions too.
  if (version->ssl_version == NULL || strncmp(version->ssl_version, "OpenSSL/", 8) != 0) {
    return found;
  }
  // POSIX's own way around ISO C, which has no conversion from object to function pointers.
  *(void **)&found.get_ciphers = dlsym(library, "SSL_CTX_get_ciphers");
  *(void **)&found.count_of = dlsym(library, "OPENSSL_sk_num");
  *(void **)&found.value_at = dlsym(library, "OPENSSL_sk_value");
  *(void **)&found.name_of = dlsym(library, "SSL_CIPHER_get_name");
  *(void **)&found.set_ciphersuites = dlsym(library, "SSL_CTX_set_ciphersuites");
  return found;
}

// Whether nobody has said which of TLS 1.3 to use, or in what order, as the system's openssl.cnf may.
static int is_usual(const ccurl_openssl *openssl, const void *context) {
  const void *ciphers = openssl->get_ciphers(context);
  int found = 0;
  for (int index = 0; ciphers != NULL && index < openssl->count_of(ciphers); index++) {
    const char *name = openssl->name_of(openssl->value_at(ciphers, index));
    if (strncmp(name, "TLS_", 4) != 0) {
      continue;
    }
    if (found == usual_count || strcmp(name, usual[found]) != 0) {
      return 0;
    }
    found++;
  }
  return found == usual_count;
}

static CURLcode prefer_quick_ciphers(CURL *easy, void *context, void *data) {
  (void)easy;
  const ccurl_openssl *openssl = data;
  const aes_speed speed = speed_of_aes();
  if (speed != unknown && is_usual(openssl, context)) {
    // Where it fails, all stays as it is.
    openssl->set_ciphersuites(context, ccurl_preferred_ciphers(speed == fast));
  }
  return CURLE_OK;
}

void ccurl_prefer_quick_ciphers(const ccurl_library *curl, CURL *easy) {
  const ccurl_openssl *openssl = &curl->openssl;
  if (openssl->get_ciphers == NULL || openssl->count_of == NULL || openssl->value_at == NULL ||
      openssl->name_of == NULL || openssl->set_ciphersuites == NULL) {
    return;
  }
  // Refused by a libcurl that was built without: all stays as it is.
  curl->easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, prefer_quick_ciphers);
  curl->easy_setopt(easy, CURLOPT_SSL_CTX_DATA, openssl);
}
