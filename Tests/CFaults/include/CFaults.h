#ifndef FEEDIMG_CFAULTS_H
#define FEEDIMG_CFAULTS_H

/*
 * Makes system calls on files fail, in the program and in its libraries.
 *
 * Counts only calls of the thread that called a function `_begin`, on files below one folder.
 */

enum feedimg_fault {
    /* The call with the given number fails with the error. */
    FEEDIMG_FAULT_ONCE,
    /* That call and all later calls of the same function fail. */
    FEEDIMG_FAULT_FROM,
    /* If that call is a write, it writes only half. */
    FEEDIMG_FAULT_SHORT,
};

/* Begins to count calls from 1. With the number 0 none fails. The folder is a prefix of paths, and is copied. */
void feedimg_faults_begin(const char *folder, long number, int error, enum feedimg_fault fault);

/* Ends the failures, and returns the number of counted calls. */
long feedimg_faults_end(void);

/* The name of the first failed function, or an empty string. */
const char *feedimg_faults_call(void);

/*
 * Counts the same calls, but stops the process before call number `stop`, and kills it directly after call number
 * `kill`. 0 does neither. If `call` is not empty, `stop` counts only calls of that function. Pauses return at once.
 */
void feedimg_interruptions_begin(const char *folder, long stop, const char *call, long kill);

/* fork(2), which Swift does not offer. The process must have one thread. */
int feedimg_fork(void);

#endif
