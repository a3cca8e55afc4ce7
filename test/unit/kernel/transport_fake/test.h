/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Includes cmocka and the headers that must be included before it. */
#ifndef TEST_TRANSPORT_TEST_H
#define TEST_TRANSPORT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#endif
