#ifndef FEEDIMG_CFAULTS_H
#define FEEDIMG_CFAULTS_H

/*
 * Makes system calls on files fail, in the program that this is linked into and in the libraries that it uses.
 *
 * Only calls on files below one folder are counted, in the thread that has begun.
 */

enum feedimg_fault {
    /* The call with the number fails with the error. */
    FEEDIMG_FAULT_ONCE,
    /* So do all calls of its kind after it. */
    FEEDIMG_FAULT_FROM,
    /* A write with the number writes only half. */
    FEEDIMG_FAULT_SHORT,
};

/* Calls are counted from 1; 0 makes none fail. The folder is a prefix of paths; it is copied. */
void feedimg_faults_begin(const char *folder, long number, int error, enum feedimg_fault fault);

/* Lets all calls through again; how many there have been. */
long feedimg_faults_end(void);

/* The name of the call that failed first, or an empty string. */
const char *feedimg_faults_call(void);

/*
 * Counts the same calls; stops the process before the one with the first number, and kills it right after that with the
 * second. 0 does neither. To stop, only calls with the name count, unless that is empty. Until the end, nothing is
 * waited for.
 */
void feedimg_interruptions_begin(const char *folder, long stop, const char *call, long kill);

/* fork(2), which Swift does not offer; for a process with one thread. */
int feedimg_fork(void);

#endif
