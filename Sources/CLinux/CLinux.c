#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <time.h>

struct clinux_thread {
  pthread_t id;
};

static char *const no_arguments[] = {NULL};
static char *const *arguments = no_arguments;

// glibc passes each constructor the arguments of main. Swift reads them from /proc, which may be hidden.
__attribute__((constructor)) static void keep_arguments(int count, char **values) {
  if (count > 0) arguments = values;
}

char *const *clinux_arguments(void) { return arguments; }

const char *clinux_program(void) { return (const char *)getauxval(AT_EXECFN); }

void clinux_name(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

void clinux_forbid_cancellation(void) {
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
  // With cancellation disabled this changes no behaviour, but glibc skips the switch around each blocking call.
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
}

clinux_thread *clinux_start(void *(*run)(void *context), void *context) {
  clinux_thread *thread = malloc(sizeof *thread);
  if (thread == NULL) return NULL;
  int failure = pthread_create(&thread->id, NULL, run, context);
  if (failure == 0) return thread;
  free(thread);
  errno = failure;
  return NULL;
}

int clinux_join(clinux_thread *thread, long milliseconds) {
  if (pthread_equal(thread->id, pthread_self())) return EDEADLK;
  struct timespec deadline;
  clock_gettime(CLOCK_MONOTONIC, &deadline);
  deadline.tv_sec += milliseconds / 1000;
  deadline.tv_nsec += milliseconds % 1000 * 1000000;
  if (deadline.tv_nsec >= 1000000000) {
    deadline.tv_sec += 1;
    deadline.tv_nsec -= 1000000000;
  }
  int failure = pthread_clockjoin_np(thread->id, NULL, CLOCK_MONOTONIC, &deadline);
  if (failure == 0) free(thread);
  return failure;
}

void clinux_detach(clinux_thread *thread) {
  pthread_detach(thread->id);
  free(thread);
}
