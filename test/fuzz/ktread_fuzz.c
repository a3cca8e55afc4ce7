/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The reader as a fuzz target. With clang: -fsanitize=fuzzer,address,undefined and this file, ktread_exercise.c
 * and the sources in host/ktread. Linked with replay.c instead, it replays files and folders without a fuzzer.
 */
#include <stdint.h>

#include "ktread_exercise.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	ktread_exercise_bytes(bytes, size);
	return 0;
}
