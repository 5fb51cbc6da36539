#ifndef CALLOCATIONS_H
#define CALLOCATIONS_H

/// How often memory was asked for since the program began, by any thread, through malloc and its relatives.
unsigned long allocation_count(void);

#endif
