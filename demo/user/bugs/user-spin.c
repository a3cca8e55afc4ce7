/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * user-spin: a child sets a variable to report that it is ready; its parent spins until the variable changes.
 * The mistake: a child has a copy of its parent's memory; they do not share the variable.
 */
#include <program.h>
#include <unistd.h>

static volatile bool ready;

static void get_ready(void)
{
	ready = true;
}

int main(int argc, char **argv)
{
	(void)argc, (void)argv;
	wait_for(start_child(get_ready));
	while (!ready)
		;
	finish();
}
