/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The registers, the memory, the privileges and the system calls of a traced program. */
#ifndef RECORD_REGISTERS_H
#define RECORD_REGISTERS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/tracer.h"

/*
 * The registers of a stopped thread that hold a system call, as ptrace(2) reads them (NT_PRSTATUS). Needed
 * for kernels before 5.3, which do not report calls themselves, and to change a result.
 */

#define RECORD_WORDS 34 /* words of the largest register set */

struct record_registers {
	size_t size; /* number of valid bytes */
	uint64_t word[RECORD_WORDS];
};

/* Layout of a machine's register set: indices of the words that hold a call's values. */
struct record_machine {
	uint16_t elf;
	uint8_t words;
	uint8_t number, result;
	uint8_t argument[6];
};

/* Returns the layout of an ELF machine; NULL if it is unknown. */
const struct record_machine *record_machine_find(uint16_t elf);
/* Returns the ELF machine that this program runs on; EM_NONE if it is unknown. */
uint16_t record_machine_own(void);

/*
 * These functions read a call and its result from registers, and change the result. They return 0, or -1 if
 * the registers are of another machine, for example of a 32-bit program.
 */
int record_registers_call(const struct record_machine *machine, const struct record_registers *registers,
			  uint64_t *number, uint64_t argument[static 6]);
int record_registers_result(const struct record_machine *machine, const struct record_registers *registers,
			    int64_t *result);
int record_registers_set_result(const struct record_machine *machine, struct record_registers *registers,
				int64_t result);

/*
 * The memory of another process. A program may pass any address: these functions stop at the first byte that
 * cannot be read.
 */

/* Reads memory. Returns the number of bytes that could be read. */
size_t record_memory_read(pid_t tid, uint64_t address, void *to, size_t size);
/*
 * Reads a string, at most `room` bytes, without its NUL. Returns its length; -1 if a byte before its end
 * cannot be read.
 */
ssize_t record_memory_string(pid_t tid, uint64_t address, char *to, size_t room);
/* Reads words of `width` bytes, 4 or 8. Returns the number of words that could be read. */
size_t record_memory_words(pid_t tid, uint64_t address, unsigned width, uint64_t *word, size_t count);
/*
 * Reads the data of `count` struct iovec, with words of `width` bytes, one after another, at most `size`
 * bytes. Returns the number of bytes read.
 */
size_t record_memory_gather(pid_t tid, uint64_t iovec, unsigned width, uint64_t count, void *to, size_t size);

/* A struct msghdr of the traced process, whose words have 4 or 8 bytes. */
struct record_message {
	uint64_t name, iovec, iovecs, control;
	uint32_t name_size, control_size;
};

/* Reads a struct msghdr. Returns false if it cannot be read. */
bool record_memory_message(pid_t tid, uint64_t address, unsigned width, struct record_message *message);

/*
 * Returns whether the thread, which is about to execute a program, would gain rights (set-id). Only root may
 * trace such a program: traced by another user, it would not get the rights. Always false for root.
 */
bool record_is_privileged_exec(const struct record_thread *thread);
/* Returns whether the thread's current call is execveat(), also that of i386. */
bool record_is_execveat(const struct record_thread *thread);

/* What to record of a Linux system call in addition to its arguments: paths, data, structures. */

enum record_data {
	RECORD_DATA_NONE = 0,
	RECORD_DATA_READ,	 /* data is read into arg[1] */
	RECORD_DATA_WRITE,	 /* data is written from arg[1] */
	RECORD_DATA_READ_VECTOR, /* arg[1] points to arg[2] struct iovec */
	RECORD_DATA_WRITE_VECTOR,
	/* Calls that transfer more than data: */
	RECORD_DATA_READ_MESSAGE, /* arg[1] points to a struct msghdr */
	RECORD_DATA_WRITE_MESSAGE,
	RECORD_DATA_READ_MESSAGES, /* arg[1] points to as many struct mmsghdr as the call returns */
	RECORD_DATA_WRITE_MESSAGES,
};

enum record_special {
	RECORD_CALL_PLAIN = 0,
	RECORD_CALL_EXEC,
	RECORD_CALL_SIGNAL,    /* signal arg[0] gets the handler in the struct at arg[1] */
	RECORD_CALL_HANDLER,   /* signal arg[0] gets the handler arg[1] */
	RECORD_CALL_NAME,      /* may change the thread's name */
	RECORD_CALL_SIGRETURN, /* restores the mask of signals */
	RECORD_CALL_FORK,      /* creates a process */
	RECORD_CALL_CLONE,     /* creates a process or a thread, by the flags in arg[0] */
	RECORD_CALL_CLONE3,    /* creates a process or a thread, by flags that arg[0] points to */
	/* These change what descriptors refer to: */
	RECORD_CALL_CLOSE,	 /* arg[0] */
	RECORD_CALL_CLOSE_RANGE, /* arg[0] to arg[1]; all are looked up again */
	RECORD_CALL_FOLDER,	 /* the current folder */
};

struct record_call {
	/* name and arguments; an unknown call has an empty name and no arguments */
	const struct calls_call *call;
	uint8_t data;	 /* enum record_data */
	uint8_t special; /* enum record_special */
};

/* Returns the call with this number in this ABI (struct record_thread). Never NULL. */
const struct record_call *record_call(uint32_t abi, uint64_t number);

/*
 * Returns the table of Linux's calls for this ABI, which is never freed; NULL if it is unknown or memory is
 * short.
 */
struct calls_table *record_table(uint32_t abi);
/* Returns the size of an address in this ABI, in bytes. */
unsigned record_address_size(uint32_t abi);

#endif
