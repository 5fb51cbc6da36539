#include "CThreads.h"

#include <sys/prctl.h>

void cthreads_name(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }
