/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#ifndef KTRACE_CONSOLE_FORMAT_H
#define KTRACE_CONSOLE_FORMAT_H

#include "ktrx/v2.h"
#include "line.h"

/* A row that is NULL stands for an event that no row can be found of. */

/* An event's full name as the original writes it: group_name. */
void ktrace_format_name(struct ktrace_line *line, const struct ktrx_event *row, uint32_t id);

/*
 * When and where it was recorded: the stamp in ticks, file:line, a blank. Without a place the place is where
 * the event was declared.
 */
void ktrace_format_origin(struct ktrace_line *line, const struct ktrx_event *row,
			  const struct ktrx_place *place, uint64_t stamp);

/*
 * The event's text with its fields filled in, as the host's tools show it; an event without a text as
 * name=value, one without a row as 32-bit words. Conversions take the fields in order, by the fields' own
 * types.
 */
void ktrace_format_payload(struct ktrace_line *line, const struct ktrx_event *row, const uint8_t *payload,
			   uint32_t bytes);

#endif
