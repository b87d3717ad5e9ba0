// table.h - the table of figures: of this process, or of several, each in an address space of its own.
#ifndef PEERS_TABLE_H
#define PEERS_TABLE_H

#include <string>
#include <vector>

// Figures are of that part from now on.
void begin_part(const char *name);

// The number of targets that are missed.
int print_table();

// Prints the rows so that run_processes() of another process can read them.
void print_rows();

// Runs parts in `count` processes, one after another, and makes the table of the medians of their figures. What calls cost
// hangs by 1 % on where the loader puts code and stacks, which is the same for all of a process: one is not a measurement.
// Whether it was all right in each.
bool run_processes(int count, const std::vector<std::string> &parts);

#endif
