/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
#include <stddef.h>

#include "arch.h"
#include "power.h"
#include "print.h"
#include "process.h"
#include "string.h"
#include "userland.h"

#define INIT	  "/bin/init"
#define WORDS_MAX 32
#define BYTES_MAX 2048

/* Splits text at blanks into words. words[] ends with a NULL. */
static void cut(char *text, char *words[], size_t max)
{
	size_t n = 0;

	while (*text && n + 1 < max) {
		while (*text == ' ')
			*text++ = '\0';
		if (*text)
			words[n++] = text;
		while (*text && *text != ' ')
			text++;
	}
	*text = '\0';
	words[n] = NULL;
}

void userland_start(void)
{
	static char text[BYTES_MAX];
	char *argv[WORDS_MAX] = { "init" };
	int error;

	string_copy(text, arch_boot_args(), sizeof(text));
	cut(text, argv + 1, WORDS_MAX - 1);
	error = process_start_init(INIT, argv);
	if (!error)
		return;
	kprintf(INIT ": error %d\n", -error);
	power_off(1);
}
