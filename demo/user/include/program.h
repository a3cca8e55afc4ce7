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
 * Checks a value. If it is wrong, prints a message with `text`, and finish() will end with status 1. Returns
 * whether the value is right.
 */
bool check(bool good, const char *text);
bool check_equal(int64_t expected, int64_t value, const char *text);

/* Ends the process with an account line; status 1 if any check failed. */
_Noreturn void finish(void);

/*
 * Runs a function in a child, which ends with finish(). Returns its pid. If no child can be created, the
 * calling process ends.
 */
int start_child(void (*child)(void));

/*
 * Starts a program with arguments. Returns the pid of the new process or -errno. If the program cannot be
 * executed, the process ends with status 127.
 */
int start_program(const char *path, char **argv);

/*
 * Waits for a child; signals do not end the wait. Returns the child's status in the form of wait4, or -errno.
 */
int wait_for(int pid);

/*
 * Read or write `size` bytes, or fewer only at the end of the file or after an error. Return the number of
 * bytes or -errno.
 */
int64_t read_all(int fd, void *to, size_t size);
int64_t write_all(int fd, const void *from, size_t size);

uint64_t now_ns(void);
void sleep_ms(unsigned ms);

#endif
