/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * crew: a program for tests of hardware trace, with three long-lived threads. Two of them take turns to
 * change a number; each of the two calls, through pointers, functions that no other thread calls. At the same
 * time, the first thread starts short-lived threads.
 */
#include <program.h>
#include <stdlib.h>
#include <thread.h>
#include <unistd.h>

#define ROUNDS 300

typedef uint64_t change(uint64_t value);

/* The thread whose turn it is: 0 (saw) or 1 (paint). */
static uint32_t turn;
static uint64_t value = 1;

static void await_turn(uint32_t mine)
{
	uint32_t now;

	while ((now = __atomic_load_n(&turn, __ATOMIC_ACQUIRE)) != mine)
		wait_on(&turn, (int)now, -1, 0, "turn");
}

static void pass_turn(uint32_t next)
{
	__atomic_store_n(&turn, next, __ATOMIC_RELEASE);
	wake(&turn, 2);
}

__attribute__((noinline)) static uint64_t saw_plank(uint64_t n)
{
	return n ^ n >> 3;
}

__attribute__((noinline)) static uint64_t saw_beam(uint64_t n)
{
	return n + (n >> 5);
}

__attribute__((noinline)) static uint64_t paint_wall(uint64_t n)
{
	return n * 5 + 1;
}

__attribute__((noinline)) static uint64_t paint_door(uint64_t n)
{
	return n - (n >> 2);
}

__attribute__((noinline)) static void saw(void *unused)
{
	static change *volatile const changes[] = { saw_plank, saw_beam };

	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++) {
		await_turn(0);
		value = changes[i % 2](value);
		pass_turn(1);
	}
}

__attribute__((noinline)) static void paint(void *unused)
{
	static change *volatile const changes[] = { paint_wall, paint_door };

	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++) {
		await_turn(1);
		value = changes[i % 2](value);
		pass_turn(0);
	}
}

__attribute__((noinline)) static void sweep(void *argument)
{
	*(unsigned *)argument += 1;
}

int main(int argc, char **argv)
{
	struct thread carpenter, painter, sweeper;
	unsigned swept = 0;

	(void)argc, (void)argv;
	check_equal(0, thread_start(&carpenter, "carpenter", saw, NULL), "a carpenter");
	check_equal(0, thread_start(&painter, "painter", paint, NULL), "a painter");
	for (unsigned i = 0; i < 3; i++) {
		check_equal(0, thread_start(&sweeper, "sweeper", sweep, &swept), "a sweeper");
		check_equal(0, thread_await(&sweeper), "the sweeper ends");
	}
	check_equal(0, thread_await(&carpenter), "the carpenter ends");
	check_equal(0, thread_await(&painter), "the painter ends");
	check_equal(3, swept, "number of sweepers that ran");
	finish();
}
