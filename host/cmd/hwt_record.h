/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* ktrace hwt -c BACKEND -w FILE -- COMMAND: a recording is made. */
#ifndef CMD_HWT_RECORD_H
#define CMD_HWT_RECORD_H

#include "cmd/hwt_args.h"

/* Becomes the command, or returns the exit status after a message. */
int hwt_record(const struct hwt_args *args);

#endif
