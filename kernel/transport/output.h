/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The one lock of the output side: at most one CPU and one context sends at a time, on whatever transport.
 * It is tried a bounded number of times and never waited for without end.
 */
#ifndef KTRACE_TRANSPORT_OUTPUT_H
#define KTRACE_TRANSPORT_OUTPUT_H

#include "ktrace/transport.h"

/* 0 or KTRACE_OUTPUT_BUSY. `seize`: takes it after the same wait, from whoever will never give it back. */
int ktrace_output_enter(bool seize);
void ktrace_output_leave(void);

/* Sends all bytes, retrying short writes. Inside enter and leave. */
int ktrace_output_send(struct ktrace_transport *transport, const void *data, size_t bytes);

/* Fills in a driver's operations, with a patience that suits registers; nothing is ready yet. */
void ktrace_output_init(struct ktrace_transport *transport, const char *name,
			int (*probe)(struct ktrace_transport *transport),
			int64_t (*send)(struct ktrace_transport *transport, const void *data, size_t bytes));

/* The transport meant, ready for use: 0, or KTRACE_OUTPUT_ABSENT. */
int ktrace_output_resolve(struct ktrace_transport **transport);

#endif
