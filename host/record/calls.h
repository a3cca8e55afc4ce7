/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What is to be looked at beside the arguments of a Linux system call: paths, data, structures. */
#ifndef RECORD_CALLS_H
#define RECORD_CALLS_H

#include <stdint.h>

enum record_data {
	RECORD_DATA_NONE = 0,
	RECORD_DATA_READ,	 /* into arg[1] */
	RECORD_DATA_WRITE,	 /* from arg[1] */
	RECORD_DATA_READ_VECTOR, /* arg[1] leads to arg[2] struct iovec */
	RECORD_DATA_WRITE_VECTOR,
	RECORD_DATA_READ_MESSAGE, /* arg[1] leads to a struct msghdr */
	RECORD_DATA_WRITE_MESSAGE,
};

enum record_structure {
	RECORD_STRUCTURE_NONE = 0,
	RECORD_STRUCTURE_STAT,	       /* out, at the argument */
	RECORD_STRUCTURE_TIMESPEC,     /* in */
	RECORD_STRUCTURE_SOCKADDR,     /* in; its size is the next argument */
	RECORD_STRUCTURE_SOCKADDR_OUT, /* out; the next argument leads to its size */
	RECORD_STRUCTURE_POLLFD,       /* out: an array, of as many as the next argument says */
};

enum record_special {
	RECORD_CALL_PLAIN = 0,
	RECORD_CALL_EXEC,
	RECORD_CALL_EXIT,   /* does not return */
	RECORD_CALL_SIGNAL, /* arg[0] gets a handler, at arg[1] */
	RECORD_CALL_NAME,   /* may change the thread's name */
};

struct record_call {
	const char *name;
	uint8_t paths; /* bit n: arg[n] is one */
	uint8_t data;  /* enum record_data */
	uint8_t structure, structure_argument;
	uint8_t special;
};

/*
 * By number, of the machine that this program runs on. Never NULL: of unknown ones nothing is to be looked
 * at.
 */
const struct record_call *record_call(uint64_t number);

#endif
