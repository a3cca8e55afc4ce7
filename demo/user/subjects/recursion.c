/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * recursion: a program for tests of hardware trace, with functions that call themselves and each other:
 * queens on a board, quicksort with comparison functions, Ackermann's function, and trees in newly allocated
 * memory, which cause page faults.
 */
#include <program.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define APART __attribute__((noinline)) /* prevents inlining, so that the trace shows calls of the function */

#define BOARD	    6
#define NUMBERS	    200
#define TREE_DEPTH  7
#define TREE_MEMORY 600 /* size of a node in bytes, so large that the tree needs many pages */

/* ---- Queens ------------------------------------------------------------------------------------ */

static int column_of[BOARD];

static APART bool is_attacked(int row, int column)
{
	for (int above = 0; above < row; above++) {
		int distance = column_of[above] - column;

		if (distance == 0 || distance == row - above || distance == above - row)
			return true;
	}
	return false;
}

static APART int place_queens(int row)
{
	int ways = 0;

	if (row == BOARD)
		return 1;
	for (int column = 0; column < BOARD; column++) {
		if (is_attacked(row, column))
			continue;
		column_of[row] = column;
		ways += place_queens(row + 1);
	}
	return ways;
}

/* ---- Sorting ----------------------------------------------------------------------------------- */

typedef int comparison(int a, int b);

static APART int upwards(int a, int b)
{
	return a < b ? -1 : a > b;
}

static APART int downwards(int a, int b)
{
	return upwards(b, a);
}

static APART int even_first(int a, int b)
{
	return (a & 1) != (b & 1) ? (a & 1) - (b & 1) : upwards(a, b);
}

static APART void sort(int *numbers, int count, comparison *compare)
{
	int pivot, left = 0, right = count - 1;

	if (count < 2)
		return;
	pivot = numbers[count / 2];
	while (left <= right) {
		while (compare(numbers[left], pivot) < 0)
			left++;
		while (compare(numbers[right], pivot) > 0)
			right--;
		if (left <= right) {
			int other = numbers[left];

			numbers[left++] = numbers[right];
			numbers[right--] = other;
		}
	}
	sort(numbers, right + 1, compare);
	sort(numbers + left, count - left, compare);
}

static void sort_in_all_orders(void)
{
	static comparison *const orders[] = { upwards, downwards, even_first };
	int numbers[NUMBERS];
	unsigned seed = 1;

	for (unsigned order = 0; order < 3; order++) {
		for (int i = 0; i < NUMBERS; i++)
			numbers[i] = (int)((seed = seed * 1103515245 + 12345) >> 16 & 0x3ff);
		sort(numbers, NUMBERS, orders[order]);
		for (int i = 1; i < NUMBERS; i++)
			check(orders[order](numbers[i - 1], numbers[i]) <= 0, "sorted");
	}
}

/* ---- Numbers and trees ------------------------------------------------------------------------- */

static APART unsigned ackermann(unsigned m, unsigned n)
{
	if (m == 0)
		return n + 1;
	return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

static APART bool is_odd(unsigned n);
static APART bool is_even(unsigned n)
{
	return n == 0 || is_odd(n - 1);
}
static APART bool is_odd(unsigned n)
{
	return n != 0 && is_even(n - 1);
}

struct node {
	struct node *left, *right;
	char memory[TREE_MEMORY];
};

static APART struct node *grow(int depth)
{
	struct node *node = depth ? malloc(sizeof(*node)) : NULL;

	if (!node)
		return NULL;
	memset(node->memory, depth, sizeof(node->memory));
	node->left = grow(depth - 1);
	node->right = grow(depth - 1);
	return node;
}

static APART int fell(struct node *node)
{
	int nodes;

	if (!node)
		return 0;
	nodes = 1 + fell(node->left) + fell(node->right);
	free(node);
	return nodes;
}

int main(int argc, char **argv)
{
	(void)argc, (void)argv;
	check_equal(4, place_queens(0), "queens");
	sort_in_all_orders();
	check_equal(29, ackermann(3, 2), "Ackermann");
	check(is_even(100), "even");
	check_equal((1 << TREE_DEPTH) - 1, fell(grow(TREE_DEPTH)), "nodes");
	finish();
}
