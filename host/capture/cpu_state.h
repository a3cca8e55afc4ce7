/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Registers and stacks of the CPUs of a guest that is halted, paused or dumped. */
#ifndef CAPTURE_CPU_STATE_H
#define CAPTURE_CPU_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "kernel_elf.h"
#include "ktread/memory.h"

/* Registers as text (spec/ktrx.md, section 3): one line per CPU, "cpu N pc=HEX sp=HEX NAME=HEX …". */

/*
 * Converts the output of QEMU's "info registers -a", of any architecture, to text (spec/ktrx.md section 3).
 * Keeps only the integer registers. Returns the text, which the caller frees, or NULL if memory runs out.
 */
char *capture_registers_of_qemu(const char *printed);

/*
 * Writes the line of CPU `cpu`. `bytes`: the reply to gdb's "g" packet for that CPU, integer registers first.
 * `machine`: ELF e_machine. If the machine is unknown or bytes are missing, the line has only the registers
 * that are known.
 */
void capture_registers_of_gdb(FILE *text, uint32_t cpu, uint16_t machine, const unsigned char *bytes,
			      size_t size);
/*
 * Closes a stream of open_memstream() that wrote *text. Sets *text to NULL if nothing was written. Returns 0
 * or CAPTURE_E_SYSTEM.
 */
int capture_registers_finish(FILE *stream, char **text);

/*
 * Returns the rest of the line "cpu N …" or "stack N …" after N, from the blank on. NULL: the text has no
 * such line. `what`: "cpu" or "stack".
 */
const char *capture_registers_line(const char *text, const char *what, uint32_t cpu);
/* Returns the value after a name, such as " sp=", in the line of a CPU; 0 if there is none. */
uint64_t capture_registers_value(const char *text, uint32_t cpu, const char *name);

/*
 * Collects the return addresses on the stacks of halted CPUs (analyze/symbols.h). These functions read no
 * memory: they name the pages that they need, and continue with the pages that the caller supplies.
 *
 *	capture_stacks_open(&stacks, registers, &kernel);
 *	while ((pages = capture_stacks_wanted(stacks, page, room)))
 *		for each of them: read it, capture_stacks_put(stacks, &page[i]);
 *	text = capture_stacks_text(stacks);
 *
 * A caller that can wait for pages uses capture_stacks_add() instead, which does all of this.
 */

#define CAPTURE_STACK_PAGE  4096u
#define CAPTURE_STACK_PAGES 4u /* maximum number of pages that are read together */

struct capture_stack_page {
	uint32_t cpu;
	uint64_t address; /* virtual address of the page in the address space of CPU `cpu` */
	bool readable;
	unsigned char bytes[CAPTURE_STACK_PAGE];
};

struct capture_stacks;

/* The kernel whose stacks are walked. */
struct capture_stack_kernel {
	/*
	 * the kernel's file, for its call frame information; NULL or "": unknown. The file is not trusted,
	 * and is not used if its build id differs from `id`.
	 */
	const char *elf;
	uint64_t self; /* address of ktrace_root in the running kernel; 0: unknown */
	struct capture_build_id id;
};

/*
 * Begins a walk for each CPU in `registers`, which is text as in spec/ktrx.md section 3. Returns 0 or
 * CAPTURE_E_SYSTEM.
 */
int capture_stacks_open(struct capture_stacks **stacks, const char *registers,
			const struct capture_stack_kernel *kernel);
/*
 * Fills in `cpu` and `address` of the pages that must be read next: one page per CPU, and at most `room`
 * pages.
 * Returns the number of these pages; 0 if all stacks have been walked.
 */
unsigned capture_stacks_wanted(struct capture_stacks *stacks, struct capture_stack_page *page, unsigned room);
/* Supplies a page that capture_stacks_wanted() asked for, and continues the walk. */
void capture_stacks_put(struct capture_stacks *stacks, const struct capture_stack_page *page);
/*
 * Returns the text of the registers, followed by a line "stack N HEX …" for each CPU that has return
 * addresses. The caller frees the text. Returns NULL if memory runs out.
 */
char *capture_stacks_text(struct capture_stacks *stacks);
void capture_stacks_close(struct capture_stacks *stacks);

/* Reads the given pages and sets `readable` in each of them. Returns 0, or an error, which ends the walk. */
typedef int capture_stack_reader(void *context, struct capture_stack_page *page, unsigned pages);
/*
 * Adds the "stack" lines to *text, which holds the registers. If `read` fails, adds only the return addresses
 * that were found before the failure. Returns 0, CAPTURE_E_SYSTEM, or the error that `read` returned.
 */
int capture_stacks_add(char **text, capture_stack_reader *read, void *context,
		       const struct capture_stack_kernel *kernel);

/* The registers and stacks of the CPUs in an ELF core dump. */

/* QEMU's dump-guest-memory writes a note NT_PRSTATUS with the registers of each CPU. */

/*
 * Reads the registers of all CPUs from a core dump, as text (spec/ktrx.md section 3). *text: for the caller
 * to free; NULL if the file is not a core dump or has no registers. The file is not trusted: the list of
 * notes ends at a note that does not fit into the file.
 * Returns 0 or CAPTURE_E_SYSTEM.
 */
int capture_core_registers(const char *path, char **text);

/*
 * Reads the registers of all CPUs from a core's notes, and their stacks from its memory, as text
 * (spec/ktrx.md section 3). `memory`: the physical memory in the core. `image`: the trace in that memory.
 * `elf`: the kernel's file; NULL: unknown. It is not used if it is certainly the file of another kernel.
 * *text: for the caller to free; NULL if the core has no registers, or if the boot in `image` had ended
 * before the core was written. Returns 0 or CAPTURE_E_SYSTEM.
 */
int capture_core_cpus(const char *path, struct ktread_memory *memory, const struct ktread_image *image,
		      const char *elf, char **text);
/*
 * Opens a core dump and reads the registers and stacks of its CPUs, as capture_core_cpus() does. *text is
 * also NULL if the core dump contains no ktrace.
 */
int capture_core_cpus_read(const char *path, const char *elf, char **text);

#endif
