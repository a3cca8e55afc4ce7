/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Perfetto traces as text, one line a packet, for comparison with what is expected. Written from the
 *published message definitions and sharing nothing with the exporter: a field number that is wrong there
 *shows here as an unknown field.
 *
 *	packet{timestamp=1000 trusted_packet_sequence_id=1 generic_kernel_task_state_event{cpu=0 tid=5
 *state=3}}
 */
#ifndef TEST_PERFETTO_TEXT_H
#define TEST_PERFETTO_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* 0, or -1 and a message on `to` where the bytes are no well-formed trace. */
int perfetto_text(FILE *to, const unsigned char *bytes, size_t length);

#endif
