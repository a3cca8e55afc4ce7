/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* A guest without ktrace that waits for a lock that nothing releases, with interrupts disabled. */
void bare_main(void);

static volatile int stuck_lock = 1;

__attribute__((noinline)) static void lock_acquire(volatile int *lock)
{
	while (*lock)
		;
}

__attribute__((noinline)) static void transfer(void)
{
	lock_acquire(&stuck_lock);
	__asm__ volatile("" ::: "memory"); /* prevents a tail call, which would hide this frame */
}

void bare_main(void)
{
	transfer();
	__asm__ volatile("" ::: "memory");
}
