/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "unit/support/why_threads.h"

#include "ktrx/slot.h"
#include "unit/support/script.h"
#include "unit/support/why_support.h"

int why_threads_begin(void **state)
{
	int error = why_setup(state);

	script_type(OTHER, "mine", "other", "");
	script_type(SWITCH, "sched", "switch", "u32 prev,u32 next,u8 state");
	script_type(BLOCK, "sched", "block", "u64 queue,u32 thread,u8 kind");
	script_type(WAKE, "sched", "wake", "u32 thread");
	script_type(NOBODY, "sched", "wake_nobody", "u64 queue,u64 ip");
	script_type(ENTER, "syscall", "enter", "u32 nr,u64 a");
	script_type(EXIT, "syscall", "exit", "u32 nr,i64 result");
	script_type(FAULT, "mm", "fault_enter", "u64 address,u64 ip");
	script_type(FAULT_END, "mm", "fault_exit", "u64 address,string how");
	script_type(DELIVER, "signal", "deliver", "u8 signal");
	script_type(FORK, "process", "fork", "u32 child");
	script_type(ACQUIRE, "lock", "acquire", "u64 lock");
	script_type(IRQ, "irq", "enter", "u32 irq");
	script_thread(IDLE, "idle/0");
	script_thread(WORKER, "worker");
	script_thread(CLIENT, "client");
	return error;
}

void why_by_interrupt(uint16_t id, uint64_t stamp, uint32_t thread, uint64_t value)
{
	script_event(id, stamp, 0, thread, value)->context = KTRX_CONTEXT_INTERRUPT;
}

void why_idle_until(uint64_t stamp)
{
	why_cpu_row(0, KTRX_MODE_IDLE);
	why_cpu_beats(0, 100, stamp);
	script_event(OTHER, stamp, 0, IDLE);
}

void why_work_until(uint64_t stamp, uint32_t thread)
{
	why_cpu_row(0, KTRX_MODE_KERNEL);
	why_cpu_beats(0, 100, stamp);
	script_cpu(0)->thread = thread;
	script_event(OTHER, stamp, 0, thread);
}

void why_sleep_on(uint64_t queue, uint64_t stamp, uint32_t thread, uint8_t kind, uint32_t next)
{
	script_event(BLOCK, stamp, 0, thread, V(queue), V(thread), V(kind));
	script_event(SWITCH, stamp + 10, 0, thread, V(thread), V(next), V(2));
}

void why_wake(uint64_t stamp, uint32_t waker, uint32_t thread)
{
	script_event(WAKE, stamp, 0, waker, V(thread));
}
