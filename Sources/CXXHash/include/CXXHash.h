#ifndef FEEDIMG_CXXHASH_H
#define FEEDIMG_CXXHASH_H

#include <stddef.h>
#include <stdint.h>

/* The state of an incremental XXH3 hash of 64 bits without a seed. */
typedef struct feedimg_xxh3 feedimg_xxh3;

/* Returns NULL if memory is exhausted. Free the state with feedimg_xxh3_free. */
feedimg_xxh3 *feedimg_xxh3_new(void);
void feedimg_xxh3_update(feedimg_xxh3 *state, const void *bytes, size_t length);
uint64_t feedimg_xxh3_digest(const feedimg_xxh3 *state);
void feedimg_xxh3_free(feedimg_xxh3 *state);

/* The hash of contiguous bytes. `bytes` may be NULL if `length` is 0. */
uint64_t feedimg_xxh3_hash(const void *bytes, size_t length);

#endif
