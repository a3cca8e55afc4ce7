/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#ifndef CMD_FOREIGN_CALLS_H
#define CMD_FOREIGN_CALLS_H

#include "ktread/ktread.h"

/*
 * A process trace that does not bring a table of its kernel's calls gets the one that was built in for that kernel, as kdump
 * does it. 0, or a negative KTREAD_E_*.
 */
int foreign_calls_set(struct ktread *trace);

#endif
