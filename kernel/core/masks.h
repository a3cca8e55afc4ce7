/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The settings that follow from the event table: "debug.ktr.<group>_enable", a bit for each event of the
 * group, the one it was declared with or in the order of declaration, and "debug.ktr.<group>.<event>_mask",
 * which of them is the event's.
 */
#ifndef KTRACE_CORE_MASKS_H
#define KTRACE_CORE_MASKS_H

#include "ktrace/port.h"
#include "ktrace/settings.h"
#include "../base/span.h"

/*
 * As ktrace_setting_get(), _set() and _each(), for these settings alone. Rows change in what is wanted of
 * them.
 */
#if KTRACE_MASKS
KTRACE_HIDDEN int ktrace_mask_get(struct ktrace_span name, char *buffer, size_t size);
KTRACE_HIDDEN int ktrace_mask_set(struct ktrace_span name, struct ktrace_span value);
KTRACE_HIDDEN int ktrace_mask_each(ktrace_setting_visit *visit, void *cookie);
#else
#define ktrace_mask_get(name, buffer, size) KTRACE_ERROR_NO_SETTING
#define ktrace_mask_set(name, value)	    KTRACE_ERROR_NO_SETTING
#define ktrace_mask_each(visit, cookie)	    0
#endif

#endif
