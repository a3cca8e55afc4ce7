/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* How often each call was made, how long it took in all and how often it failed: the table of strace -c. */
#ifndef KDUMP_COUNTS_H
#define KDUMP_COUNTS_H

#include "kdump/form.h"

extern const struct kdump_form kdump_form_counts;

#endif
