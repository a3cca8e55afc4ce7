/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Names of threads: rows in lent memory, found by id. */
#include "state.h"

static volatile struct ktrx_thread *row_of(uint32_t thread)
{
	for (uint32_t i = 0; i < ktrace_state.threads; i++)
		if (ktrace_state.thread[i].id == thread + 1)
			return &ktrace_state.thread[i];
	return &ktrace_state
			.thread[ktrace_arch_fetch_add(&ktrace_state.threads_named, 1) % ktrace_state.threads];
}

int ktrace_thread_name(uint32_t thread, const char *name)
{
	volatile struct ktrx_thread *row;

	if (thread > KTRX_THREAD_MAX || !name)
		return KTRACE_ERROR_ARGUMENT;
	if (!ktrace_state.initialised)
		return KTRACE_ERROR_STATE;
	if (ktrace_state.threads == 0)
		return KTRACE_ERROR_MEMORY;
	row = row_of(thread);
	row->id = 0;
	ktrace_arch_store_barrier();
	ktrace_copy_text((char *)row->name, name, sizeof(row->name));
	ktrace_arch_store_barrier();
	row->id = thread + 1;
	return KTRACE_OK;
}
