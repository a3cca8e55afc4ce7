/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Page faults: the window's are resolved, all others are bugs. */
#include <ktrace/ktrace.h>
#include <ktrx/v1.h>

#include "arch.h"
#include "panic.h"
#include "window.h"

KTRACE_EVENT_V1(KTRX1_PAGE_FAULT, mm, fault_enter, "%#llx from %#llx, flags %u",
		(unsigned long long, address), (unsigned long long, ip), (uint8_t, flags));
KTRACE_EVENT(mm, fault_exit, "%#llx resolved %d", (unsigned long long, address), (bool, resolved));

static const char *access_name(unsigned flags)
{
	if (flags & FAULT_EXECUTE)
		return "execute";
	return flags & FAULT_WRITE ? "write" : "read";
}

void page_fault(uintptr_t address, uintptr_t ip, unsigned flags)
{
	bool resolved;

	KTRACE(mm, fault_enter, address, ip, (uint8_t)flags);
	resolved = !(flags & (FAULT_PRESENT | FAULT_EXECUTE)) && window_fill(address);
	KTRACE(mm, fault_exit, address, resolved);
	if (!resolved)
		panic("cannot %s %#lx, instruction at %#lx", access_name(flags), address, ip);
}
