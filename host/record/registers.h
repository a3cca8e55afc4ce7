/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Where a system call lies in the registers of a stopped thread, as ptrace(2) gives them (NT_PRSTATUS): for kernels that do
 * not say it themselves (before 5.3), and to change a result.
 */
#ifndef RECORD_REGISTERS_H
#define RECORD_REGISTERS_H

#include <stddef.h>
#include <stdint.h>

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

#endif
