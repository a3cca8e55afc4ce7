/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "unit/support/why_cpus.h"

#include <stdio.h>

#include "ktrx/slot.h"
#include "unit/support/script.h"
#include "unit/support/why_support.h"

int why_cpus_begin(void **state)
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

void why_interrupt(uint64_t stamp, uint32_t cpu, uint32_t thread, uint32_t irq, uint64_t ip,
		   enum eoi_time eoi)
{
	if (eoi == EARLY)
		by_interrupt(EOI, stamp, cpu, thread, V(irq));
	script_event(ENTER, stamp + 100, cpu, thread, V(irq), irq == TIMER ? "timer" : "disk", V(ip))
		->context = KTRX_CONTEXT_INTERRUPT;
	if (eoi == LATE)
		by_interrupt(EOI, stamp + 200, cpu, thread, V(irq));
	by_interrupt(EXIT, stamp + 300, cpu, thread, V(irq));
	script_cpu(cpu)->now = script_cpu(cpu)->irq_stamp = stamp + 100;
	script_cpu(cpu)->irqs++;
	script_cpu(cpu)->irq = irq;
	script_cpu(cpu)->eois += eoi != NEVER;
	if (eoi != NEVER)
		script_cpu(cpu)->eoi = irq;
}

void why_tick(uint64_t stamp, uint32_t cpu, uint32_t thread, uint64_t ip)
{
	struct ktrx_cpu *row = script_cpu(cpu);

	why_interrupt(stamp, cpu, thread, TIMER, ip, EARLY);
	row->sample[row->heartbeats++ % KTRX_SAMPLES] = ip;
	row->heartbeat_stamp = stamp + 100;
	row->pc = ip;
	row->thread = thread;
}

void why_ticks(uint64_t from, uint64_t to, uint32_t cpu, uint32_t thread, uint64_t ip)
{
	for (uint64_t stamp = from; stamp <= to; stamp += 10 * MS)
		why_tick(stamp, cpu, thread, ip);
}

void why_runs_on(uint32_t cpu, uint64_t stamp, uint32_t from, uint32_t to)
{
	script_event(SWITCH, stamp, cpu, from, V(from), V(to), V(from == WORKER ? 2 : 0));
}

void why_spins_until(uint64_t end, uint64_t low, uint64_t high)
{
	why_ticks(10 * MS, end, 0, IDLE0, KERNEL);
	why_runs_on(1, 5 * MS, IDLE1, WORKER);
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 1);
	script_cpu(1)->mode = high > 2 * KERNEL ? KTRX_MODE_USER : KTRX_MODE_KERNEL;
	script_cpu(1)->user_exits = script_cpu(1)->user_enters = 1;
	script_event(CALL, 6 * MS, 1, WORKER, V(1));
	script_event(RETURN, 7 * MS, 1, WORKER, V(1), V(0));
	for (uint64_t stamp = 10 * MS; stamp <= end; stamp += 20 * MS) {
		why_tick(stamp, 1, WORKER, low);
		why_tick(stamp + 10 * MS, 1, WORKER, high);
	}
}

void why_spins_at(uint64_t low, uint64_t high)
{
	why_spins_until(2500 * MS, low, high);
}

void why_stops_with(uint16_t machine, const char *flags)
{
	static char registers[128];

	why_ticks(10 * MS, 1100 * MS, 0, IDLE0, KERNEL);
	why_ticks(10 * MS, 50 * MS, 1, WORKER, KERNEL);
	why_thread_row(WORKER, "worker", KTRX_THREAD_RUNNING, 1);
	script_info()->machine = machine;
	snprintf(registers, sizeof(registers), "cpu 1 pc=100040 sp=2000 %s\nstack 1 100050\n", flags);
	script_info()->registers = registers;
}
