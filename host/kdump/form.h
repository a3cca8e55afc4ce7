/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A form of output is one struct of operations. */
#ifndef KDUMP_FORM_H
#define KDUMP_FORM_H

#include "kdump/context.h"

struct kdump_form {
	enum kdump_style style;
	/* 0 or KTREAD_E_MEMORY. `*state` is handed to the others. */
	int (*open)(void **state, struct kdump_context *context);
	/*
	 * Each record of the trace; `wanted`: it is one of those that were asked for, others may be needed to
	 * tell it. 0 or KTREAD_E_MEMORY.
	 */
	int (*record)(void *state, struct kdump_context *context, const struct ktread_proc_record *record,
		      bool wanted);
	/* What is left to say; frees `state`. */
	void (*close)(void *state, struct kdump_context *context);
};

#endif
