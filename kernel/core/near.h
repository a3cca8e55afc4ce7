/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#ifndef KTRACE_CORE_NEAR_H
#define KTRACE_CORE_NEAR_H

#include "span.h"

/* Keeps the word for ktrace_refused(). */
KTRACE_HIDDEN void ktrace_refuse(struct ktrace_span word);

#endif
