/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Counters of what this process has done since it was forked, or since its program was started. The library
 * counts system calls and the bytes that they transfer. A program that provokes page faults counts these
 * itself.
 */
#ifndef USER_ACCOUNT_H
#define USER_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

struct account {
	uint64_t calls;	   /* number of system calls that the process has made */
	uint64_t bytes;	   /* number of bytes transferred by read, write, sendto and recvfrom */
	uint64_t packets;  /* number of datagrams that the process has sent */
	uint64_t children; /* number of processes that the process has forked */
	uint64_t faults;   /* number of page faults that the program has provoked between `from` and `to` */
	uint64_t from, to; /* address range in which the program provokes page faults */
};
extern struct account account;

/*
 * Ends the process after printing a line "account NAME pid=… calls=… bytes=… packets=… children=… faults=…
 * from=… to=…". The counts include the system calls that print the line and end the process.
 */
_Noreturn void account_and_exit(int status);

#endif
