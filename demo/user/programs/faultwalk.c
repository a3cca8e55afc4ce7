/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * faultwalk: accesses newly mapped memory, forks, and accesses the memory again, so that pages are allocated,
 * shared and copied. Counts each fault that must occur: the first access to a page, the first write after
 * fork while the page is shared, and the first write after the page is no longer shared.
 */
#include <account.h>
#include <program.h>
#include <unistd.h>

#define PAGE  4096u
#define PAGES 64u
/*
 * Depth of a recursion whose stack frames have one page each. Together they take far more than the initial
 * stack, but less than the stack's maximum size.
 */
#define DEPTH 100u

static volatile unsigned char *area;

static void write_pages(unsigned first, unsigned step, unsigned char value)
{
	for (unsigned i = first; i < PAGES; i += step) {
		area[i * PAGE + i] = (unsigned char)(value + i);
		account.faults++;
	}
}

static bool holds(unsigned first, unsigned step, unsigned char value)
{
	for (unsigned i = first; i < PAGES; i += step)
		if (area[i * PAGE + i] != (unsigned char)(value + i))
			return false;
	return true;
}

static void declare_area(void)
{
	account.from = (uintptr_t)area;
	account.to = (uintptr_t)area + PAGES * PAGE;
}

/* Runs in the child, which shares all pages with its parent and writes to every second one. */
static void child(void)
{
	declare_area();
	check(holds(0, 1, 1), "the child sees the parent's bytes");
	write_pages(0, 2, 100);
	check(holds(0, 2, 100), "the child sees its own bytes");
	check(holds(1, 2, 1), "what it left alone is the parent's");
}

/*
 * Recurses to use much stack. Accesses its frame after the recursive call, so that the compiler does not turn
 * the recursion into a loop.
 */
static unsigned __attribute__((noinline)) descend(unsigned depth)
{
	volatile unsigned char frame[PAGE];

	frame[0] = (unsigned char)depth;
	return depth == 0 ? 0 : descend(depth - 1) + (frame[0] == (unsigned char)depth);
}

int main(int argc, char **argv)
{
	int64_t memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)argc, (void)argv;
	if (!check(memory > 0, "memory is mapped"))
		finish();
	area = (void *)memory;
	declare_area();
	write_pages(0, 1, 1);
	check(area[PAGE] == 0, "fresh memory is zero");
	check_equal(0, wait_for(start_child(child)), "status of the child");
	check(holds(0, 1, 1), "the parent's bytes are untouched");
	write_pages(0, 1, 50);
	check(holds(0, 1, 50), "the parent's new bytes");
	check_equal(DEPTH / 2, descend(DEPTH / 2), "the stack grows");
	check_equal(0, munmap((void *)memory, PAGES * PAGE), "unmapped");
	finish();
}
