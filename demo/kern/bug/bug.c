/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include "bug/bug.h"

#include <stddef.h>

const struct work bugs[] = {
	{ "abba", bug_abba },
	{ "abba-yield", bug_abba_yield },
	{ "no-abba-yield", bug_no_abba_yield },
	{ "abba-spin", bug_abba_spin },
	{ "cycle3", bug_cycle3 },
	{ "self-irq", bug_self_irq },
	{ "ipi-lock", bug_ipi_lock },
	{ "ipi-off", bug_ipi_off },
	{ "inversion", bug_inversion },
	{ "lock-order", bug_lock_order },
	{ "lost-wakeup", bug_lost_wakeup },
	{ "wakeup-race", bug_wakeup_race },
	{ "starve", bug_starve },
	{ "slow-disk", bug_slow_disk },
	{ "no-eoi", bug_no_eoi },
	{ "irq-storm", bug_irq_storm },
	{ "irq-off", bug_irq_off },
	{ "dead-timer", bug_dead_timer },
	{ "kernel-spin", bug_kernel_spin },
	{ "livelock", bug_livelock },
	{ "stack", bug_stack },
	{ "null-call", bug_null_call },
	{ "sleep-spin", bug_sleep_spin },
	{ "sensor", bug_sensor },
	{ "no-sensor", bug_no_sensor },
	{ "stuck-disk", bug_stuck_disk },
	{ "no-stuck-disk", bug_no_stuck_disk },
	{ "unwoken", bug_unwoken },
	{ "no-unwoken", bug_no_unwoken },
	{ "early-signal", bug_early_signal },
	{ "no-early-signal", bug_no_early_signal },
	{ NULL, NULL },
};
