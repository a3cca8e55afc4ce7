/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* ktrace hwt: one recording, one view of it. */
#ifndef CMD_HWT_VIEW_H
#define CMD_HWT_VIEW_H

#include "cmd/hwt_args.h"

/* Shows the recording as the command line has it. Messages are printed. Returns the exit status. */
int hwt_view(struct hwt_args *args);

#endif
