#include "CHMAC.h"

#include <limits.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

int feedimg_hmac(
    const void *key, size_t key_length, const void *bytes, size_t length, uint8_t code[feedimg_hmac_length]) {
  unsigned int written = 0;
  if (key_length > INT_MAX) return 0;
  return HMAC(EVP_sha256(), key, (int)key_length, bytes, length, code, &written) != NULL
      && written == feedimg_hmac_length;
}
