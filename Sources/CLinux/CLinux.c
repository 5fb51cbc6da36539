#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

// New in Linux 6.3. glibc 2.36 does not define it.
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

static char *const no_arguments[] = {NULL};
static char *const *arguments = no_arguments;

// glibc passes each constructor the arguments of main. Swift reads them from /proc, which may be hidden.
__attribute__((constructor)) static void keep_arguments(int count, char **values) {
  if (count > 0) arguments = values;
}

char *const *clinux_arguments(void) { return arguments; }

const char *clinux_program(void) { return (const char *)getauxval(AT_EXECFN); }

void clinux_name(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

void clinux_share_arena(int reused) {
  mallopt(M_ARENA_MAX, 1);
  clinux_reuse_memory(reused);
}

void clinux_reuse_memory(int reused) {
  mallopt(M_MMAP_THRESHOLD, reused);
  mallopt(M_TRIM_THRESHOLD, 2 * reused);
}

void clinux_trim_memory(void) { malloc_trim(0); }

static int write_all(int descriptor, const char *bytes, size_t count) {
  while (count > 0) {
    ssize_t written = write(descriptor, bytes, count);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return -1;
    bytes += written;
    count -= (size_t)written;
  }
  return 0;
}

int clinux_memory_file(void) {
  const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  int descriptor = memfd_create("feedimg-body", flags | MFD_NOEXEC_SEAL);
  if (descriptor < 0 && errno == EINVAL) descriptor = memfd_create("feedimg-body", flags);
  return descriptor;
}

int clinux_seal(const void *bytes, size_t count) {
  const int seals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  int descriptor = clinux_memory_file();
  if (descriptor < 0) return -1;
  if (write_all(descriptor, bytes, count) == 0 && fcntl(descriptor, F_ADD_SEALS, seals) == 0) return descriptor;
  close(descriptor);
  return -1;
}

int clinux_spawn(pid_t *process, const char *path, char *const arguments[], char *const variables[], int input,
                 int output) {
  posix_spawn_file_actions_t actions;
  int error = posix_spawn_file_actions_init(&actions);
  if (error != 0) return error;
  error = posix_spawn_file_actions_adddup2(&actions, input, 0);
  if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, output, 1);
  if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, output, 2);
  // Sockets of clients may be open without FD_CLOEXEC.
  if (error == 0) error = posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  if (error == 0) error = posix_spawn(process, path, &actions, NULL, arguments, variables);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

int clinux_epoll(void) { return epoll_create1(EPOLL_CLOEXEC); }
