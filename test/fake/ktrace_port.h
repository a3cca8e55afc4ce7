/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The port of a fake machine, whose state is a few variables. The record path calls hooks of the port. Each
 * of these calls is a point at which an interrupt can occur: fake_at(n, handler) runs the handler at the n-th
 * point from now.
 */
#ifndef TEST_FAKE_KTRACE_PORT_H
#define TEST_FAKE_KTRACE_PORT_H

#include <stdint.h>

#define KTRACE_MAX_CPUS	  4
#define KTRACE_BOOT_SLOTS 512

uint64_t fake_clock(void);
uint32_t fake_cpu(void);
uint32_t fake_thread(void);
unsigned long fake_pin(void);
void fake_unpin(unsigned long pinned);
uintptr_t fake_stack_end(uintptr_t here);
uint64_t *fake_reserve_word(void);
uint64_t fake_add(uint64_t *word, uint64_t n);
int fake_swap(uint64_t *word, uint64_t expected, uint64_t desired);
void fake_publish(uint64_t *word, uint64_t value);
void fake_barrier(void);

#define ktrace_arch_clock	  fake_clock
#define ktrace_arch_cpu		  fake_cpu
#define ktrace_arch_early_cpu	  fake_cpu
#define ktrace_arch_thread	  fake_thread
#define ktrace_arch_pin		  fake_pin
#define ktrace_arch_unpin	  fake_unpin
#define ktrace_arch_stack_end	  fake_stack_end
#define ktrace_arch_fetch_add	  fake_add
#define ktrace_arch_compare_swap  fake_swap
#define ktrace_arch_publish	  fake_publish
#define ktrace_arch_store_barrier fake_barrier

/*
 * If FAKE_GENERIC_WORD is defined, the library's rings contain the reserve words, as for a port that stores
 * none itself.
 */
#ifndef FAKE_GENERIC_WORD
#define ktrace_arch_reserve_word fake_reserve_word
#endif

#endif
