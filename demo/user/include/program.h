/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Functions for all programs: the name, checks of results, children. */
#ifndef USER_PROGRAM_H
#define USER_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern const char *program_name; /* last component of argv[0] */

/* The program's main function. Returns the exit status. */
int main(int argc, char **argv);

/*
 * Check a value. If it is wrong, print a message with `text`; finish() will then end the process with
 * status 1. Return true if the value is right.
 */
bool check(bool good, const char *text);
bool check_equal(int64_t expected, int64_t value, const char *text);

/* Prints the account line and ends the process, with status 1 if any check has failed, otherwise 0. */
_Noreturn void finish(void);

/*
 * Runs a function in a child process, which then calls finish(). Returns the child's pid. If no child can be
 * created, ends the calling process.
 */
int start_child(void (*child)(void));

/*
 * Starts a program in a new process. Returns the pid of the new process or -errno. If the program cannot be
 * executed, the new process ends with status 127.
 */
int start_program(const char *path, char **argv);

/*
 * Waits for a child; signals do not end the wait. Returns the child's status as wait4 stores it, or -errno.
 */
int wait_for(int pid);

/*
 * Read or write `size` bytes, by several system calls if necessary. Return the number of bytes, which is less
 * than `size` only at the end of the file; or -errno, even if some bytes were transferred before the error.
 */
int64_t read_all(int fd, void *to, size_t size);
int64_t write_all(int fd, const void *from, size_t size);

uint64_t now_ns(void);
void sleep_ms(unsigned ms);

#endif
