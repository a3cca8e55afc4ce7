/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests findings about interrupts without an EOI. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>

#include "ktrx/slot.h"
#include "unit/support/script.h"
#include "unit/support/why_cpus.h"
#include "unit/support/why_support.h"

static void disk_never_ends(enum eoi_time usually)
{
	why_ticks(10 * MS, 1000 * MS, 0, IDLE0, KERNEL);
	for (uint64_t n = 1; n <= 5; n++) {
		why_tick(n * 10 * MS, 1, IDLE1, KERNEL);
		why_interrupt(n * 10 * MS + MS, 1, IDLE1, DEVICE, KERNEL + 8, usually);
	}
	why_interrupt(60 * MS, 1, IDLE1, DEVICE, KERNEL + 8, NEVER);
}

static void interrupt_without_eoi_is_reported(void **state)
{
	(void)state;
	disk_never_ends(EARLY);
	assert_int_equal(why_judge()->verdict, WHY_MISSING_EOI);
	assert_true(why_judge()->actor[0].exact);
	assert_int_equal(why_judge()->base.certain, FINDING_CERTAIN);
	why_says("CPU 1 gets no more interrupts: no EOI was sent for interrupt 4 (disk)");
	why_says("it interrupted thread 2 (idle/1) at 0x100008");
	why_says("came 5 times there, with 5 EOIs");
}

static void missing_eoi_is_found_if_earlier_ones_were_late(void **state)
{
	(void)state;
	disk_never_ends(LATE);
	assert_int_equal(why_count(WHY_MISSING_EOI), 1);
}

static void interrupt_that_needs_no_eoi_is_not_reported(void **state)
{
	(void)state;
	disk_never_ends(NEVER);
	assert_int_equal(why_count(WHY_MISSING_EOI), 0);
}

static void eoi_is_not_missing_if_interrupts_follow(void **state)
{
	(void)state;
	disk_never_ends(EARLY);
	why_ticks(70 * MS, 1000 * MS, 1, IDLE1, KERNEL);
	assert_int_equal(why_count(WHY_MISSING_EOI), 0);
}

static void eoi_is_not_missing_with_interrupts_disabled(void **state)
{
	(void)state;
	disk_never_ends(EARLY);
	script_cpu(1)->interrupts = KTRX_INTERRUPTS_OFF;
	assert_int_equal(why_count(WHY_MISSING_EOI), 0);
}

/* Slots were lost right before the last interrupt, and its EOI may be in one of them. */
static void eoi_may_be_lost_in_gap(void **state)
{
	(void)state;
	disk_never_ends(EARLY);
	script_event(OTHER, 70 * MS, 1, IDLE1)->lost = 10;
	assert_int_equal(why_count(WHY_MISSING_EOI), 0);
}

/*
 * CPU 0 ends the interrupts with this number at another controller, and does not report it. On CPU 1, each
 * one but the newest had an EOI.
 */
static void unreported_eois_of_another_cpu_do_not_hide_missing_eoi(void **state)
{
	(void)state;
	for (uint64_t n = 1; n <= 5; n++) {
		why_interrupt(n * 10 * MS + MS, 0, IDLE0, DEVICE, KERNEL + 8, NEVER);
		why_interrupt(n * 10 * MS - MS, 1, IDLE1, DEVICE, KERNEL + 8, EARLY);
	}
	disk_never_ends(EARLY);
	assert_int_equal(why_count(WHY_MISSING_EOI), 1);
}

/* ---- Timers whose interrupts have no end at the controller ---------------------------------------- */

/* A tick, as on RISC-V: the timer is not connected to the interrupt controller. */
static void tick_without_eoi(uint64_t stamp, uint32_t cpu, uint32_t thread)
{
	why_interrupt(stamp, cpu, thread, TIMER, KERNEL, NEVER);
	script_cpu(cpu)->heartbeats++;
	script_cpu(cpu)->heartbeat_stamp = stamp + 100;
	script_cpu(cpu)->pc = KERNEL;
	script_cpu(cpu)->thread = thread;
}

/* CPU 0 ticks as long as the trace lasts. CPU 1 takes interrupts of the disk, and then its last two ticks. */
static void timer_of_cpu_1_stops(void)
{
	for (uint64_t stamp = 10 * MS; stamp <= 2000 * MS; stamp += 10 * MS)
		tick_without_eoi(stamp, 0, IDLE0);
	for (uint64_t stamp = 11 * MS; stamp <= 51 * MS; stamp += 10 * MS)
		why_interrupt(stamp, 1, IDLE1, DEVICE, KERNEL + 8, EARLY);
	tick_without_eoi(60 * MS, 1, IDLE1);
	tick_without_eoi(70 * MS, 1, IDLE1);
}

static void tick_that_never_has_an_eoi_elsewhere_needs_none(void **state)
{
	(void)state;
	timer_of_cpu_1_stops();
	assert_int_equal(why_count(WHY_MISSING_EOI), 0);
}

/* The same, if only the kernel's tables show the interrupts of CPU 1. */
static void counts_of_another_cpu_show_that_ticks_need_no_eoi(void **state)
{
	(void)state;
	for (uint64_t stamp = 10 * MS; stamp <= 2000 * MS; stamp += 10 * MS)
		tick_without_eoi(stamp, 0, IDLE0);
	script_event(OTHER, 20 * MS, 1, IDLE1);
	script_cpu(1)->hooks |= KTRX_HOOK_EOI | KTRX_HOOK_IRQ;
	script_cpu(1)->irqs = 6;
	script_cpu(1)->eois = 5;
	script_cpu(1)->irq = TIMER;
	script_cpu(1)->eoi = DEVICE;
	script_cpu(1)->irq_stamp = script_cpu(1)->heartbeat_stamp = script_cpu(1)->now = 20 * MS;
	script_cpu(1)->heartbeats = 1;
	assert_int_equal(why_count(WHY_MISSING_EOI), 0);
}

/* On a machine with one CPU, or if every CPU had few ticks, only the machine shows it. */
static void first_tick_on_riscv_needs_no_eoi(void **state)
{
	(void)state;
	script_info()->machine = EM_RISCV;
	why_ticks(10 * MS, 2000 * MS, 0, IDLE0, KERNEL);
	for (uint64_t stamp = 11 * MS; stamp <= 51 * MS; stamp += 10 * MS)
		why_interrupt(stamp, 1, IDLE1, DEVICE, KERNEL + 8, EARLY);
	why_interrupt(60 * MS, 1, IDLE1, TIMER + 100, KERNEL, NEVER);
	script_cpu(1)->heartbeats = 1;
	script_cpu(1)->heartbeat_stamp = 60 * MS + 200;
	assert_int_equal(why_count(WHY_MISSING_EOI), 0);
}

/* The IPIs of RISC-V are not connected to the interrupt controller, either. */
static void first_ipi_on_riscv_needs_no_eoi(void **state)
{
	(void)state;
	script_info()->machine = EM_RISCV;
	why_ticks(10 * MS, 2000 * MS, 0, IDLE0, KERNEL);
	for (uint64_t stamp = 11 * MS; stamp <= 51 * MS; stamp += 10 * MS) {
		why_tick(stamp - MS, 1, IDLE1, KERNEL);
		why_interrupt(stamp, 1, IDLE1, DEVICE, KERNEL + 8, EARLY);
	}
	why_interrupt(60 * MS, 1, IDLE1, TIMER + 100, KERNEL, NEVER);
	assert_int_equal(why_count(WHY_MISSING_EOI), 0);
}

/*
 * The kernel's tables show only the number of the newest interrupt of CPU 1. Of this number, no EOI is known.
 * The ticks of CPU 0 have EOIs.
 */
static void counts_lack_one_eoi(void)
{
	why_ticks(10 * MS, 2000 * MS, 0, IDLE0, KERNEL);
	script_event(OTHER, 20 * MS, 1, IDLE1);
	script_cpu(1)->hooks |= KTRX_HOOK_EOI | KTRX_HOOK_IRQ;
	script_cpu(1)->irqs = 6;
	script_cpu(1)->eois = 5;
	script_cpu(1)->irq = TIMER + 100;
	script_cpu(1)->eoi = DEVICE;
	script_cpu(1)->irq_stamp = script_cpu(1)->heartbeat_stamp = script_cpu(1)->now = 20 * MS;
	script_cpu(1)->heartbeats = 1;
}

static void counts_show_missing_eoi(void **state)
{
	(void)state;
	counts_lack_one_eoi();
	assert_int_equal(why_count(WHY_MISSING_EOI), 1);
}

static void counts_of_first_tick_on_riscv_need_no_eoi(void **state)
{
	(void)state;
	script_info()->machine = EM_RISCV;
	counts_lack_one_eoi();
	assert_int_equal(why_count(WHY_MISSING_EOI), 0);
}

/* On another CPU, as many interrupts are in progress as lack an EOI. */
static void interrupts_in_progress_do_not_hide_missing_eoi(void **state)
{
	(void)state;
	counts_lack_one_eoi();
	script_cpu(0)->irqs += 3;
	script_cpu(0)->nesting = 3;
	assert_int_equal(why_count(WHY_MISSING_EOI), 1);
}

static void device_on_riscv_needs_an_eoi(void **state)
{
	(void)state;
	script_info()->machine = EM_RISCV;
	disk_never_ends(EARLY);
	assert_int_equal(why_count(WHY_MISSING_EOI), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, why_cpus_begin, why_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(interrupt_without_eoi_is_reported),
		TEST(missing_eoi_is_found_if_earlier_ones_were_late),
		TEST(interrupt_that_needs_no_eoi_is_not_reported),
		TEST(eoi_is_not_missing_if_interrupts_follow),
		TEST(eoi_is_not_missing_with_interrupts_disabled),
		TEST(eoi_may_be_lost_in_gap),
		TEST(unreported_eois_of_another_cpu_do_not_hide_missing_eoi),
		TEST(tick_that_never_has_an_eoi_elsewhere_needs_none),
		TEST(counts_of_another_cpu_show_that_ticks_need_no_eoi),
		TEST(first_tick_on_riscv_needs_no_eoi),
		TEST(first_ipi_on_riscv_needs_no_eoi),
		TEST(counts_show_missing_eoi),
		TEST(interrupts_in_progress_do_not_hide_missing_eoi),
		TEST(counts_of_first_tick_on_riscv_need_no_eoi),
		TEST(device_on_riscv_needs_an_eoi),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
