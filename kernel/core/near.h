/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#ifndef KTRACE_CORE_NEAR_H
#define KTRACE_CORE_NEAR_H

#include "../base/span.h"

/* Keeps the word for ktrace_refused(), unless there is no error, which is what it returns. */
KTRACE_HIDDEN int ktrace_refuse(struct ktrace_span word, int error);

#endif
