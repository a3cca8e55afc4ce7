/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* ktrace, kernel side: include this. Events are in event.h, what steers them in control.h. */
#ifndef KTRACE_H
#define KTRACE_H

#include "ktrace/clock.h"
#include "ktrace/control.h"
#include "ktrace/event.h"
#include "ktrace/facts.h"
#include "ktrace/hooks.h"
#include "ktrace/settings.h"

#endif
