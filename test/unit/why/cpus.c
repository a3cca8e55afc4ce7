/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What is wrong with CPUs: interrupts that never end, come too often or not at all, code that spins, kernels that end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <string.h>

#include "ktrx/slot.h"
#include "unit/support/script.h"
#include "unit/support/why_support.h"

#define V(value) ((uint64_t)(value))

#define IDLE0	1u
#define IDLE1	2u
#define WORKER	5u
#define CLIENT	6u
#define TIMER	0u
#define DEVICE	4u
#define KERNEL	0x100000u     /* addresses: the kernel's, … */
#define PROGRAM 0x10000001000 /* … and a program's */
#define LOCK_A	0x1000u
#define LOCK_B	0x2000u

enum { OTHER = 1, SWITCH, ENTER, EXIT, EOI, CALL, RETURN, FAIL, ACQUIRE, PANIC, FAULT };

static int begin(void **state)
{
	int error = why_setup(state);

	script_type(OTHER, "mine", "other", "");
	script_type(SWITCH, "sched", "switch", "u32 prev,u32 next,u8 state");
	script_type(ENTER, "irq", "enter", "u32 irq,string name,u64 ip");
	script_type(EXIT, "irq", "exit", "u32 irq");
	script_type(EOI, "irq", "eoi", "u32 irq");
	script_type(CALL, "syscall", "enter", "u32 nr");
	script_type(RETURN, "syscall", "exit", "u32 nr,i64 result");
	script_type(FAIL, "lock", "fail", "u64 lock,string name,string kind,u32 holder,u64 place");
	script_type(ACQUIRE, "lock", "acquire", "u64 lock");
	script_type(PANIC, "ktrace", "panic", "string message");
	script_type(FAULT, "mm", "fault_enter", "u64 address,u64 ip");
	script_thread(IDLE0, "idle/0");
	script_thread(IDLE1, "idle/1");
	script_thread(WORKER, "worker");
	script_thread(CLIENT, "client");
	script_info()->cpus = 2;
	script_info()->self = KERNEL;
	why_cpu_row(0, KTRX_MODE_IDLE);
	why_cpu_row(1, KTRX_MODE_IDLE);
	script_cpu(0)->interrupts = script_cpu(1)->interrupts = KTRX_INTERRUPTS_ON;
	return error;
}

static void by_interrupt(uint16_t id, uint64_t stamp, uint32_t cpu, uint32_t thread, uint64_t value)
{
	script_event(id, stamp, cpu, thread, value)->context = KTRX_CONTEXT_INTERRUPT;
}

/* An interrupt whose handler returns; the controller is told early, as most are, late, or not at all. */
enum told { EARLY, LATE, NEVER };
static void interrupt(uint64_t stamp, uint32_t cpu, uint32_t thread, uint32_t irq, uint64_t ip,
		      enum told told)
{
	if (told == EARLY)
		by_interrupt(EOI, stamp, cpu, thread, V(irq));
	script_event(ENTER, stamp + 100, cpu, thread, V(irq), irq == TIMER ? "timer" : "disk", V(ip))
		->context = KTRX_CONTEXT_INTERRUPT;
	if (told == LATE)
		by_interrupt(EOI, stamp + 200, cpu, thread, V(irq));
	by_interrupt(EXIT, stamp + 300, cpu, thread, V(irq));
	script_cpu(cpu)->now = script_cpu(cpu)->irq_stamp = stamp + 100;
	script_cpu(cpu)->irqs++;
	script_cpu(cpu)->irq = irq;
	script_cpu(cpu)->eois += told != NEVER;
	if (told != NEVER)
		script_cpu(cpu)->eoi = irq;
}

static void tick(uint64_t stamp, uint32_t cpu, uint32_t thread, uint64_t ip)
{
	struct ktrx_cpu *row = script_cpu(cpu);

	interrupt(stamp, cpu, thread, TIMER, ip, EARLY);
	row->sample[row->heartbeats++ % KTRX_SAMPLES] = ip;
	row->heartbeat_stamp = stamp + 100;
	row->pc = ip;
	row->thread = thread;
}

/* Ticks every 10 ms from one time to another. */
static void ticks(uint64_t from, uint64_t to, uint32_t cpu, uint32_t thread, uint64_t ip)
{
	for (uint64_t stamp = from; stamp <= to; stamp += 10 * MS)
		tick(stamp, cpu, thread, ip);
}

static void runs_on(uint32_t cpu, uint64_t stamp, uint32_t from, uint32_t to)
{
	script_event(SWITCH, stamp, cpu, from, V(from), V(to), V(from == WORKER ? 2 : 0));
}

/* ---- Interrupts that are not ended --------------------------------------------------------------- */

static void disk_never_ends(enum told usually)
{
	ticks(10 * MS, 1000 * MS, 0, IDLE0, KERNEL);
	for (uint64_t n = 1; n <= 5; n++) {
		tick(n * 10 * MS, 1, IDLE1, KERNEL);
		interrupt(n * 10 * MS + MS, 1, IDLE1, DEVICE, KERNEL + 8, usually);
	}
	interrupt(60 * MS, 1, IDLE1, DEVICE, KERNEL + 8, NEVER);
}

static void an_interrupt_that_is_not_ended(void **state)
{
	(void)state;
	disk_never_ends(EARLY);
	assert_int_equal(why_judge()->verdict, WHY_MISSING_EOI);
	assert_true(why_judge()->actor[0].exact);
	assert_int_equal(why_judge()->base.certain, FINDING_CERTAIN);
	why_says("CPU 1 gets no interrupts any more: interrupt 4 (disk)");
	why_says("it interrupted thread 2 (idle/1) at 0x100008");
	why_says("came 5 times there and was ended 5 times");
}

static void an_interrupt_that_is_ended_late(void **state)
{
	(void)state;
	disk_never_ends(LATE);
	assert_int_equal(why_count(WHY_MISSING_EOI), 1);
}

static void one_that_needs_no_end(void **state)
{
	(void)state;
	disk_never_ends(NEVER);
	assert_int_equal(why_count(WHY_MISSING_EOI), 0);
}

static void nothing_is_missing_while_more_come(void **state)
{
	(void)state;
	disk_never_ends(EARLY);
	ticks(70 * MS, 1000 * MS, 1, IDLE1, KERNEL);
	assert_int_equal(why_count(WHY_MISSING_EOI), 0);
}

static void nothing_is_missing_with_interrupts_off(void **state)
{
	(void)state;
	disk_never_ends(EARLY);
	script_cpu(1)->interrupts = KTRX_INTERRUPTS_OFF;
	assert_int_equal(why_count(WHY_MISSING_EOI), 0);
}

/* What was lost right before the last interrupt may have been its end. */
static void no_end_is_missed_across_a_gap(void **state)
{
	(void)state;
	disk_never_ends(EARLY);
	script_event(OTHER, 70 * MS, 1, IDLE1)->lost = 10;
	assert_int_equal(why_count(WHY_MISSING_EOI), 0);
}

/* ---- Storms -------------------------------------------------------------------------------------- */

static void storm(uint64_t every, uint32_t count)
{
	uint64_t begin = 1000 * MS - count * every;

	ticks(10 * MS, 1000 * MS, 0, IDLE0, KERNEL);
	tick(10 * MS, 1, WORKER, KERNEL);
	for (uint32_t n = 0; n < count; n++)
		interrupt(begin + n * every, 1, WORKER, DEVICE, KERNEL + 8, EARLY);
}

static void an_interrupt_that_comes_all_the_time(void **state)
{
	(void)state;
	storm(5000, 200);
	assert_int_equal(why_judge()->verdict, WHY_IRQ_STORM);
	assert_true(why_judge()->actor[0].exact); /* the instruction that was interrupted */
	assert_int_equal(why_judge()->base.certain, FINDING_CERTAIN);
	why_says("interrupt 4 (disk) comes again and again on CPU 1");
	why_says("5.0 us apart");
	why_says("thread 5 (worker) stands at 0x100008");
}

/* The ring holds a hundred of them, and the CPU has counted the others. */
static void a_storm_in_a_small_ring(void **state)
{
	(void)state;
	ticks(10 * MS, 1000 * MS, 0, IDLE0, KERNEL);
	tick(10 * MS, 1, IDLE1, KERNEL);
	script_event(OTHER, 999 * MS, 1, IDLE1)->lost = 100000;
	for (uint64_t n = 0; n < 100; n++)
		interrupt(999 * MS + n * 5000, 1, IDLE1, DEVICE, KERNEL + 8, EARLY);
	script_cpu(1)->irqs = 50000;
	assert_int_equal(why_judge()->verdict, WHY_IRQ_STORM);
}

/* What went before lost slots does not show that there is time for other things now. */
static void a_flood_behind_a_gap(void **state)
{
	(void)state;
	ticks(10 * MS, 1000 * MS, 0, IDLE0, KERNEL);
	for (uint64_t n = 0; n < 4000; n++)
		script_event(OTHER, 10 * MS + n, 1, WORKER);
	script_event(OTHER, 20 * MS, 1, WORKER)->lost = 1000;
	ticks(850 * MS, 990 * MS, 1, WORKER, KERNEL);
	for (uint64_t n = 1; n < 2500; n++)
		interrupt(850 * MS + n * 45000, 1, WORKER, DEVICE, KERNEL + n, EARLY);
	assert_int_equal(why_count(WHY_IRQ_STORM), 1);
}

static void a_few_are_no_storm(void **state)
{
	(void)state;
	storm(5000, 20);
	assert_int_equal(why_count(WHY_IRQ_STORM), 0);
}

static void slow_ones_are_no_storm(void **state)
{
	(void)state;
	storm(4 * MS, 200);
	assert_int_equal(why_count(WHY_IRQ_STORM), 0);
}

/* A busy device: each interrupt is ended, and until the next one the CPU could do anything. */
static void many_interrupts_of_an_idle_cpu(bool ticks_rest)
{
	ticks(10 * MS, 1000 * MS, 0, IDLE0, KERNEL);
	tick(10 * MS, 1, IDLE1, KERNEL);
	for (uint64_t stamp = 800 * MS; stamp < 1000 * MS; stamp += MS / 4) {
		interrupt(stamp, 1, IDLE1, DEVICE, KERNEL + 8, EARLY);
		if (!ticks_rest && stamp % (10 * MS) == 0)
			tick(stamp + 1000, 1, IDLE1, KERNEL + 8);
	}
}

static void many_that_are_ended_are_no_storm(void **state)
{
	(void)state;
	many_interrupts_of_an_idle_cpu(false);
	assert_int_equal(why_count(WHY_IRQ_STORM), 0);
	assert_int_equal(why_judge()->verdict, WHY_IDLE);
}

static void many_without_ticks_are_no_storm(void **state)
{
	(void)state;
	many_interrupts_of_an_idle_cpu(true);
	assert_int_equal(why_count(WHY_IRQ_STORM), 0);
	assert_int_equal(why_judge()->verdict, WHY_IDLE);
}

/* ---- Timers -------------------------------------------------------------------------------------- */

/* CPU 1 gets no ticks since 100 ms, and other interrupts up to the end. */
static struct ktrx_holder *no_ticks(uint64_t deadline)
{
	struct ktrx_holder *sleeper = why_thread_row(WORKER, "worker", KTRX_THREAD_WAITING, 1);

	why_waits(sleeper, KTRX_WAIT_TIME, 0x3000, "timers", 90 * MS);
	sleeper->deadline = deadline;
	ticks(10 * MS, 1000 * MS, 0, IDLE0, KERNEL);
	ticks(10 * MS, 100 * MS, 1, IDLE1, KERNEL);
	for (uint64_t stamp = 150 * MS; stamp < 1000 * MS; stamp += 50 * MS)
		interrupt(stamp, 1, IDLE1, DEVICE, KERNEL, EARLY);
	return sleeper;
}

static void a_sleeper_that_no_tick_wakes(void **state)
{
	(void)state;
	no_ticks(200 * MS);
	assert_int_equal(why_judge()->verdict, WHY_DEAD_TIMER);
	assert_int_equal(why_judge()->base.certain, FINDING_CERTAIN);
	why_says("the timer of CPU 1 has stopped");
	why_says("thread 5 (worker)");
	why_says("800.0 ms ago");
}

/* Interrupts are off where the CPU was looked at: for long, or as whoever takes a lock has them off. */
static void a_dead_timer_and_interrupts_off_since(uint64_t since, uint32_t expected)
{
	no_ticks(200 * MS);
	script_cpu(1)->interrupts = KTRX_INTERRUPTS_OFF;
	script_cpu(1)->interrupts_stamp = since;
	assert_int_equal(why_count(WHY_DEAD_TIMER), expected);
}

static void a_dead_timer_is_seen_from_within_a_lock(void **state)
{
	(void)state;
	a_dead_timer_and_interrupts_off_since(950 * MS, 1);
}

static void interrupts_off_for_long_are_no_dead_timer(void **state)
{
	(void)state;
	a_dead_timer_and_interrupts_off_since(150 * MS, 0);
}

static void ticks_may_rest(void **state)
{
	(void)state;
	no_ticks(0);
	assert_int_equal(why_count(WHY_DEAD_TIMER), 0);
}

static void a_sleeper_may_have_time_left(void **state)
{
	(void)state;
	no_ticks(990 * MS);
	assert_int_equal(why_count(WHY_DEAD_TIMER), 0);
}

/* The host ran neither CPU for 600 ms: the one did nothing else meanwhile, either. */
static void a_host_without_time_stops_no_timer(void **state)
{
	struct ktrx_holder *sleeper = why_thread_row(WORKER, "worker", KTRX_THREAD_WAITING, 1);

	(void)state;
	why_waits(sleeper, KTRX_WAIT_TIME, 0x3000, "timers", 90 * MS);
	sleeper->deadline = 120 * MS;
	ticks(10 * MS, 400 * MS, 0, IDLE0, KERNEL);
	ticks(10 * MS, 100 * MS, 1, IDLE1, KERNEL);
	script_event(OTHER, 750 * MS, 0, IDLE0);
	assert_int_equal(why_count(WHY_DEAD_TIMER), 0);
}

/* ---- Interrupts off ------------------------------------------------------------------------------ */

/* The worker has CPU 1 for 50 ms without a tick there; with or without events, and ticks elsewhere. */
static void off_for_50_ms(bool events, bool others)
{
	ticks(10 * MS, others ? 1000 * MS : 100 * MS, 0, IDLE0, KERNEL);
	tick(90 * MS, 1, IDLE1, KERNEL);
	runs_on(1, 100 * MS, IDLE1, WORKER);
	for (uint64_t stamp = 101 * MS; stamp < 150 * MS && events; stamp += MS)
		script_event(OTHER, stamp, 1, WORKER);
	tick(150 * MS, 1, WORKER, KERNEL + 16);
	runs_on(1, 151 * MS, WORKER, IDLE1);
	ticks(160 * MS, 1000 * MS, 1, IDLE1, KERNEL);
}

static void interrupts_that_were_off(void **state)
{
	(void)state;
	off_for_50_ms(true, true);
	assert_int_equal(why_judge()->verdict, WHY_IRQS_OFF);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
	why_says("thread 5 (worker) had interrupts off on CPU 1 for up to 50.0 ms");
	why_says("came at 0x100010");
}

/* The host may not have run the CPU, or no timer at all. */
static void silence_is_no_proof(void **state)
{
	(void)state;
	off_for_50_ms(false, true);
	assert_int_not_equal(why_judge()->verdict, WHY_IRQS_OFF);
}

static void nobody_else_took_any(void **state)
{
	(void)state;
	off_for_50_ms(true, false);
	assert_int_not_equal(why_judge()->verdict, WHY_IRQS_OFF);
}

/* A counter that is set back, beyond what the reader puts in order, makes no time. */
static void a_clock_that_goes_back(void **state)
{
	const struct why_quiet *quiet;
	struct why_evidence *evidence;

	(void)state;
	interrupt(100 * MS, 1, WORKER, TIMER, KERNEL, EARLY);
	script_event(OTHER, 50 * MS, 1, WORKER);
	interrupt(60 * MS, 1, WORKER, TIMER, KERNEL, EARLY);
	assert_int_equal(why_evidence_read(&evidence, script_trace(), NULL), 0);
	quiet = &evidence->cpu[1].interrupts.quiet;
	assert_true(quiet->from <= quiet->to);
	why_evidence_free(evidence);
}

static void interrupts_that_stay_off(void **state)
{
	(void)state;
	ticks(10 * MS, 1000 * MS, 0, IDLE0, KERNEL);
	ticks(10 * MS, 50 * MS, 1, WORKER, KERNEL);
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 1);
	script_cpu(1)->interrupts = KTRX_INTERRUPTS_OFF;
	script_cpu(1)->interrupts_pc = KERNEL + 32;
	assert_int_equal(why_judge()->verdict, WHY_IRQS_OFF);
	why_says("turned off in 0x100020");
	why_says("to be surer: the registers of CPU 1");
}

/* ---- Spinning ------------------------------------------------------------------------------------ */

static void spins_until(uint64_t end, uint64_t low, uint64_t high)
{
	ticks(10 * MS, end, 0, IDLE0, KERNEL);
	runs_on(1, 5 * MS, IDLE1, WORKER);
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 1);
	script_cpu(1)->mode = high > 2 * KERNEL ? KTRX_MODE_USER : KTRX_MODE_KERNEL;
	script_cpu(1)->user_exits = script_cpu(1)->user_enters = 1;
	script_event(CALL, 6 * MS, 1, WORKER, V(1));
	script_event(RETURN, 7 * MS, 1, WORKER, V(1), V(0));
	for (uint64_t stamp = 10 * MS; stamp <= end; stamp += 20 * MS) {
		tick(stamp, 1, WORKER, low);
		tick(stamp + 10 * MS, 1, WORKER, high);
	}
}

static void spins_at(uint64_t low, uint64_t high)
{
	spins_until(2500 * MS, low, high);
}

static void a_program_that_spins(void **state)
{
	(void)state;
	spins_at(PROGRAM, PROGRAM + 8);
	assert_int_equal(why_judge()->verdict, WHY_USER_SPIN);
	assert_int_equal(why_judge()->base.certain, FINDING_LIKELY);
	why_says("thread 5 (worker) spins in user mode on CPU 1");
	why_says("it has made 1 system calls in the trace, and none is under way");
}

/* It may have done with it a moment later. */
static void a_second_is_no_proof(void **state)
{
	(void)state;
	spins_until(1500 * MS, KERNEL + 4, KERNEL + 16);
	assert_int_equal(why_judge()->verdict, WHY_BUSY);
	assert_int_equal(why_count(WHY_KERNEL_SPIN), 1);
	why_says("a trace of a later moment");
}

static void a_loop_of_many_instructions_may_compute(void **state)
{
	(void)state;
	spins_at(PROGRAM, PROGRAM + 64);
	assert_int_equal(why_judge()->verdict, WHY_BUSY);
	assert_int_equal(why_count(WHY_USER_SPIN), 1);
}

/* As its row says: a thread that asks for what is had without a spinlock. */
static void a_thread_that_waits_does_not_spin(void **state)
{
	(void)state;
	spins_at(KERNEL + 4, KERNEL + 16);
	why_waits(script_holder(WORKER + 1), KTRX_WAIT_SPIN, LOCK_A, "call of all CPUs", 500 * MS);
	assert_int_equal(why_count(WHY_KERNEL_SPIN), 0);
}

static void a_program_that_computes(void **state)
{
	(void)state;
	spins_at(PROGRAM, PROGRAM + 0x2000);
	assert_int_equal(why_count(WHY_USER_SPIN), 0);
}

static void a_thread_of_the_kernel_that_spins(void **state)
{
	(void)state;
	spins_at(KERNEL + 4, KERNEL + 16);
	assert_int_equal(why_judge()->verdict, WHY_KERNEL_SPIN);
	why_says("thread 5 (worker) spins in the kernel on CPU 1, in 0x100010");
}

static void a_spin_begins_behind_a_gap(void **state)
{
	(void)state;
	spins_at(PROGRAM, PROGRAM + 8);
	script_event(OTHER, 2300 * MS, 0, IDLE0)->lost = 3;
	assert_int_equal(why_count(WHY_USER_SPIN), 0);
}

static void one_that_acts_does_not_spin(void **state)
{
	(void)state;
	spins_at(KERNEL + 4, KERNEL + 16);
	script_event(OTHER, 2490 * MS, 1, WORKER);
	assert_int_equal(why_count(WHY_KERNEL_SPIN), 0);
}

static void a_spin_with_interrupts_off(void **state)
{
	(void)state;
	ticks(10 * MS, 1100 * MS, 0, IDLE0, KERNEL);
	ticks(10 * MS, 50 * MS, 1, WORKER, KERNEL);
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 1);
	script_cpu(1)->interrupts = KTRX_INTERRUPTS_OFF;
	script_info()->registers = "cpu 1 pc=100040 sp=2000\nstack 1 100050\n";
	assert_int_equal(why_judge()->verdict, WHY_KERNEL_SPIN);
	assert_int_equal(why_count(WHY_IRQS_OFF), 0);
	why_says("with interrupts off on CPU 1, in 0x100040");
	why_says("called from 0x100050");
}

/* A busy host may have left the virtual CPU without time. */
static void half_a_second_with_interrupts_off_is_no_spin(void **state)
{
	(void)state;
	ticks(10 * MS, 600 * MS, 0, IDLE0, KERNEL);
	ticks(10 * MS, 50 * MS, 1, WORKER, KERNEL);
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 1);
	script_cpu(1)->interrupts = KTRX_INTERRUPTS_OFF;
	script_info()->registers = "cpu 1 pc=100040 sp=2000\nstack 1 100050\n";
	assert_int_equal(why_count(WHY_KERNEL_SPIN), 0);
}

static void one_that_records_with_interrupts_off_does_not_spin(void **state)
{
	(void)state;
	ticks(10 * MS, 1000 * MS, 0, IDLE0, KERNEL);
	ticks(10 * MS, 50 * MS, 1, WORKER, KERNEL);
	script_event(OTHER, 900 * MS, 1, WORKER);
	script_cpu(1)->interrupts = KTRX_INTERRUPTS_OFF;
	script_info()->registers = "cpu 1 pc=100040 sp=2000\n";
	assert_int_equal(why_count(WHY_KERNEL_SPIN), 0);
}

static void who_waits_for_a_lock_does_not_spin(void **state)
{
	(void)state;
	spins_at(KERNEL + 4, KERNEL + 16);
	why_waits(script_holder(KTRX_HOLDER_CPU | 1), KTRX_WAIT_SPIN, LOCK_A, "aye", 500 * MS);
	assert_int_equal(why_count(WHY_KERNEL_SPIN), 0);
}

/* ---- Livelocks ----------------------------------------------------------------------------------- */

static void tries(uint64_t stamp, uint32_t thread, uint64_t lock, uint32_t holder)
{
	script_event(FAIL, stamp, 0, thread, V(lock), lock == LOCK_A ? "aye" : "bee", "thread", V(holder),
		     V(KERNEL + 64));
}

static void both_try(void)
{
	for (uint64_t stamp = 500 * MS; stamp < 1000 * MS; stamp += 10 * MS) {
		tries(stamp, WORKER, LOCK_A, CLIENT);
		tries(stamp + MS, CLIENT, LOCK_B, WORKER);
	}
}

static void two_that_give_way_to_each_other(void **state)
{
	(void)state;
	both_try();
	ticks(1000 * MS, 1010 * MS, 0, IDLE0, KERNEL);
	assert_int_equal(why_judge()->verdict, WHY_LIVELOCK);
	assert_int_equal(why_count(WHY_LIVELOCK), 1);
	why_says("thread 5 (worker) tried 50 times");
	why_says("thread 6 (client) tried 50 times");
	why_says("in 0x100040");
}

static void who_has_it_in_the_end_is_in_no_livelock(void **state)
{
	(void)state;
	both_try();
	script_event(ACQUIRE, 1000 * MS, 0, CLIENT, V(LOCK_B));
	assert_int_equal(why_count(WHY_LIVELOCK), 0);
}

static void one_that_fails_is_no_livelock(void **state)
{
	(void)state;
	for (uint64_t stamp = 500 * MS; stamp < 1000 * MS; stamp += 10 * MS)
		tries(stamp, WORKER, LOCK_A, CLIENT);
	assert_int_equal(why_count(WHY_LIVELOCK), 0);
}

/* ---- Sleeping with a spinlock -------------------------------------------------------------------- */

static void a_sleep_with_a_spinlock(void **state)
{
	struct ktrx_cpu *row = script_cpu(1);
	struct ktrx_holder *holder = script_holder(KTRX_HOLDER_CPU | 0);

	(void)state;
	ticks(10 * MS, 1000 * MS, 0, IDLE0, KERNEL);
	why_thread_row(WORKER, "worker", KTRX_THREAD_WAITING, 1);
	row->broken = KTRX_BROKEN_SWITCH_LOCKED;
	row->broken_thread = WORKER;
	row->broken_object = LOCK_A;
	row->broken_pc = KERNEL + 80;
	row->broken_stamp = 500 * MS;
	why_waits(holder, KTRX_WAIT_SPIN, LOCK_A, "aye", 600 * MS);
	assert_int_equal(why_judge()->verdict, WHY_SLEEP_IN_ATOMIC);
	assert_int_equal(why_judge()->base.certain, FINDING_CERTAIN);
	why_says("thread 5 (worker) went to sleep on CPU 1 holding the spinlock aye (0x1000)");
	why_says("in 0x100050");
	why_says("on CPU 0, spins for that lock for 400.0 ms, in a place that is not known");
}

/* It is not the thread that wants the lock which has it. */
static void who_finds_its_cpu_has_the_lock(void **state)
{
	struct ktrx_holder *holder = script_holder(KTRX_HOLDER_CPU | 1);
	struct ktrx_cpu *row = script_cpu(1);

	(void)state;
	ticks(10 * MS, 1000 * MS, 0, IDLE0, KERNEL);
	why_thread_row(WORKER, "worker", KTRX_THREAD_WAITING, 1);
	why_thread_row(CLIENT, "client", KTRX_THREAD_RUNNING, 1);
	row->broken = KTRX_BROKEN_SWITCH_LOCKED;
	row->broken_thread = WORKER;
	row->broken_object = LOCK_A;
	row->broken_stamp = 500 * MS;
	why_holds(holder, LOCK_A, 400 * MS);
	why_waits(holder, KTRX_WAIT_SPIN, LOCK_A, "aye", 600 * MS);
	holder->owner = (KTRX_HOLDER_CPU | 1);
	assert_int_equal(why_judge()->verdict, WHY_SLEEP_IN_ATOMIC);
	why_says("wants lock aye (0x1000), with which thread 5 (worker) went to");
}

/* The switch with preemption off explains nothing of a machine that stopped long afterwards: no lock links the two. */
static void an_old_sleep_without_a_lock_is_no_cause(void **state)
{
	struct ktrx_cpu *row = script_cpu(1);

	(void)state;
	ticks(10 * MS, 1000 * MS, 0, IDLE0, KERNEL);
	why_cpu_row(1, KTRX_MODE_KERNEL);
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 1);
	row->heartbeats = 50;
	row->heartbeat_stamp = row->now = 500 * MS;
	row->broken = KTRX_BROKEN_SWITCH_PREEMPT;
	row->broken_thread = WORKER;
	row->broken_stamp = 20 * MS;
	why_judge();
	assert_int_equal(why_count(WHY_SLEEP_IN_ATOMIC), 1);
	assert_int_not_equal(why_judge()->verdict, WHY_SLEEP_IN_ATOMIC);
}

static void a_broken_release_is_no_sleep(void **state)
{
	(void)state;
	ticks(10 * MS, 1000 * MS, 0, IDLE0, KERNEL);
	script_cpu(1)->broken = KTRX_BROKEN_RELEASE;
	assert_int_equal(why_count(WHY_SLEEP_IN_ATOMIC), 0);
}

/* ---- Ends ---------------------------------------------------------------------------------------- */

static void panics(const char *message)
{
	ticks(10 * MS, 1000 * MS, 0, IDLE0, KERNEL);
	script_event(PANIC, 1001 * MS, 1, WORKER, message);
	script_info()->outcome = KTRX_OUTCOME_PANIC;
}

static void a_panic(void **state)
{
	(void)state;
	panics("out of \033pages");
	assert_int_equal(why_judge()->verdict, WHY_PANIC);
	assert_int_equal(why_judge()->base.certain, FINDING_CERTAIN);
	why_says("the kernel panicked on CPU 1, in thread 5 (worker)");
	why_says("it said: out of \\x1bpages");
}

static void a_panic_without_a_word(void **state)
{
	(void)state;
	ticks(10 * MS, 1000 * MS, 0, IDLE0, KERNEL);
	script_info()->outcome = KTRX_OUTCOME_PANIC;
	assert_int_equal(why_judge()->verdict, WHY_PANIC);
	assert_int_equal(why_judge()->actors, 0);
}

static void a_call_of_nothing(void **state)
{
	(void)state;
	script_event(FAULT, 1000 * MS, 1, WORKER, V(0), V(0));
	panics("cannot execute 0x0");
	assert_int_equal(why_judge()->verdict, WHY_PANIC);
	why_says("a function that is not there was called on CPU 1");
}

static void a_stack_that_the_message_tells(void **state)
{
	(void)state;
	panics("Stack overflow in worker");
	assert_int_equal(why_judge()->verdict, WHY_STACK_OVERFLOW);
}

static void a_stack_that_the_registers_tell(void **state)
{
	struct ktrx_holder *worker = why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 1);

	(void)state;
	worker->stack_low = 0x8000;
	worker->stack_high = 0xc000;
	panics("double fault");
	script_info()->registers = "cpu 1 pc=100040 sp=7f80\nstack 1 100050 100050 100050 100060\n";
	assert_int_equal(why_judge()->verdict, WHY_STACK_OVERFLOW);
	why_says("its stack begins at 0x8000, and the stack pointer is 0x7f80");
	why_says("called from 0x100050, 3 times at least");
}

static void a_reset(uint16_t machine)
{
	script_info()->machine = machine;
	script_info()->note = "ended: the guest reset (or triple-faulted)\nreset: yes\n";
	ticks(10 * MS, 1000 * MS, 0, IDLE0, KERNEL);
	runs_on(1, 5 * MS, IDLE1, WORKER);
	script_event(OTHER, 1000 * MS, 1, WORKER);
	script_cpu(1)->mode = KTRX_MODE_KERNEL;
}

static void a_triple_fault(void **state)
{
	(void)state;
	a_reset(EM_X86_64);
	assert_int_equal(why_judge()->verdict, WHY_TRIPLE_FAULT);
	why_says("CPU 1 ran thread 5 (worker); its last event");
	assert_int_equal(why_judge()->actors, 1); /* CPU 0 idles, and those behind 1 were never started */
	assert_string_equal(why_judge()->base.advice, "");
}

static void a_reset_of_another_machine(void **state)
{
	(void)state;
	a_reset(EM_AARCH64);
	assert_int_equal(why_count(WHY_TRIPLE_FAULT), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, why_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_interrupt_that_is_not_ended),
		TEST(an_interrupt_that_is_ended_late),
		TEST(one_that_needs_no_end),
		TEST(nothing_is_missing_while_more_come),
		TEST(nothing_is_missing_with_interrupts_off),
		TEST(no_end_is_missed_across_a_gap),
		TEST(an_interrupt_that_comes_all_the_time),
		TEST(a_storm_in_a_small_ring),
		TEST(a_flood_behind_a_gap),
		TEST(a_few_are_no_storm),
		TEST(slow_ones_are_no_storm),
		TEST(many_that_are_ended_are_no_storm),
		TEST(many_without_ticks_are_no_storm),
		TEST(a_sleeper_that_no_tick_wakes),
		TEST(a_dead_timer_is_seen_from_within_a_lock),
		TEST(interrupts_off_for_long_are_no_dead_timer),
		TEST(ticks_may_rest),
		TEST(a_sleeper_may_have_time_left),
		TEST(a_host_without_time_stops_no_timer),
		TEST(interrupts_that_were_off),
		TEST(silence_is_no_proof),
		TEST(nobody_else_took_any),
		TEST(a_clock_that_goes_back),
		TEST(interrupts_that_stay_off),
		TEST(a_program_that_spins),
		TEST(a_second_is_no_proof),
		TEST(a_loop_of_many_instructions_may_compute),
		TEST(a_thread_that_waits_does_not_spin),
		TEST(a_program_that_computes),
		TEST(a_thread_of_the_kernel_that_spins),
		TEST(a_spin_begins_behind_a_gap),
		TEST(one_that_acts_does_not_spin),
		TEST(a_spin_with_interrupts_off),
		TEST(half_a_second_with_interrupts_off_is_no_spin),
		TEST(one_that_records_with_interrupts_off_does_not_spin),
		TEST(who_waits_for_a_lock_does_not_spin),
		TEST(two_that_give_way_to_each_other),
		TEST(who_has_it_in_the_end_is_in_no_livelock),
		TEST(one_that_fails_is_no_livelock),
		TEST(a_sleep_with_a_spinlock),
		TEST(who_finds_its_cpu_has_the_lock),
		TEST(an_old_sleep_without_a_lock_is_no_cause),
		TEST(a_broken_release_is_no_sleep),
		TEST(a_panic),
		TEST(a_panic_without_a_word),
		TEST(a_call_of_nothing),
		TEST(a_stack_that_the_message_tells),
		TEST(a_stack_that_the_registers_tell),
		TEST(a_triple_fault),
		TEST(a_reset_of_another_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
