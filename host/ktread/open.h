/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What opening a trace acquired beside its cursors. */
#ifndef KTREAD_OPEN_H
#define KTREAD_OPEN_H

#include "trace.h"

void ktread_open_release(struct ktread *trace);

#endif
