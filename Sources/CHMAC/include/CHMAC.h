#ifndef FEEDIMG_CHMAC_H
#define FEEDIMG_CHMAC_H

#include <stddef.h>
#include <stdint.h>

/* The number of bytes of a code. */
enum { feedimg_hmac_length = 32 };

/* Computes HMAC-SHA-256 (RFC 2104) with libcrypto. Returns 0 if it fails, and otherwise 1. */
int feedimg_hmac(
    const void *key, size_t key_length, const void *bytes, size_t length, uint8_t code[feedimg_hmac_length]);

#endif
