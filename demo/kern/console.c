/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * The console as a file. Typed characters form a line that can be edited until Enter is typed; then the line
 * is moved to a buffer, from which programs read it. The console has no interrupt: the timer tick polls for
 * typed characters.
 */
#include "arch.h"
#include "debugger.h"
#include "print.h"
#include "process.h"

#define LINE_SIZE  256
#define READY_SIZE 1024 /* capacity, in bytes, of the buffer for finished lines that have not been read yet */
/* capacity of the buffer for characters that are typed before a program first reads the console */
#define EARLY_SIZE 64
#define AT_ONCE	   64 /* maximum number of characters handled in one tick */
#define CHUNK	   128

enum {
	INTERRUPT = 'C' & 31,
	END_OF_FILE = 'D' & 31,
	BACKSPACE = 'H' & 31,
	KILL_LINE = 'U' & 31,
	RUBOUT = 0x7f,
};

/* The lock of the wait queue `typed` guards the variables below. */
static struct wait_queue typed = DEVICE_QUEUE("console input");
static char line[LINE_SIZE];
static size_t line_length;
static char ready[READY_SIZE]; /* whole lines, each of which ends with '\n' or END_OF_FILE */
static size_t ready_put, ready_taken;
/* True after a program has first read the console. Before that, typed characters are stored but not shown. */
static bool is_open;
static char early[EARLY_SIZE];
static size_t early_length;

/* ---- Typed characters -------------------------------------------------------------------------- */

/* Moves the finished line to the buffer `ready`. If it does not fit, drops it. */
static void finish_line(char end)
{
	if (READY_SIZE - (ready_put - ready_taken) > line_length) {
		for (size_t i = 0; i < line_length; i++)
			ready[ready_put++ % READY_SIZE] = line[i];
		ready[ready_put++ % READY_SIZE] = end;
	}
	line_length = 0;
	wait_wake_all(&typed);
}

static void erase(size_t count)
{
	for (; count > 0 && line_length > 0; count--, line_length--)
		console_write("\b \b", 3);
}

static void type(char c)
{
	switch (c) {
	case '\r':
	case '\n':
		console_write("\n", 1);
		finish_line('\n');
		break;
	case INTERRUPT:
		console_write("^C\n", 3);
		line_length = 0;
		break;
	case END_OF_FILE:
		finish_line(END_OF_FILE);
		break;
	case BACKSPACE:
	case RUBOUT:
		erase(1);
		break;
	case KILL_LINE:
		erase(line_length);
		break;
	default:
		if (line_length + 1 < LINE_SIZE && ((unsigned char)c >= ' ' || c == '\t')) {
			line[line_length++] = c;
			console_write(&c, 1);
		}
	}
}

/* Handles a typed character. Called only after a program has first read the console. */
static void take_typed(char c)
{
	bool irq_on = spin_lock(&typed.lock);

	type(c);
	spin_unlock(&typed.lock, irq_on);
	if (c == INTERRUPT)
		signal_send_all(SIGINT);
	poll_changed();
}

void console_tick(void)
{
	bool open = __atomic_load_n(&is_open, __ATOMIC_RELAXED);
	int c;

	for (size_t i = 0; open && i < early_length; i++)
		take_typed(early[i]);
	early_length = open ? 0 : early_length;
	for (unsigned n = 0; n < AT_ONCE && (c = arch_console_getc()) >= 0; n++) {
		if (c == DEBUGGER_KEY)
			debugger_enter();
		else if (open)
			take_typed((char)c);
		else if (early_length < EARLY_SIZE)
			early[early_length++] = (char)c;
	}
}

/* ---- Reading and writing by programs ----------------------------------------------------------- */

/*
 * Takes at most `size` characters from the buffer, up to the end of a line. Ctrl-D (END_OF_FILE) ends the
 * line, too, but is not stored. Requires: the lock of `typed` held.
 */
static size_t take_line(char *to, size_t size)
{
	size_t n = 0;

	while (n < size && ready_taken != ready_put) {
		char c = ready[ready_taken++ % READY_SIZE];

		if (c == END_OF_FILE)
			break;
		to[n++] = c;
		if (c == '\n')
			break;
	}
	return n;
}

static int64_t take(char *to, size_t size, bool may_wait)
{
	bool irq_on = spin_lock(&typed.lock);
	int64_t result = 0;

	__atomic_store_n(&is_open, true, __ATOMIC_RELAXED);
	while (!result && ready_put == ready_taken) {
		if (!may_wait)
			result = -EAGAIN;
		else if (wait_sleep_until(&typed, WAIT_FOR_EVER) == WOKEN_BY_SIGNAL)
			result = -EINTR;
	}
	if (!result)
		result = (int64_t)take_line(to, size);
	spin_unlock(&typed.lock, irq_on);
	return result;
}

/* Reads one line. If the line is longer than CHUNK characters, the next call returns the rest. */
static int64_t read_line(struct file *file, uintptr_t to, size_t size)
{
	char chunk[CHUNK];
	int64_t n, error;

	if (size == 0)
		return 0;
	n = take(chunk, size < CHUNK ? size : CHUNK, !(file->flags & O_NONBLOCK));
	error = n > 0 ? vm_copy_out(&process_self()->vm, to, chunk, (size_t)n) : 0;
	return error ? error : n;
}

static int64_t write_text(struct file *file, uintptr_t from, size_t size)
{
	char chunk[CHUNK];
	size_t done = 0;

	(void)file;
	while (done < size) {
		size_t n = size - done < CHUNK ? size - done : CHUNK;
		int error = vm_copy_in(&process_self()->vm, chunk, from + done, n);

		if (error)
			return done ? (int64_t)done : error;
		console_write(chunk, n);
		done += n;
	}
	return (int64_t)done;
}

static unsigned poll_console(struct file *file)
{
	bool irq_on = spin_lock(&typed.lock);
	unsigned events = POLLOUT | (ready_put != ready_taken ? POLLIN : 0);

	(void)file;
	__atomic_store_n(&is_open, true, __ATOMIC_RELAXED);
	spin_unlock(&typed.lock, irq_on);
	return events;
}

const struct file_operations console_operations = {
	.kind = "console",
	.read = read_line,
	.write = write_text,
	.poll = poll_console,
};
