/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A line a call as strace(1) has it: the call, its arguments with the paths and data that its records tell, its result, the
 * time it took. A call of one thread in which others have something to say is told in two lines, "unfinished" and "resumed".
 */
#ifndef KDUMP_ONELINE_H
#define KDUMP_ONELINE_H

#include "kdump/form.h"

extern const struct kdump_form kdump_form_oneline;

#endif
