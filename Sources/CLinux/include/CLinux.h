#ifndef CLINUX_H
#define CLINUX_H

// The parts of glibc that Swift's Glibc module hides.

// eventfd(2).
#include <sys/eventfd.h>

#include <stddef.h>
#include <sys/types.h>

// The arguments of this process as the kernel passed them, without /proc. A null pointer ends the list.
char *const *clinux_arguments(void);

// The path by which this process was executed (AT_EXECFN of getauxval(3)).
const char *clinux_program(void);

// Names the calling thread for debuggers and `top -H`; the first 15 bytes count (prctl(2)).
void clinux_name(const char *name);

// Makes all threads share one arena, which keeps freed blocks of at most this many bytes (mallopt(3)).
void clinux_share_arena(int reused);

// Makes malloc reuse freed blocks of at most this many bytes, instead of returning them to the kernel (mallopt(3)).
void clinux_reuse_memory(int reused);

// Returns freed memory to the system (malloc_trim(3)).
void clinux_trim_memory(void);

// Makes an immutable file in memory (memfd_create(2), F_ADD_SEALS of fcntl(2)). Returns its descriptor, or -1.
int clinux_seal(const void *bytes, size_t count);

// Makes an empty file in memory. Returns its descriptor, or -1.
int clinux_memory_file(void);

// Starts a program with `input` as its standard input, `output` as its other two standard files, and no further files.
//
// Returns 0 or an error number (posix_spawn(3)).
int clinux_spawn(pid_t *process, const char *path, char *const arguments[], char *const variables[], int input,
                 int output);

// Makes a descriptor to wait on (epoll_create1(2)). Returns -1 if the system refuses.
int clinux_epoll(void);

#endif
