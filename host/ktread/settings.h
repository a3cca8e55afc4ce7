/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* The table of settings, with the values that a dump carries or that the guest's words hold now. */
#ifndef KTREAD_SETTINGS_H
#define KTREAD_SETTINGS_H

#include "layout.h"

/* Fills layout->setting. Rows are sound: kind, bit and the end of the name can be relied on. 0 or an error. */
int ktread_settings_read(struct ktread_layout *layout, const struct ktread_resolver *resolver);

#endif
