/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * A guest without ktrace. It spends three quarters of its time in the functions that three_parts() calls,
 * and one quarter in those that one_part() calls. `shares_work` counts the rounds of the loop in spin().
 */
void bare_main(void);

volatile unsigned long shares_work;

__attribute__((noinline)) static void spin(unsigned long count)
{
	while (count--)
		shares_work++;
}

__attribute__((noinline)) static void three_parts(void)
{
	spin(300000);
	__asm__ volatile("" ::: "memory"); /* prevents a tail call, which would hide this frame */
}

__attribute__((noinline)) static void one_part(void)
{
	spin(100000);
	__asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void share_out(void)
{
	for (;;) {
		three_parts();
		one_part();
	}
}

void bare_main(void)
{
	share_out();
	__asm__ volatile("" ::: "memory");
}
