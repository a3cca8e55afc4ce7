/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Functions of QEMU that are not part of its plugin interface. A QEMU that is built with modules, as Debian's
 * is, exports them, and a plugin can call them. They have had these types since QEMU 3.1
 * (include/qemu/timer.h, include/sysemu/cpus.h, include/hw/core/cpu.h). They are declared weak, so their
 * addresses are NULL in any other QEMU.
 */
#ifndef SCHEDULE_QEMU_H
#define SCHEDULE_QEMU_H

#include <stdbool.h>
#include <stdint.h>

#include "plugin/api.h"

struct QEMUTimer;
struct QEMUTimerListGroup;
struct CPUState;
struct Chardev;
struct AioContext;

enum { QEMU_SCALE_NS = 1 };
enum { QEMU_RUN_STATE_PAUSED = 4 };
/* more bytes than struct QEMUTimer, which has 6 words, has in any version */
#define QEMU_TIMER_BYTES    256u
#define QEMU_ALL_ATTRIBUTES (~0)

/* If the group is NULL, the timer belongs to the main loop. */
QEMU_WEAK void timer_init_full(struct QEMUTimer *timer, struct QEMUTimerListGroup *group, int clock,
			       int scale, int attributes, void (*call)(void *data), void *data);
QEMU_WEAK void timer_mod_ns(struct QEMUTimer *timer, int64_t expires);
/* Returns the time until the next timer of the clock expires; -1: there is none. */
QEMU_WEAK int64_t qemu_clock_deadline_ns_all(int clock, int attributes);
/*
 * Returns true if the CPU cannot run before an interrupt, or if it is stopped. Requires: QEMU's lock is held,
 * as it is while a timer is called.
 */
QEMU_WEAK bool cpu_thread_is_idle(struct CPUState *cpu);
/* Stops the CPU that `current_cpu` of this thread points to, before it executes another instruction. */
QEMU_WEAK void cpu_stop_current(void);
QEMU_WEAK void cpu_resume(struct CPUState *cpu);
/* Calls the function in the CPU's thread, outside the guest's code, before the CPU runs again. */
QEMU_WEAK void async_run_on_cpu(struct CPUState *cpu, void (*call)(struct CPUState *cpu, void *data),
				void *data);
/* Returns the character device with this id; NULL if there is none. */
QEMU_WEAK struct Chardev *qemu_chr_find(const char *id);
/* Returns how many bytes the guest's device can accept now. */
QEMU_WEAK int qemu_chr_be_can_write(struct Chardev *device);
QEMU_WEAK void qemu_chr_be_write(struct Chardev *device, uint8_t *bytes, int length);
/* Returns true in the thread of the CPUs. */
QEMU_WEAK bool qemu_in_vcpu_thread(void);
/* Returns the virtual clock; a function of the accelerator. */
QEMU_WEAK int64_t icount_get(void);
/* Returns the structure of a class of objects; NULL if there is no such class. */
QEMU_WEAK void *object_class_by_name(const char *name);
QEMU_WEAK struct AioContext *qemu_get_aio_context(void);
/* Runs the pending work of the main loop. Returns true if there was any. Requires: QEMU's lock is held. */
QEMU_WEAK bool aio_poll(struct AioContext *context, bool blocking);
/* Waits until no disk has a request. Requires: QEMU's lock is held. */
QEMU_WEAK void bdrv_drain_all(void);
/* Must not be called by a timer, because the function waits until no timer runs. */
QEMU_WEAK void pause_all_vcpus(void);
/* In the thread of a CPU, only asks the main loop to stop the machine. */
QEMU_WEAK int vm_stop(int state);

#endif
