#ifndef CALLOCATIONS_H
#define CALLOCATIONS_H

/// The number of allocations since the program began, by any thread, through malloc and its relatives.
unsigned long allocation_count(void);

#endif
