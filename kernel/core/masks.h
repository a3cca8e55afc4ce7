/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The settings that follow from the event table: "debug.ktr.<group>_enable", a bit for each event of the
 * group, the one it was declared with or in the order of declaration, and "debug.ktr.<group>.<event>_mask",
 * which of them is the event's.
 */
#ifndef KTRACE_CORE_MASKS_H
#define KTRACE_CORE_MASKS_H

#include "ktrace/settings.h"
#include "../base/span.h"

/*
 * As ktrace_setting_get(), _set() and _each(), for these settings alone. Rows change in what is wanted of
 * them.
 */
KTRACE_HIDDEN int ktrace_mask_get(struct ktrace_span name, char *buffer, size_t size);
KTRACE_HIDDEN int ktrace_mask_set(struct ktrace_span name, struct ktrace_span value);
KTRACE_HIDDEN int ktrace_mask_each(ktrace_setting_visit *visit, void *cookie);

/* Is the row the first one of its group? */
KTRACE_HIDDEN int ktrace_event_leads_group(const struct ktrx_event *event);

#endif
