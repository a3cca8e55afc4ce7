/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The functions of a kernel's ELF file, and the places at which these functions store the registers of their
 * callers. The contents of the file are not trusted.
 */
#ifndef PROFILE_NAMES_H
#define PROFILE_NAMES_H

#include <stdint.h>

#include "analyze/symbols.h"

#define PROFILE_NAMES_MOST (1u << 20) /* maximum number of functions; further functions have no names */
#define PROFILE_NO_NAME	   UINT32_MAX

struct profile_names;

/*
 * Reads the kernel's ELF file. `machine`: ELF e_machine of the guest.
 * Returns 0, or -1 with *names NULL and a message at *why. The other functions treat NULL as a file without
 * functions.
 */
int profile_names_open(struct profile_names **names, const char *path, uint16_t machine, const char **why);
void profile_names_close(struct profile_names *names);
uint32_t profile_names_count(const struct profile_names *names);
/*
 * Returns the number of the function that contains the address; PROFILE_NO_NAME if there is no such function.
 */
uint32_t profile_names_find(const struct profile_names *names, uint64_t address);
/* Returns the address of function `n`; 0 if there is none. */
uint64_t profile_names_address(const struct profile_names *names, uint32_t n);
/* Returns the name of function `n`. The name is demangled if possible, and may contain any bytes. */
const char *profile_names_at(const struct profile_names *names, uint32_t n);
/* A stack_find_frame (analyze/stack_walk.h) whose `context` is a struct profile_names, or NULL. */
const struct symbols_frame *profile_names_frame(void *context, uint64_t address);

#endif
