/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Whose code is it: the kernel's or a program's? What the CPU and the kernel say of it comes before the
 * address.
 */
#ifndef WHY_SIDE_H
#define WHY_SIDE_H

#include "why/evidence.h"

struct why_places;

enum why_side { WHY_SIDE_UNKNOWN, WHY_SIDE_KERNEL, WHY_SIDE_USER };

/*
 * Once the evidence is complete: in which half of the address space the kernel runs, and whether there are
 * programs.
 */
void why_side_settle(struct why_evidence *evidence);

/*
 * By the address alone. The upper half of the address space is the kernel's. In a kernel that runs there, the
 * lower half is the programs', but for code that started the kernel, of which it is not known. In a kernel
 * that runs in the lower half its file decides, and an address outside the kernel is a program's only if user
 * mode was seen.
 */
enum why_side why_side_of(const struct why_evidence *evidence, uint64_t pc);

/* Where a CPU stands by its registers: by its privilege level where they have it, else by the address. */
enum why_side why_side_of_cpu(const struct why_evidence *evidence, const struct why_cpu *cpu);

/*
 * Of places where a thread that runs on that CPU was interrupted, all of them later than `since`: by the
 * CPU's registers if it still stands there, else by the mode that the kernel has set, else by the addresses.
 * Unknown where they contradict each other.
 */
enum why_side why_side_of_places(const struct why_evidence *evidence, const struct why_cpu *cpu,
				 const struct why_places *places, uint64_t since);

/* May the address be given a name of the kernel's file? Not if it is a program's. */
bool why_side_has_name(const struct why_evidence *evidence, uint64_t address);

#endif
