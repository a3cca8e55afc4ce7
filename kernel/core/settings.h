/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Settings, for the files of the core. */
#ifndef KTRACE_CORE_SETTINGS_H
#define KTRACE_CORE_SETTINGS_H

#include "ktrace/settings.h"
#include "../base/span.h"

/* The rows of this image: NULL ends. */
KTRACE_HIDDEN struct ktrx_setting *ktrace_setting_first(void);
KTRACE_HIDDEN struct ktrx_setting *ktrace_setting_next(struct ktrx_setting *row);

/* Names the rows in the root. */
KTRACE_HIDDEN void ktrace_settings_place(void);

KTRACE_HIDDEN uint64_t ktrace_setting_value(const struct ktrx_setting *row);

/* Errors: READ_ONLY, ARGUMENT. */
KTRACE_HIDDEN int ktrace_setting_store(const struct ktrx_setting *row, uint64_t value);

/* As ktrace_setting_set(), without bringing states up to date. */
KTRACE_HIDDEN int ktrace_setting_assign(struct ktrace_span name, struct ktrace_span value);

#endif
