#ifndef CALLOCATIONS_H
#define CALLOCATIONS_H

/// The number of allocations by all threads since the start of the program, through malloc and related functions.
unsigned long allocation_count(void);

#endif
