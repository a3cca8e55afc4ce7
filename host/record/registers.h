/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The registers, the memory, the privileges and the system calls of a traced program. */
#ifndef RECORD_REGISTERS_H
#define RECORD_REGISTERS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/tracer.h"

/*
 * Where a system call lies in the registers of a stopped thread, as ptrace(2) gives them (NT_PRSTATUS): for
 * kernels that do not say it themselves (before 5.3), and to change a result.
 */

#define RECORD_WORDS 34 /* of the largest image */

struct record_registers {
	size_t size; /* bytes that there are */
	uint64_t word[RECORD_WORDS];
};

/* One machine's: which word of the image is what. */
struct record_machine {
	uint16_t elf;
	uint8_t words;
	uint8_t number, result;
	uint8_t argument[6];
};

/* NULL: it is not known. */
const struct record_machine *record_machine_find(uint16_t elf);
/* The machine that this program runs on. */
uint16_t record_machine_own(void);

/* -1 if the image is another machine's: a 32-bit program's, say. */
int record_registers_call(const struct record_machine *machine, const struct record_registers *registers,
			  uint64_t *number, uint64_t argument[static 6]);
int record_registers_result(const struct record_machine *machine, const struct record_registers *registers,
			    int64_t *result);
int record_registers_set_result(const struct record_machine *machine, struct record_registers *registers,
				int64_t result);

/* The memory of another process. What cannot be read is left out: a program may pass any address. */

/* How many bytes could be read, from the beginning on. */
size_t record_memory_read(pid_t tid, uint64_t address, void *to, size_t size);
/* Length of a string, at most `room` bytes of it, without the NUL; -1 if it cannot be read as far as that. */
ssize_t record_memory_string(pid_t tid, uint64_t address, char *to, size_t room);
/* How many words of `width` bytes, 4 or 8, could be read, from the beginning on. */
size_t record_memory_words(pid_t tid, uint64_t address, unsigned width, uint64_t *word, size_t count);
/*
 * What `count` struct iovec at an address, in words of `width` bytes, lead to, one after another, at most
 * `size` bytes.
 */
size_t record_memory_gather(pid_t tid, uint64_t iovec, unsigned width, uint64_t count, void *to, size_t size);

/* A struct msghdr, in words of either width. */
struct record_message {
	uint64_t name, iovec, iovecs, control;
	uint32_t name_size, control_size;
};

/* False: it cannot be read. */
bool record_memory_message(pid_t tid, uint64_t address, unsigned width, struct record_message *message);

/*
 * The thread is about to become another program: has that rights which the thread lacks (set-id)? Nobody may
 * watch that but root; and traced by anybody else, it would not get them. False where we are root.
 */
bool record_is_privileged_exec(const struct record_thread *thread);
/* Is the call that the thread is in execveat(), be it that of i386? */
bool record_is_execveat(const struct record_thread *thread);

/* What is to be looked at beside the arguments of a Linux system call: paths, data, structures. */

enum record_data {
	RECORD_DATA_NONE = 0,
	RECORD_DATA_READ,	 /* into arg[1] */
	RECORD_DATA_WRITE,	 /* from arg[1] */
	RECORD_DATA_READ_VECTOR, /* arg[1] leads to arg[2] struct iovec */
	RECORD_DATA_WRITE_VECTOR,
	/* What has more than data: */
	RECORD_DATA_READ_MESSAGE, /* arg[1] leads to a struct msghdr */
	RECORD_DATA_WRITE_MESSAGE,
	RECORD_DATA_READ_MESSAGES, /* arg[1] leads to as many struct mmsghdr as the call returns */
	RECORD_DATA_WRITE_MESSAGES,
};

enum record_special {
	RECORD_CALL_PLAIN = 0,
	RECORD_CALL_EXEC,
	RECORD_CALL_SIGNAL,    /* arg[0] gets a handler, at arg[1] */
	RECORD_CALL_HANDLER,   /* arg[0] gets the handler arg[1] */
	RECORD_CALL_NAME,      /* may change the thread's name */
	RECORD_CALL_SIGRETURN, /* restores the mask of signals */
	RECORD_CALL_FORK,      /* makes a process */
	RECORD_CALL_CLONE,     /* makes a process or a thread, by the flags in arg[0] */
	RECORD_CALL_CLONE3,    /* the same, by flags to which arg[0] leads */
	/* Descriptors lead to other things, or to nothing: */
	RECORD_CALL_CLOSE,	 /* arg[0] */
	RECORD_CALL_CLOSE_RANGE, /* arg[0] to arg[1], or any */
	RECORD_CALL_FOLDER,	 /* the current folder */
};

struct record_call {
	const struct calls_call *call; /* its arguments; those of an unknown call have no name and none */
	uint8_t data;		       /* enum record_data */
	uint8_t special;	       /* enum record_special */
};

/* Returns the call that has this number for programs of this ABI (struct record_thread). Never NULL. */
const struct record_call *record_call(uint32_t abi, uint64_t number);

/* Returns the table of Linux's calls for this ABI, which lasts; NULL: none is known, or out of memory. */
struct calls_table *record_table(uint32_t abi);
/* Bytes of an address. */
unsigned record_address_size(uint32_t abi);

#endif
