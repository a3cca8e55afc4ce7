/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* QEMU's command line: its arguments, its options, and the meaning of the options. */
#ifndef CAPTURE_QEMU_LINE_H
#define CAPTURE_QEMU_LINE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Grammar of a QEMU command line: which arguments are options, which options take a value, property lists
 * like "size=1G,slots=2" (a comma inside a value is doubled), and sizes. These functions do not know the
 * meaning of options.
 */

struct capture_qemu_option {
	const char *name; /* name without dashes; "" for an argument that is not an option (a disk image) */
	/* the next argument; NULL if the option takes no value, or if no argument is left */
	const char *value;
	size_t index; /* index of the option itself in `words` */
};

/*
 * Reads the option at words[*at] and sets *at to the argument after it. Returns false at the NULL at the end
 * of the line.
 */
bool capture_qemu_option_next(char *const *words, size_t *at, struct capture_qemu_option *option);
bool capture_qemu_option_is(const struct capture_qemu_option *option, const char *name);

/*
 * Copies the value of `key` in `list`: replaces doubled commas by single commas, and truncates the value to
 * `size` bytes. `implied`: the key of a first item without '=', or NULL. If the key occurs several times, the
 * last value counts, as in QEMU. Returns false if the key does not occur.
 */
bool capture_qemu_property(const char *list, const char *implied, const char *key, char *value, size_t size);

/*
 * Converts a size such as "128", "1.5G" or "0x100000k" to bytes. A number without a suffix is multiplied by
 * `unit`. Returns 0 or CAPTURE_E_USAGE.
 */
int capture_qemu_size(const char *text, uint64_t unit, uint64_t *bytes);

/*
 * A growing, NULL-terminated list of arguments for execv(). If an allocation fails, the functions set
 * `failed` instead of returning an error.
 */

struct capture_words {
	/* array of arguments; the list owns the array and the arguments; NULL while the list is empty */
	char **word;
	size_t count;
	uint32_t room;
	bool failed; /* an argument could not be stored, so the list must not be used */
};

/* Appends a copy of the argument `word`. */
void capture_words_add(struct capture_words *words, const char *word);
__attribute__((format(printf, 2, 3))) void capture_words_format(struct capture_words *words,
								const char *format, ...);
void capture_words_free(struct capture_words *words);

/*
 * What ktrace needs to know about a QEMU command line: its RAM size and machine, options that ktrace must not
 * add again, and options with which ktrace does not work.
 */

#define CAPTURE_QEMU_PREFIX "qemu-system-"

struct capture_qemu_line {
	/* QEMU's architecture, from the name of its program: x86_64, i386, aarch64 … */
	char architecture[32];
	char machine[64]; /* name of the board; "" if no option specifies it */
	uint64_t ram_bytes;
	/*
	 * an option such as -version or -device help is given: QEMU prints something and ends without a guest
	 */
	bool asks_only;
	/* QEMU continues after a reset: neither -no-reboot nor -action reboot=shutdown is given */
	bool stays_on_reset;
	bool own_shutdown; /* options specify what QEMU does when the guest shuts down */
	bool paused;	   /* -S is given: the user starts the guest */
	bool incoming;	   /* -incoming is given: the migration starts the guest */
	/* -s or -gdb is given: a debugger may inspect the guest after it has stopped */
	bool gdb;
	bool uses_terminal;	 /* the serial line or the monitor uses stdin and stdout */
	bool ends_without_event; /* a device or a call of the guest can end QEMU without a QMP event */
	bool semihosting;
	bool kernel;	      /* -kernel is given */
	char accelerator[32]; /* the accelerator that the options name first; "" if none */
	bool own_clock;	      /* -icount is given, so the guest's counters do not follow real time */
	size_t append_at;     /* index of the value of -append, 0 if there is none */

	char kernel_path[PATH_MAX]; /* value of -kernel; "" if there is none or it is too long */

	/*
	 * id of the memory backend, and path of its file, if options define RAM as a shared file; otherwise
	 * ""
	 */
	char backend[64];
	char backend_path[PATH_MAX];
};

/* Returns the file name in `path` if it has the form qemu-system-ARCHITECTURE, otherwise NULL. */
const char *capture_qemu_program(const char *path);

/*
 * Returns QEMU's name for an architecture: x86_64 for x64, aarch64 for arm64, and so on. Returns a name that
 * ktrace does not know unchanged.
 */
const char *capture_qemu_architecture(const char *name);

bool capture_qemu_is_x86(const char *architecture);

/*
 * Reads the QEMU command line `words`; words[0] is the program. Returns 0, or CAPTURE_E_USAGE if ktrace
 * cannot trace a QEMU with this command line.
 */
int capture_qemu_line_read(struct capture_qemu_line *line, char *const *words);

#endif
