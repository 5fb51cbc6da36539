#ifndef FEEDIMG_CXXHASH_H
#define FEEDIMG_CXXHASH_H

#include <stddef.h>
#include <stdint.h>

/* XXH3 with 64 bits and no seed, over bytes that come in pieces. */
typedef struct feedimg_xxh3 feedimg_xxh3;

/* NULL when there is no memory. Free with feedimg_xxh3_free. */
feedimg_xxh3 *feedimg_xxh3_new(void);
void feedimg_xxh3_update(feedimg_xxh3 *state, const void *bytes, size_t length);
uint64_t feedimg_xxh3_digest(const feedimg_xxh3 *state);
void feedimg_xxh3_free(feedimg_xxh3 *state);

/* The same over bytes that lie in one piece. `bytes` may be NULL where `length` is 0. */
uint64_t feedimg_xxh3_hash(const void *bytes, size_t length);

#endif
