/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Which records are wanted: by kind (-t) and process (-p). */
#ifndef KDUMP_SELECT_H
#define KDUMP_SELECT_H

#include <stdbool.h>

#include "ktread/proc.h"

struct kdump_select {
	uint64_t types; /* bit n: KTRX_PROC_* n; bit 63: those that nobody knows */
	bool one;	/* only that process, of FreeBSD's files also that thread: */
	uint32_t pid;
};

#define KDUMP_SELECT_ALL            \
	{                           \
		.types = UINT64_MAX \
	}

/*
 * Letters as ktrace(1) takes them: c calls, f faults, i data, l lives of processes, n names, p denied, s signals, t
 * structs, u user, w switches, y settings, + the usual ones, which are all but f, l and w. False: not all of them are letters.
 */
bool kdump_select_letters(struct kdump_select *select, const char *letters);

bool kdump_select_wants(const struct kdump_select *select, const struct ktread_proc_record *record,
			bool freebsd);

#endif
