/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * pipeline: four processes connected by pipes. The first writes numbers as text, the next removes odd ones,
 * the third computes the sum of the remaining ones, and the parent reads the sum.
 */
#include <program.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NUMBERS	    4000u
#define NUMBER_SIZE 8 /* size of a number as text: seven digits and a newline */
#define BATCH	    100

/* Pipes between the stages. */
static int to_filter[2], to_sum[2], to_parent[2];

static void use(int in, int out)
{
	if (in != STDIN)
		dup2(in, STDIN);
	/* The pipe does not become standard output: the account line must be printed on the console. */
	for (int fd = STDERR + 1; fd <= to_parent[1]; fd++)
		if (fd != out)
			close(fd);
}

static void generate(void)
{
	char batch[BATCH * NUMBER_SIZE + 1];

	use(STDIN, to_filter[1]);
	for (unsigned n = 0; n < NUMBERS; n += BATCH) {
		for (unsigned i = 0; i < BATCH; i++)
			format(batch + i * NUMBER_SIZE, NUMBER_SIZE + 1, "%07u\n", n + i);
		check_equal(BATCH * NUMBER_SIZE, write_all(to_filter[1], batch, BATCH * NUMBER_SIZE),
			    "generated");
	}
}

/* Reads numbers from standard input and calls `keep` with each one. Returns at the end of the input. */
static void for_each_number(void (*keep)(const char *text))
{
	char text[NUMBER_SIZE];

	while (read_all(STDIN, text, sizeof(text)) == NUMBER_SIZE)
		keep(text);
}

static void keep_even(const char *text)
{
	if ((text[NUMBER_SIZE - 2] - '0') % 2 == 0)
		check_equal(NUMBER_SIZE, write_all(to_sum[1], text, NUMBER_SIZE), "filtered");
}

static void filter(void)
{
	use(to_filter[0], to_sum[1]);
	for_each_number(keep_even);
}

static unsigned sum;

static void add(const char *text)
{
	char digits[NUMBER_SIZE];

	string_copy(digits, text, sizeof(digits));
	sum += parse_number(digits, 0);
}

static void add_up(void)
{
	use(to_sum[0], to_parent[1]);
	for_each_number(add);
	check_equal(sizeof(sum), write_all(to_parent[1], &sum, sizeof(sum)), "the sum is passed on");
}

int main(int argc, char **argv)
{
	int children[3];

	(void)argc, (void)argv;
	if (!check(pipe(to_filter) == 0 && pipe(to_sum) == 0 && pipe(to_parent) == 0, "pipes"))
		finish();
	children[0] = start_child(generate);
	children[1] = start_child(filter);
	children[2] = start_child(add_up);
	use(STDIN, to_parent[0]);
	check_equal(sizeof(sum), read_all(to_parent[0], &sum, sizeof(sum)), "the sum arrives");
	check_equal(NUMBERS / 2 * (NUMBERS / 2 - 1), sum, "sum of the even numbers");
	for (unsigned i = 0; i < 3; i++)
		check_equal(0, wait_for(children[i]), "status of a stage");
	finish();
}
