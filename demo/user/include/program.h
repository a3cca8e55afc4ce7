/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What the programs have in common: a name, checks of their own work, children. */
#ifndef USER_PROGRAM_H
#define USER_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern const char *program_name; /* the last part of argv[0] */

/* Supplied by the program; what it returns is its exit status. */
int main(int argc, char **argv);

/*
 * Whether value is as it should be; if not, says so on standard output, and finish() ends with
 * status 1. Text names what was checked.
 */
bool check(bool good, const char *text);
bool check_equal(int64_t expected, int64_t value, const char *text);

/* Ends the process with an account and, if any check failed, status 1. */
_Noreturn void finish(void);

/* Runs a function in a child, which ends by finish(). Its pid; where none can be made, this process ends, too. */
int start_child(void (*child)(void));

/* Starts a program with arguments. Its pid or -errno; status 127 if the program cannot be executed. */
int start_program(const char *path, char **argv);

/* Waits for a child. Its status as wait4 tells it, or -errno; signals that come meanwhile do not end it. */
int wait_for(int pid);

/* Reads or writes all of size, unless there is no more or an error: bytes or -errno. */
int64_t read_all(int fd, void *to, size_t size);
int64_t write_all(int fd, const void *from, size_t size);

uint64_t now_ns(void);
void sleep_ms(unsigned ms);

#endif
