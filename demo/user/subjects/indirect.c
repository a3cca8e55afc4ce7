/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * indirect: a program for tests of hardware trace. Its control flow depends on data: a recursive-descent
 * compiler of expressions, an interpreter that runs the result once through a table of functions and once
 * through a switch, and objects with function pointers.
 */
#include <program.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define APART __attribute__((noinline))

#define CODE_MAX  128
#define STACK_MAX 32

enum operation { PUSH, ADD, SUBTRACT, MULTIPLY, DIVIDE, NEGATE, SQUARE, SWAP, STOP, OPERATIONS };

struct machine {
	struct instruction {
		enum operation operation;
		int64_t operand;
	} code[CODE_MAX];
	int length;
	int64_t stack[STACK_MAX];
	int depth;
};

static const char *text; /* the rest of the expression that is being compiled */

static APART void emit(struct machine *machine, enum operation operation, int64_t operand)
{
	machine->code[machine->length++] = (struct instruction){ operation, operand };
}

static APART bool skip(char c)
{
	while (*text == ' ')
		text++;
	if (*text != c)
		return false;
	text++;
	return true;
}

static void compile_sum(struct machine *machine);

static APART void compile_factor(struct machine *machine)
{
	int64_t number = 0;

	if (skip('-')) {
		compile_factor(machine);
		emit(machine, NEGATE, 0);
	} else if (skip('(')) {
		compile_sum(machine);
		skip(')');
	} else {
		for (; *text >= '0' && *text <= '9'; text++)
			number = number * 10 + *text - '0';
		emit(machine, PUSH, number);
	}
	if (skip('\''))
		emit(machine, SQUARE, 0);
}

static APART void compile_product(struct machine *machine)
{
	compile_factor(machine);
	for (;;) {
		bool multiplies = skip('*');

		if (!multiplies && !skip('/'))
			return;
		compile_factor(machine);
		emit(machine, multiplies ? MULTIPLY : DIVIDE, 0);
	}
}

static APART void compile_sum(struct machine *machine)
{
	compile_product(machine);
	for (;;) {
		bool adds = skip('+');

		if (!adds && !skip('-'))
			return;
		compile_product(machine);
		emit(machine, adds ? ADD : SUBTRACT, 0);
	}
}

/* ---- Interpreter with a table of functions ----------------------------------------------------- */

static APART int64_t pop(struct machine *machine)
{
	return machine->stack[--machine->depth];
}

static APART void push(struct machine *machine, int64_t value)
{
	machine->stack[machine->depth++] = value;
}

#define BINARY(name, expression)                                         \
	static APART void name(struct machine *machine, int64_t operand) \
	{                                                                \
		int64_t b = pop(machine), a = pop(machine);              \
                                                                         \
		(void)operand;                                           \
		push(machine, (expression));                             \
	}
BINARY(do_add, a + b)
BINARY(do_subtract, a - b)
BINARY(do_multiply, a *b)
BINARY(do_divide, b ? a / b : 0)

static APART void do_push(struct machine *machine, int64_t operand)
{
	push(machine, operand);
}

static APART void do_negate(struct machine *machine, int64_t operand)
{
	push(machine, operand - pop(machine));
}

static APART void do_square(struct machine *machine, int64_t operand)
{
	int64_t value = pop(machine);

	push(machine, value);
	push(machine, value + operand);
	do_multiply(machine, 0);
}

/* This function is in the table of functions, but is never called, so it must not appear in the trace. */
static APART void do_swap(struct machine *machine, int64_t operand)
{
	int64_t b = pop(machine), a = pop(machine);

	push(machine, b + operand);
	push(machine, a);
}

static APART int64_t run_by_table(struct machine *machine)
{
	static void (*const functions[OPERATIONS])(struct machine *, int64_t) = {
		[PUSH] = do_push,	  [ADD] = do_add,	[SUBTRACT] = do_subtract,
		[MULTIPLY] = do_multiply, [DIVIDE] = do_divide, [NEGATE] = do_negate,
		[SQUARE] = do_square,	  [SWAP] = do_swap,
	};

	machine->depth = 0;
	for (const struct instruction *at = machine->code; at->operation != STOP; at++)
		functions[at->operation](machine, at->operand);
	return pop(machine);
}

/* ---- Interpreter with a switch ----------------------------------------------------------------- */

static APART int64_t run_by_switch(struct machine *machine)
{
	int64_t *top = machine->stack - 1;

	for (const struct instruction *at = machine->code;; at++) {
		switch (at->operation) {
		case PUSH:
			*++top = at->operand;
			break;
		case ADD:
			top--;
			*top += top[1];
			break;
		case SUBTRACT:
			top--;
			*top -= top[1];
			break;
		case MULTIPLY:
			top--;
			*top *= top[1];
			break;
		case DIVIDE:
			top--;
			*top = top[1] ? *top / top[1] : 0;
			break;
		case NEGATE:
			*top = -*top;
			break;
		case SQUARE:
			*top *= *top;
			break;
		default:
			return *top;
		}
	}
}

static void calculate(const char *expression, int64_t expected)
{
	static struct machine machine;

	text = expression;
	machine.length = 0;
	compile_sum(&machine);
	emit(&machine, STOP, 0);
	for (int i = 0; i < 10; i++) {
		check_equal(expected, run_by_table(&machine), expression);
		check_equal(expected, run_by_switch(&machine), expression);
	}
}

/* ---- Shapes ------------------------------------------------------------------------------------ */

struct shape {
	int (*area)(const struct shape *shape);
	int width, height;
};

static APART int area_of_rectangle(const struct shape *shape)
{
	return shape->width * shape->height;
}

static APART int area_of_triangle(const struct shape *shape)
{
	return area_of_rectangle(shape) / 2;
}

static APART int area_of_nothing(const struct shape *shape)
{
	(void)shape;
	return 0;
}

int main(int argc, char **argv)
{
	static const struct shape shapes[] = {
		{ area_of_rectangle, 3, 4 },
		{ area_of_triangle, 6, 8 },
		{ area_of_nothing, 5, 5 },
	};
	int area = 0;

	(void)argc, (void)argv;
	calculate("1 + 2 * 3", 7);
	calculate("(1 + 2) * -3 - 4 / 2", -11);
	calculate("((2' + 3')' - 1) / (5 - 3)", 84);
	for (unsigned i = 0; i < 60; i++)
		area += shapes[i % 3].area(&shapes[i % 3]);
	check_equal(720, area, "area");
	finish();
}
