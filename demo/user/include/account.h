/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * What this process did, by its own count: since it was forked, or since its program was started.
 * The library counts system calls and what they moved; faults are for the program that provokes
 * them to count.
 */
#ifndef USER_ACCOUNT_H
#define USER_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

struct account {
	uint64_t calls;	   /* system calls made */
	uint64_t bytes;	   /* moved by read, write, sendto and recvfrom */
	uint64_t packets;  /* datagrams sent */
	uint64_t children; /* processes forked */
	uint64_t faults;   /* page faults provoked … */
	uint64_t from, to; /* … between these addresses */
};
extern struct account account;

/*
 * Ends the process with a line "account NAME pid=… calls=… bytes=… packets=… children=… faults=… from=… to=…", which
 * includes the call that prints it and the one that ends.
 */
_Noreturn void account_and_exit(int status);

#endif
