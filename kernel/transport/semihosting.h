/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What an architecture with semihosting supplies: kernel/transport/<arch>/semihosting_<arch>.S. */
#ifndef KTRACE_TRANSPORT_SEMIHOSTING_H
#define KTRACE_TRANSPORT_SEMIHOSTING_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Does anybody outside answer? Makes one harmless call with a trap vector of its own, which steps over the
 * instruction if it turns out to be an ordinary exception. Any context that may mask interrupts.
 */
bool ktrace_semihosting_present(void);

/* One call; only after it was found present. */
int64_t ktrace_semihosting_call(uint64_t operation, const void *block);

#endif
