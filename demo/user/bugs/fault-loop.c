/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * fault-loop: fills a table whose pages the handler of SIGSEGV maps on first access.
 * The mistake: the handler maps again the last page that is already mapped, instead of the next one. So the
 * access faults for ever.
 */
#include <program.h>
#include <unistd.h>

#define PAGE  4096u
#define PAGES 16u
#define BASE  ((USER_BASE + USER_END) / 2) /* an address far from all other memory */

static volatile unsigned present; /* number of pages of the table that are mapped */

static void map(unsigned page)
{
	mmap((void *)(BASE + page * PAGE), PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void on_fault(int signal)
{
	(void)signal;
	map(present - 1);
}

int main(int argc, char **argv)
{
	(void)argc, (void)argv;
	handle_signal(SIGSEGV, on_fault);
	map(0);
	for (present = 1; present < PAGES; present++)
		*(volatile char *)(BASE + present * PAGE) = 1;
	finish();
}
