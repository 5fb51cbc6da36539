#ifndef CTHREADS_H
#define CTHREADS_H

// What Glibc hides from Swift, whose imports it takes for those of a program that asks for POSIX alone.

// Names the calling thread, as debuggers and `top -H` show it; of a long name the first 15 bytes count (prctl(2)).
void cthreads_name(const char *name);

#endif
