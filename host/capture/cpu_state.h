/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Registers and stacks of the CPUs of a guest that is halted, paused or dumped. */
#ifndef CAPTURE_CPU_STATE_H
#define CAPTURE_CPU_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ktread/memory.h"

/* Registers as text (spec/ktrx.md section 3): a line a CPU, "cpu N pc=HEX sp=HEX NAME=HEX …". */

/* From what QEMU's "info registers -a" prints, on any architecture: integer registers. NULL: no memory. */
char *capture_registers_of_qemu(const char *printed);

/*
 * From the bytes that gdb's "g" packet carries for a CPU, integer registers first. Appends the line of CPU
 * `cpu` to *text, which is grown. 0 or CAPTURE_E_SYSTEM; an unknown machine or too few bytes append what is
 * known.
 */
int capture_registers_of_gdb(char **text, uint32_t cpu, uint16_t machine, const unsigned char *bytes,
			     size_t size);

/*
 * Where halted CPUs were called from: return addresses along the chain of frame pointers (rbp on x86_64, x29
 * on AArch64, s0 on RISC-V). Does no reading itself: it says which page it wants, and walks on when it is
 * given. What lies in a stack is taken for nothing: a chain may be a loop, lead anywhere, or not be one.
 *
 *	capture_stacks_open(&stacks, registers);
 *	while ((pages = capture_stacks_wanted(stacks, page, room)))
 *		for each of them: read it, capture_stacks_put(stacks, &page[i]);
 *	text = capture_stacks_text(stacks);
 *
 * Who can wait for pages has all that by capture_stacks_add().
 */

#define CAPTURE_STACK_PAGE  4096u
#define CAPTURE_STACK_PAGES 4u /* that are read together, at most */

struct capture_stack_page {
	uint32_t cpu;
	uint64_t address; /* virtual, as that CPU sees it */
	bool readable;
	unsigned char bytes[CAPTURE_STACK_PAGE];
};

struct capture_stacks;

/* `registers`: text as in spec/ktrx.md section 3. 0 or CAPTURE_E_SYSTEM. */
int capture_stacks_open(struct capture_stacks **stacks, const char *registers);
/*
 * Fills in cpu and address of pages to be read, one a CPU, `room` at most. Returns how many; 0 when all is
 * walked.
 */
unsigned capture_stacks_wanted(struct capture_stacks *stacks, struct capture_stack_page *page, unsigned room);
/* A page that was asked for. */
void capture_stacks_put(struct capture_stacks *stacks, const struct capture_stack_page *page);
/* The registers with a line "stack N HEX ..." for each CPU that has one, to be free()d. NULL: no memory. */
char *capture_stacks_text(struct capture_stacks *stacks);
void capture_stacks_close(struct capture_stacks *stacks);

/* Reads those of the pages that can be. 0, or an error that ends the walk. */
typedef int capture_stack_reader(void *context, struct capture_stack_page *page, unsigned pages);
/*
 * Adds those lines to *text, the registers; also where the reader has failed. 0, CAPTURE_E_SYSTEM, or the
 * reader's error.
 */
int capture_stacks_add(char **text, capture_stack_reader *read, void *context);

/* CPUs in a core file or a dump of QEMU's: their registers and stacks. */

/* The CPUs' registers in an ELF core, as QEMU's dump-guest-memory writes it: a note NT_PRSTATUS a CPU. */

/*
 * As spec/ktrx.md section 3 has them, to be free()d; NULL where the core has none, or is none. Bytes are
 * hostile: what does not fit is left out. 0 or CAPTURE_E_SYSTEM.
 */
int capture_core_registers(const char *path, char **text);

/*
 * What a core knows of its CPUs: their registers by its notes, and out of its memory where they were called
 * from.
 */

/*
 * Text as spec/ktrx.md section 3 has it, to be free()d; NULL where the core has no registers, or `image` is
 * of a boot that ended before the one they are of. `memory` is the core's. 0 or CAPTURE_E_SYSTEM.
 */
int capture_core_cpus(const char *path, struct ktread_memory *memory, const struct ktread_image *image,
		      char **text);
/* The same of a core that is not opened yet; NULL also where it has no ktrace in it. */
int capture_core_cpus_read(const char *path, char **text);

#endif
