/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The kernel side of ktrace: a kernel includes this header. event.h declares and records events, control.h
 * configures ktrace.
 */
#ifndef KTRACE_H
#define KTRACE_H

#include "ktrace/clock.h"
#include "ktrace/control.h"
#include "ktrace/event.h"
#include "ktrace/facts.h"
#include "ktrace/hooks.h"
#include "ktrace/settings.h"

#endif
