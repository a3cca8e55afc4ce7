/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A trace as kdump(1) prints it: a line a record, data below it. Where the two originals differ, a file of DragonFly's is
 * printed as by DragonFly's kdump, all others as by FreeBSD's; what neither has is ours.
 */
#ifndef KDUMP_LINES_H
#define KDUMP_LINES_H

#include "kdump/form.h"

extern const struct kdump_form kdump_form_lines;

#endif
