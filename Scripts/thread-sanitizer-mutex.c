// Lets Thread Sanitizer follow `Mutex` of Swift's Synchronization; preloaded by Scripts/thread-sanitizer.
//
// Where threads contend for a Mutex, it is locked and unlocked within libswiftSynchronization.so and the kernel
// (FUTEX_LOCK_PI), which the sanitizer does not see, so that it takes each access after such a lock for a race. These
// functions stand before those of the library (Swift 6.3) and tell what happens. Real races are still found.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

// The sanitizer's own marks; absent in the processes of `swift test` that are not under it.
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
