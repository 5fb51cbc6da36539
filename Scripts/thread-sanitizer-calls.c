// Reports calls to Thread Sanitizer that it cannot see. Scripts/thread-sanitizer preloads this library.
//
// `Mutex` of Swift's Synchronization: under contention, libswiftSynchronization.so and the kernel
// (FUTEX_LOCK_PI) lock and unlock it. The sanitizer sees neither, and would report every access after such a
// lock as a race. These functions wrap those of the library (Swift 6.3) and report the locking. The sanitizer
// still finds real races.
//
// pthread_clockjoin_np: the sanitizer would report the joined thread as never joined.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

// Functions of the sanitizer. Some processes of `swift test` run without it.
extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

// _MutexHandle._lockSlow(_: UInt32), ._tryLockSlow() -> Bool and ._unlockSlow()
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

SWIFT void lock(uint32_t thread, SELF void *mutex) __asm__(LOCK);
SWIFT void lock(uint32_t thread, SELF void *mutex) {
  typedef SWIFT void (*function)(uint32_t, SELF void *);
  ((function)dlsym(RTLD_NEXT, LOCK))(thread, mutex);
  if (__tsan_acquire) __tsan_acquire(mutex);
}

SWIFT bool try_lock(SELF void *mutex) __asm__(TRY_LOCK);
SWIFT bool try_lock(SELF void *mutex) {
  typedef SWIFT bool (*function)(SELF void *);
  bool is_locked = ((function)dlsym(RTLD_NEXT, TRY_LOCK))(mutex);
  if (is_locked && __tsan_acquire) __tsan_acquire(mutex);
  return is_locked;
}

SWIFT void unlock(SELF void *mutex) __asm__(UNLOCK);
SWIFT void unlock(SELF void *mutex) {
  typedef SWIFT void (*function)(SELF void *);
  if (__tsan_release) __tsan_release(mutex);
  ((function)dlsym(RTLD_NEXT, UNLOCK))(mutex);
}

// Calls pthread_timedjoin_np, which the sanitizer sees, and which uses the realtime clock.
int pthread_clockjoin_np(pthread_t thread, void **result, clockid_t clock, const struct timespec *deadline) {
  struct timespec now, end;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec += deadline->tv_sec - now.tv_sec;
  end.tv_nsec += deadline->tv_nsec - now.tv_nsec;
  if (end.tv_nsec < 0) {
    end.tv_sec -= 1;
    end.tv_nsec += 1000000000;
  } else if (end.tv_nsec >= 1000000000) {
    end.tv_sec += 1;
    end.tv_nsec -= 1000000000;
  }
  return pthread_timedjoin_np(thread, result, &end);
}
