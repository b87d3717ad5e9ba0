// table.h - the table of figures, of this process or of several with different address spaces.
#ifndef PEERS_TABLE_H
#define PEERS_TABLE_H

#include <string>
#include <vector>

// Starts a part: later figures belong to it.
void begin_part(const char *name);

// Number of missed targets.
int print_table();

// Prints the rows for run_processes() of another process to read.
void print_rows();

// Runs parts in `count` processes, one after another, and makes the table of the medians. The cost of a call varies by
// 1 % with the loader's placement of code and stacks, which is fixed within a process. Returns true if all went well in
// each.
bool run_processes(int count, const std::vector<std::string> &parts);

#endif
