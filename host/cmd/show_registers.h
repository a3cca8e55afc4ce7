/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* ktrace show --registers: what stood in the CPUs' registers when the trace was taken. */
#ifndef CMD_SHOW_REGISTERS_H
#define CMD_SHOW_REGISTERS_H

#include "analyze/symbols.h"
#include "base/output.h"

/* `symbols` may be NULL. 0, or KTREAD_E_ABSENT with nothing written: the trace has none. */
int show_registers(const struct ktread *trace, struct symbols *symbols, struct base_output *out);

#endif
