/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Reads and changes the registers of a traced program, reads its memory, and finds out its rights and the
 * properties of its system calls.
 */
#ifndef RECORD_REGISTERS_H
#define RECORD_REGISTERS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/tracer.h"

/*
 * The register set of a stopped thread, as ptrace(2) reads it (NT_PRSTATUS). It contains the thread's system
 * call. The register set is needed to change the result of a call, and to read calls on kernels before 5.3,
 * which do not report calls.
 */

#define RECORD_WORDS 34 /* number of words in the largest register set of all machines */

struct record_registers {
	size_t size; /* number of bytes in `word` that are valid */
	uint64_t word[RECORD_WORDS];
};

/*
 * Layout of a machine's register set: `words` is its size; the other members are the indices of a call's
 * number, result and arguments in record_registers.word.
 */
struct record_machine {
	uint16_t elf;
	uint8_t words;
	uint8_t number, result;
	uint8_t argument[6];
};

/* Returns the layout of an ELF machine's register set; NULL if the machine is not supported. */
const struct record_machine *record_machine_find(uint16_t elf);
/* Returns the ELF machine that this program runs on; EM_NONE if it is unknown. */
uint16_t record_machine_own(void);

/*
 * record_registers_call() and record_registers_result() read a call and its result from registers;
 * record_registers_set_result() changes the result in `registers`. These functions return 0, or -1 if the
 * registers belong to another machine, for example of a 32-bit program.
 */
int record_registers_call(const struct record_machine *machine, const struct record_registers *registers,
			  uint64_t *number, uint64_t argument[static 6]);
int record_registers_result(const struct record_machine *machine, const struct record_registers *registers,
			    int64_t *result);
int record_registers_set_result(const struct record_machine *machine, struct record_registers *registers,
				int64_t result);

/*
 * Functions that read the memory of another process. A program may pass any address to a call, so some of the
 * memory may not be readable. These functions stop at the first byte that cannot be read.
 */

/* Reads memory. Returns the number of bytes that could be read. */
size_t record_memory_read(pid_t tid, uint64_t address, void *to, size_t size);
/*
 * Reads a string, at most `room` bytes, without its NUL. Returns its length; -1 if a byte before its end
 * cannot be read.
 */
ssize_t record_memory_string(pid_t tid, uint64_t address, char *to, size_t room);
/* Reads machine words of `width` bytes, 4 or 8. Returns the number of words that could be read. */
size_t record_memory_words(pid_t tid, uint64_t address, unsigned width, uint64_t *word, size_t count);
/*
 * Reads the data to which an array of `count` struct iovec points: one piece after another, at most `size`
 * bytes in total. Each member of a struct iovec has `width` bytes. Returns the number of bytes read.
 */
size_t record_memory_gather(pid_t tid, uint64_t iovec, unsigned width, uint64_t count, void *to, size_t size);

/* A struct msghdr. In the memory of the traced process, its members have 4 or 8 bytes. */
struct record_message {
	uint64_t name, iovec, iovecs, control;
	uint32_t name_size, control_size;
};

/* Reads a struct msghdr. Returns false if it cannot be read. */
bool record_memory_message(pid_t tid, uint64_t address, unsigned width, struct record_message *message);

/*
 * Returns whether the thread is about to execute a program that would give it other rights, for example a
 * set-id program. The kernel does not give these rights to a thread that is traced, unless root traces it.
 * Always returns false if the recorder runs as root.
 */
bool record_is_privileged_exec(const struct record_thread *thread);
/* Returns whether the thread's current call is execveat(), in the machine's own ABI or in the ABI of i386. */
bool record_is_execveat(const struct record_thread *thread);

/*
 * What must be recorded about a Linux system call in addition to its arguments: data that they point to, and
 * changes to the process that the call makes.
 */

enum record_data {
	RECORD_DATA_NONE = 0,
	RECORD_DATA_READ,  /* the call reads data into the buffer at arg[1] */
	RECORD_DATA_WRITE, /* the call writes data from the buffer at arg[1] */
	/* like RECORD_DATA_READ, but arg[1] points to an array of arg[2] struct iovec */
	RECORD_DATA_READ_VECTOR,
	RECORD_DATA_WRITE_VECTOR,
	/* The following calls transfer addresses and control messages in addition to data: */
	RECORD_DATA_READ_MESSAGE, /* arg[1] points to a struct msghdr */
	RECORD_DATA_WRITE_MESSAGE,
	/*
	 * arg[1] points to an array of struct mmsghdr; the call returns the number of elements that it has
	 * used
	 */
	RECORD_DATA_READ_MESSAGES,
	RECORD_DATA_WRITE_MESSAGES,
};

enum record_special {
	RECORD_CALL_PLAIN = 0,
	RECORD_CALL_EXEC,
	RECORD_CALL_SIGNAL,    /* signal arg[0] gets the handler in the struct at arg[1] */
	RECORD_CALL_HANDLER,   /* signal arg[0] gets the handler arg[1] */
	RECORD_CALL_NAME,      /* the call may change the thread's name */
	RECORD_CALL_SIGRETURN, /* the call restores the mask of signals after a handler */
	RECORD_CALL_FORK,      /* creates a process */
	RECORD_CALL_CLONE,     /* the flags in arg[0] decide whether the call creates a process or a thread */
	/* the flags in memory at address arg[0] decide whether the call creates a process or a thread */
	RECORD_CALL_CLONE3,
	/* The following calls change what a descriptor or the current directory refers to: */
	RECORD_CALL_CLOSE, /* the call changes the descriptor arg[0] */
	/*
	 * the call changes the descriptors from arg[0] to arg[1]; the recorder looks up all descriptors again
	 */
	RECORD_CALL_CLOSE_RANGE,
	RECORD_CALL_FOLDER, /* the call changes the current directory */
};

struct record_call {
	/* name of the call and types of its arguments; an unknown call has the name "" and no arguments */
	const struct calls_call *call;
	uint8_t data;	 /* an enum record_data */
	uint8_t special; /* an enum record_special */
};

/*
 * Returns the call with this number in this ABI, which is encoded as in struct record_thread. Never returns
 * NULL.
 */
const struct record_call *record_call(uint32_t abi, uint64_t number);

/*
 * Returns the table of Linux's calls for this ABI. Returns NULL if there is no table, or memory runs out. The
 * table is never freed.
 */
struct calls_table *record_table(uint32_t abi);
/* Returns the size of an address in this ABI, in bytes. */
unsigned record_address_size(uint32_t abi);

#endif
