/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Prints Perfetto traces as text, a line for each packet, for comparison with expected text. Written from the
 * published message definitions without using code of the exporter: a wrong field number in the exporter
 * becomes an unknown field.
 *
 *	packet{timestamp=1000 trusted_packet_sequence_id=1 generic_kernel_task_state_event{cpu=0 tid=5 state=3}}
 */
#ifndef TEST_PERFETTO_TEXT_H
#define TEST_PERFETTO_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* Prints a trace to `to`. Returns 0, or -1 after printing a message to `to` if the trace is malformed. */
int perfetto_text(FILE *to, const unsigned char *bytes, size_t length);

#endif
