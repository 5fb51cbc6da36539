#include "CXXHash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

feedimg_xxh3 *feedimg_xxh3_new(void)
{
    /* The state needs an alignment of 64 bytes, which malloc does not guarantee. */
    XXH3_state_t *state = XXH3_createState();
    if (state != NULL)
        XXH3_64bits_reset(state);
    return (feedimg_xxh3 *)state;
}

void feedimg_xxh3_update(feedimg_xxh3 *state, const void *bytes, size_t length)
{
    XXH3_64bits_update((XXH3_state_t *)state, bytes, length);
}

uint64_t feedimg_xxh3_digest(const feedimg_xxh3 *state)
{
    return XXH3_64bits_digest((const XXH3_state_t *)state);
}

void feedimg_xxh3_free(feedimg_xxh3 *state)
{
    XXH3_freeState((XXH3_state_t *)state);
}

uint64_t feedimg_xxh3_hash(const void *bytes, size_t length)
{
    return XXH3_64bits(bytes, length);
}
