/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Page faults: the window's are resolved, all others are bugs. */
#include "arch.h"
#include "panic.h"
#include "window.h"

void page_fault(uintptr_t address, uintptr_t ip, unsigned flags)
{
	bool resolved = !(flags & (FAULT_PRESENT | FAULT_EXECUTE)) && window_fill(address);

	if (!resolved)
		panic("cannot %s %#lx, instruction at %#lx",
		      flags & FAULT_EXECUTE ? "execute"
		      : flags & FAULT_WRITE ? "write"
					    : "read",
		      address, ip);
}
