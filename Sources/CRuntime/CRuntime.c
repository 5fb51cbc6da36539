#include "CRuntime.h"

#include <malloc.h>

#define SWIFT __attribute__((swiftcall))

typedef SWIFT void (*enqueue)(void *job);

/* Source: swift/Runtime/Concurrency.h. */
extern SWIFT void (*swift_task_enqueueGlobal_hook)(void *job, enqueue original);

static void (*taker)(void *job);

static SWIFT void hand_over(void *job, enqueue original)
{
    (void)original;
    taker(job);
}

void feedimg_take_jobs(void (*take)(void *job))
{
    taker = take;
    swift_task_enqueueGlobal_hook = hand_over;
}

void feedimg_trim_heap(void)
{
    malloc_trim(0);
}

void feedimg_share_arena(int reused)
{
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, reused);
    mallopt(M_TRIM_THRESHOLD, 2 * reused);
}
