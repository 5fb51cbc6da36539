#ifndef CTHREADS_H
#define CTHREADS_H

// What Glibc hides from Swift, whose imports it takes for those of a program that asks for POSIX alone, and threads that
// are waited for, whose type Swift 6.3 cannot keep.

// Names the calling thread, as debuggers and `top -H` show it; of a long name the first 15 bytes count (prctl(2)).
void cthreads_name(const char *name);

// Has nobody cancel the calling thread (pthread_cancel(3)), which Swift cannot be unwound from.
//
// Otherwise glibc says before and after each call that may block that the thread may now be cancelled, and may not any
// more, each time with an atomic exchange.
void cthreads_forbid_cancellation(void);

// A thread that is to be joined or detached, once.
typedef struct cthreads_thread cthreads_thread;

// Starts a thread; NULL with `errno` where the system grants none.
cthreads_thread *cthreads_start(void *(*run)(void *context), void *context);

// Waits until a thread has ended, with all that its destructors do, and lets go of it (pthread_clockjoin_np(3)).
//
// Answers 0, or ETIMEDOUT after so many milliseconds, or EDEADLK where it is the calling thread; it is still there then.
int cthreads_join(cthreads_thread *thread, long milliseconds);

// Lets go of a thread that nobody will wait for.
void cthreads_detach(cthreads_thread *thread);

#endif
