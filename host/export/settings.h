/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What a guest's events and settings are set to. */
#ifndef EXPORT_SETTINGS_H
#define EXPORT_SETTINGS_H

#include "base/output.h"
#include "ktread/ktread.h"

/*
 * A line an event, then a line a setting as the guest's own sysctl has it; or all of it as one JSON object.
 */
int settings_write(const struct ktread *trace, struct base_output *out, int json);

/* The words of a control text that make an event what it is: "on", "count+callers2". */
#define SETTINGS_STATE 32u
void settings_state_text(uint8_t state, uint8_t flags, char text[SETTINGS_STATE]);

#endif
