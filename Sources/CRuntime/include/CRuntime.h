#ifndef FEEDIMG_CRUNTIME_H
#define FEEDIMG_CRUNTIME_H

#include <stddef.h>
#include <sys/types.h>

/* Functions of the Swift runtime, the allocator and the kernel that Swift cannot call. */

/* Passes every job for Swift's thread pool to a function instead. Call this before the first task. The function is
   called on any thread. */
void feedimg_take_jobs(void (*take)(void *job));

/* Makes all threads share one arena, which keeps freed blocks of at most this many bytes (mallopt(3)). */
void feedimg_share_arena(int reused);

/* Makes an immutable file in memory (memfd_create(2), F_ADD_SEALS of fcntl(2)). Returns its descriptor, or -1 on
   failure. */
int feedimg_seal(const void *bytes, size_t count);

/* Makes an empty file in memory. Returns its descriptor, or -1 on failure. */
int feedimg_memory_file(void);

/* Starts a program with `input` as its standard input and `output` as its other two standard files, and with no further
   files. Returns 0 or an error number (posix_spawn(3)). */
int feedimg_spawn(pid_t *process, const char *path, char *const arguments[], char *const variables[], int input,
                  int output);

#endif
