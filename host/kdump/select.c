/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "kdump/select.h"

#define BIT(type) (UINT64_C(1) << (type))
#define UNKNOWN	  BIT(63)
#define USUAL	  "cnistupy"

static uint64_t types_of(char letter)
{
	switch (letter) {
	case 'c':
		return BIT(KTRX_PROC_SYSCALL) | BIT(KTRX_PROC_SYSRET);
	case 'f':
		return BIT(KTRX_PROC_FAULT) | BIT(KTRX_PROC_FAULTEND);
	case 'i':
		return BIT(KTRX_PROC_GENIO);
	case 'l':
		return BIT(KTRX_PROC_PROCCTOR) | BIT(KTRX_PROC_PROCDTOR);
	case 'n':
		return BIT(KTRX_PROC_NAMEI);
	case 'p':
		return BIT(KTRX_PROC_CAPFAIL);
	case 's':
		return BIT(KTRX_PROC_PSIG);
	case 't':
		return BIT(KTRX_PROC_STRUCT) | BIT(KTRX_PROC_STRUCT_ARRAY);
	case 'u':
		return BIT(KTRX_PROC_USER);
	case 'w':
		return BIT(KTRX_PROC_CSW);
	case 'y':
		return BIT(KTRX_PROC_SYSCTL);
	default:
		return 0;
	}
}

bool kdump_select_letters(struct kdump_select *select, const char *letters)
{
	select->types = 0;
	for (; *letters; letters++) {
		if (*letters == '+') {
			for (const char *usual = USUAL; *usual; usual++)
				select->types |= types_of(*usual);
		} else if (types_of(*letters) == 0) {
			return false;
		}
		select->types |= types_of(*letters);
	}
	return select->types != 0;
}

bool kdump_select_wants(const struct kdump_select *select, const struct ktread_proc_record *record,
			bool freebsd)
{
	uint16_t type = record->type == KTREAD_PROC_BROKEN ? record->raw : record->type;

	if (!(select->types & (type < 63 ? BIT(type) : UNKNOWN)))
		return false;
	return !select->one || record->pid == select->pid || (freebsd && record->tid == select->pid);
}
