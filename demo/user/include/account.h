/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Counters of this process's operations since it was forked, or since its program was started. The library
 * counts system calls and the bytes they transfer; a program that provokes page faults counts them itself.
 */
#ifndef USER_ACCOUNT_H
#define USER_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

struct account {
	uint64_t calls;	   /* system calls made */
	uint64_t bytes;	   /* number of bytes transferred by read, write, sendto and recvfrom */
	uint64_t packets;  /* datagrams sent */
	uint64_t children; /* processes forked */
	uint64_t faults;   /* number of page faults provoked in the address range below */
	uint64_t from, to; /* address range of the provoked faults */
};
extern struct account account;

/*
 * Ends the process after printing a line "account NAME pid=… calls=… bytes=… packets=… children=… faults=…
 * from=… to=…". The counts include the system calls that print the line and end the process.
 */
_Noreturn void account_and_exit(int status);

#endif
