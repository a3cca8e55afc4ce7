/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * user-join-cycle: two threads are asked to end.
 * The mistake: each thread waits for the end of the other thread before it ends itself.
 */
#include <program.h>
#include <thread.h>
#include <unistd.h>

static struct thread loader, saver;
static int ends[2];

static void wait_for_request(void)
{
	char byte;

	read(ends[0], &byte, 1);
}

static void load(void *unused)
{
	(void)unused;
	wait_for_request();
	thread_await(&saver);
}

static void save(void *unused)
{
	(void)unused;
	wait_for_request();
	thread_await(&loader);
}

int main(int argc, char **argv)
{
	(void)argc, (void)argv;
	if (!check_equal(0, pipe(ends), "a pipe"))
		finish();
	thread_start(&loader, "loader", load, NULL);
	thread_start(&saver, "saver", save, NULL);
	write(ends[1], "..", 2);
	thread_await(&loader);
	thread_await(&saver);
	finish();
}
