#ifndef FEEDIMG_CRUNTIME_H
#define FEEDIMG_CRUNTIME_H

#include <stddef.h>

/* What Swift cannot reach of its own runtime, of the allocator and of the kernel. */

/* Has a function take every job that would go to Swift's pool of threads, from any thread. Before the first task. */
void feedimg_take_jobs(void (*take)(void *job));

/* Gives memory that is free back to the system (malloc_trim(3)). */
void feedimg_trim_heap(void);

/* Has threads share one arena, and keeps blocks of up to so many bytes in it when they are freed (mallopt(3)). */
void feedimg_share_arena(int reused);

/* Makes a file in memory that has these bytes and that nobody can change any more (memfd_create(2), fcntl(2)). Returns its
   descriptor, or -1 where the system refuses any of that. */
int feedimg_seal(const void *bytes, size_t count);

#endif
