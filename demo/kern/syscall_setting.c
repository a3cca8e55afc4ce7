/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * System calls on settings and on the states of events. Every user may read them; only the superuser may
 * change them.
 */
#include <ktrace/ktrace.h>

#include "abi.h"
#include "process.h"
#include "process_trace.h"
#include "syscall.h"

/* Size of the buffer for a value; the longest one is a mask of all events that a kernel can have. */
#define VALUE_MAX 1088
#define TEXT_MAX  512

/* State of a search for the nth of the names that the library passes to a callback. */
struct search {
	uint64_t left;
	size_t size;
	char name[KTRACE_SETTING_NAME_MAX];
};

static int take_nth(void *cookie, const char *name)
{
	struct search *search = cookie;

	if (search->left-- > 0)
		return 0;
	while (name[search->size] && search->size + 1 < sizeof(search->name)) {
		search->name[search->size] = name[search->size];
		search->size++;
	}
	search->name[search->size++] = '\0';
	return 1;
}

static int64_t error_of(int error)
{
	switch (error) {
	case KTRACE_OK:
		return 0;
	case KTRACE_ERROR_NO_SETTING:
	case KTRACE_ERROR_NO_EVENT:
		return -ENOENT;
	case KTRACE_ERROR_READ_ONLY:
		return -EACCES;
	case KTRACE_ERROR_MEMORY:
		return -ERANGE;
	default:
		return -EINVAL;
	}
}

static int64_t give(const struct call *call, const char *text, size_t size)
{
	int error;

	if (call->a[2] < size)
		return -ERANGE;
	error = vm_copy_out(&process_self()->vm, call->a[1], text, size);
	return error ? error : (int64_t)size;
}

/*
 * setting_name(n, buffer, size): copies the name of the nth setting, with its NUL, to the buffer. Returns its
 * size. ENOENT: there is no nth setting.
 */
int64_t sys_setting_name(const struct call *call)
{
	struct search search = { .left = call->a[0] };

	return ktrace_setting_each(take_nth, &search) ? give(call, search.name, search.size) : -ENOENT;
}

static void take_near(void *cookie, const char *name)
{
	take_nth(cookie, name);
}

/*
 * setting_near(text, n, buffer, size): `text` is a text that setting_set() refused, because of an unknown
 * name in it. Copies the nth known name that is similar to the unknown one. Otherwise like setting_name().
 */
int64_t sys_setting_near(const struct call *call)
{
	const struct call rest = { .a = { 0, call->a[2], call->a[3] } };
	struct search search = { .left = call->a[1] };
	char text[KTRACE_SETTING_NAME_MAX];
	int64_t length = vm_copy_string(&process_self()->vm, text, call->a[0], sizeof(text));

	if (length < 0)
		return length;
	ktrace_control_near(text, (size_t)length, take_near, &search);
	return search.size > 0 ? give(&rest, search.name, search.size) : -ENOENT;
}

static void trace_name(const char *name, size_t length)
{
	struct process *self = process_self();

	ktrace_proc_sysctl(&self->trace, &thread_self()->trace, name, length);
}

/*
 * setting_get(name, buffer, size): copies the value of a setting, as text with a NUL, to the buffer. Returns
 * the text's size.
 */
int64_t sys_setting_get(const struct call *call)
{
	char name[KTRACE_SETTING_NAME_MAX], value[VALUE_MAX];
	int64_t length = vm_copy_string(&process_self()->vm, name, call->a[0], sizeof(name));

	if (length < 0)
		return length;
	trace_name(name, (size_t)length);
	length = ktrace_setting_get(name, value, sizeof(value));
	return length < 0 ? error_of((int)length) : give(call, value, (size_t)length + 1);
}

/* setting_set(text): `text` is "name=value", or anything else that ktrace_control() accepts. */
int64_t sys_setting_set(const struct call *call)
{
	char text[TEXT_MAX];
	int64_t length = vm_copy_string(&process_self()->vm, text, call->a[0], sizeof(text));
	size_t name = 0;
	int error;

	if (length < 0)
		return length;
	while (text[name] && text[name] != '=')
		name++;
	trace_name(text, name);
	error = call_superuser();
	return error ? error : error_of(ktrace_control(text));
}
