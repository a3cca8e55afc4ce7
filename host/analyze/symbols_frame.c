/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <dwarf.h>
#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analyze/symbols_file.h"

/*
 * DWARF's numbers of the registers that are followed from frame to frame, from the ABI of each architecture.
 */
struct registers {
	uint16_t machine;
	uint8_t sp, frame, back; /* the stack pointer, the frame pointer, the return address */
};

static const struct registers machines[] = {
	{ EM_X86_64, 7, 6, 16 },
	{ EM_AARCH64, 31, 29, 30 },
	{ EM_RISCV, 2, 8, 1 },
};

static const struct registers *registers_of(uint16_t machine)
{
	for (size_t n = 0; n < sizeof(machines) / sizeof(machines[0]); n++)
		if (machines[n].machine == machine)
			return &machines[n];
	return NULL;
}

/* If the operation means "register + offset", stores both. */
static bool is_register(const Dwarf_Op *op, unsigned *number, int64_t *offset)
{
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		*number = op->atom - DW_OP_breg0;
		*offset = (int64_t)op->number;
	} else if (op->atom == DW_OP_bregx && op->number <= UINT8_MAX) {
		*number = (unsigned)op->number;
		*offset = (int64_t)op->number2;
	} else {
		return false;
	}
	return true;
}

static bool read_cfa(Dwarf_Frame *found, const struct registers *registers, struct symbols_frame *frame)
{
	Dwarf_Op *ops;
	unsigned number;
	size_t count;

	if (dwarf_frame_cfa(found, &ops, &count) != 0 || count != 1 ||
	    !is_register(ops, &number, &frame->cfa))
		return false;
	frame->by_frame = number == registers->frame;
	return frame->by_frame || number == registers->sp;
}

enum place { NOWHERE, UNCHANGED, STORED, UNKNOWN };

/* Finds where the caller's value of a register is. *offset: for STORED, its address relative to the CFA. */
static enum place place_of(Dwarf_Frame *found, unsigned number, int64_t *offset)
{
	Dwarf_Op room[3], *ops;
	size_t count;

	if (dwarf_frame_register(found, (int)number, room, &ops, &count) != 0)
		return UNKNOWN;
	if (count == 0)
		return ops ? NOWHERE : UNCHANGED;
	if (ops[0].atom != DW_OP_call_frame_cfa || count > 2 ||
	    (count == 2 && ops[1].atom != DW_OP_plus_uconst))
		return UNKNOWN;
	*offset = count == 2 ? (int64_t)ops[1].number : 0;
	return STORED;
}

static bool read_frame(Dwarf_Frame *found, const struct registers *registers, struct symbols_frame *frame)
{
	bool is_signal = false;
	const int back = dwarf_frame_info(found, NULL, NULL, &is_signal);
	enum place place;

	*frame = (struct symbols_frame){ .is_interrupt = is_signal };
	if (back != registers->back || !read_cfa(found, registers, frame))
		return false;
	place = place_of(found, registers->back, &frame->back);
	frame->is_outermost = place == NOWHERE;
	frame->back_stored = place == STORED;
	if (place == UNKNOWN || (place == UNCHANGED && registers->machine == EM_X86_64))
		return false;
	place = place_of(found, registers->frame, &frame->frame);
	frame->frame_stored = place == STORED;
	return place != UNKNOWN;
}

int symbols_file_frame(const struct symbols_file *file, uint16_t machine, uint64_t address,
		       struct symbols_frame *frame)
{
	const struct registers *registers = registers_of(machine);
	Dwarf_CFI *(*const tables[])(Dwfl_Module *, Dwarf_Addr *) = { dwfl_module_dwarf_cfi,
								      dwfl_module_eh_cfi };

	for (size_t n = 0; registers && n < sizeof(tables) / sizeof(tables[0]); n++) {
		Dwarf_Addr bias = 0;
		Dwarf_CFI *table = tables[n](file->module, &bias);
		Dwarf_Frame *found = NULL;
		bool usable;

		if (!table || dwarf_cfi_addrframe(table, address - bias, &found) != 0)
			continue;
		usable = read_frame(found, registers, frame);
		free(found);
		if (usable)
			return 0;
	}
	return -1;
}
