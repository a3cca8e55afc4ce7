/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <stdbool.h>

#include "arch.h"
#include "cpu.h"
#include "print.h"
#include "spinlock.h"
#include "string.h"

#define LINE_MAX 256 /* size of the buffer for a message, including the NUL; longer messages are truncated */

static struct spinlock console_lock = SPINLOCK("console");

void console_write_unlocked(const char *text)
{
	while (*text)
		arch_console_putc(*text++);
}

void console_write(const char *text, size_t size)
{
	bool irq_on = spin_lock(&console_lock);

	for (size_t i = 0; i < size; i++)
		arch_console_putc(text[i]);
	spin_unlock(&console_lock, irq_on);
}

void console_write_nested(const char *text, size_t size)
{
	bool irq_on = arch_irq_save();

	/* Interrupts are off, so the thread cannot migrate to the holder's CPU during the comparison. */
	if (__atomic_load_n(&console_lock.holder, __ATOMIC_RELAXED) != arch_this_cpu()->id + 1)
		console_write(text, size);
	arch_irq_restore(irq_on);
}

void console_seize(void)
{
	__atomic_store_n(&console_lock.holder, 0, __ATOMIC_RELEASE);
}

void kprintf(const char *text, ...)
{
	char line[LINE_MAX];
	va_list arguments;
	bool irq_on;

	va_start(arguments, text);
	vformat(line, sizeof(line), text, arguments);
	va_end(arguments);
	irq_on = spin_lock(&console_lock);
	console_write_unlocked(line);
	spin_unlock(&console_lock, irq_on);
}
