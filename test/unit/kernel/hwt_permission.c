/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests which processes may trace which targets, and which requests are refused before permissions are
 * checked.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "unit/support/hwt_support.h"

static int try(struct hwt_process *caller, const struct ktrace_hwt_request *request)
{
	struct ktrace_hwt_owner owner = { 0 };
	uint32_t ident;
	int error = ktrace_hwt_alloc(&owner, &caller->trace, request, &ident);

	ktrace_hwt_owner_exit(&owner);
	return error;
}

struct permission {
	const char *what;
	struct ktrace_proc_identity caller, target;
	int error;
};

#define IDS(r, e, s, rg, eg, sg)                                                                  \
	{                                                                                         \
		.ruid = (r), .euid = (e), .svuid = (s), .rgid = (rg), .egid = (eg), .svgid = (sg) \
	}
#define PLAIN IDS(7, 7, 7, 8, 8, 8)
#define ROOT  IDS(0, 0, 0, 0, 0, 0)
#define IN_JAIL(n, r, e)                                                                              \
	{                                                                                             \
		.jail = (n), .ruid = (r), .euid = (e), .svuid = (r), .rgid = 8, .egid = 8, .svgid = 8 \
	}
#define DENIED KTRACE_ERROR_PERMISSION

static const struct permission permissions[] = {
	{ "a process of the same user", PLAIN, PLAIN, KTRACE_OK },
	{ "another user's", PLAIN, IDS(9, 9, 9, 8, 8, 8), DENIED },
	{ "another group's", PLAIN, IDS(7, 7, 7, 9, 9, 9), DENIED },
	{ "the superuser, any process", ROOT, PLAIN, KTRACE_OK },
	{ "the superuser by effective uid", IDS(7, 0, 7, 8, 8, 8), IDS(9, 9, 9, 9, 9, 9), KTRACE_OK },
	{ "no superuser by real uid", IDS(0, 7, 0, 8, 8, 8), IDS(9, 9, 9, 8, 8, 8), DENIED },
	{ "the effective uid counts, not the real one", IDS(9, 7, 9, 8, 8, 8), PLAIN, KTRACE_OK },
	{ "the superuser's, by a user", PLAIN, ROOT, DENIED },
	{ "a saved uid that is another", PLAIN, IDS(7, 7, 0, 8, 8, 8), DENIED },
	{ "a real uid that is another", PLAIN, IDS(9, 7, 7, 8, 8, 8), DENIED },
	{ "a saved gid that is another", PLAIN, IDS(7, 7, 7, 8, 8, 0), DENIED },
	{ "the caller's real gid counts", IDS(7, 7, 7, 9, 8, 8), PLAIN, DENIED },
	{ "one jail", IN_JAIL(3, 7, 7), IN_JAIL(3, 7, 7), KTRACE_OK },
	{ "another jail", IN_JAIL(3, 7, 7), IN_JAIL(4, 7, 7), DENIED },
	{ "out of a jail", IN_JAIL(3, 7, 7), IN_JAIL(0, 7, 7), DENIED },
	{ "into a jail", IN_JAIL(0, 7, 7), IN_JAIL(3, 7, 7), KTRACE_OK },
	{ "the superuser of a jail, in it", IN_JAIL(3, 0, 0), IN_JAIL(3, 7, 7), KTRACE_OK },
	{ "the superuser of a jail, out of it", IN_JAIL(3, 0, 0), IN_JAIL(4, 7, 7), DENIED },
};

static void check(const struct permission *permission, uint32_t set_id, int expected)
{
	struct hwt_process *caller = hwt_fork(0, 0), *target = hwt_fork(0, 0);
	struct ktrace_hwt_request request = hwt_request_thread(target);
	uint32_t pid = target->id.pid;
	int error;

	caller->id = permission->caller;
	caller->id.pid = 77;
	target->id = permission->target;
	target->id.pid = pid;
	target->id.set_id = set_id;
	error = try(caller, &request);
	if (error != expected)
		fail_msg("%s: %d", permission->what, error);
	caller->alive = target->alive = false;
}

static void permission_depends_on_the_ids_of_the_process(void **state)
{
	(void)state;
	hwt_start();
	for (size_t i = 0; i < sizeof(permissions) / sizeof(permissions[0]); i++) {
		check(&permissions[i], 0, permissions[i].error);
		check(&permissions[i], 1, permissions[i].caller.euid == 0 ? permissions[i].error : DENIED);
	}
}

static void only_the_superuser_traces_cpus(void **state)
{
	struct ktrace_hwt_request request = hwt_request_cpus(1);
	struct hwt_process *caller;

	(void)state;
	hwt_start();
	caller = hwt_fork(7, 7);
	assert_int_equal(try(caller, &request), KTRACE_ERROR_PERMISSION);
	caller->id.euid = 0;
	assert_int_equal(try(caller, &request), KTRACE_OK);
	caller->id.jail = 3;
	assert_int_equal(try(caller, &request), KTRACE_ERROR_PERMISSION);
}

static void invalid_requests_are_rejected(void **state)
{
	struct hwt_process *target;
	struct ktrace_hwt_request good, request;

	(void)state;
	hwt_start();
	target = hwt_fork(7, 7);
	good = hwt_request_thread(target);
	assert_int_equal(try(hwt_first(), &good), KTRACE_OK);
#define REFUSED(member, value, error)                                \
	do {                                                         \
		request = good;                                      \
		request.member = (value);                            \
		assert_int_equal(try(hwt_first(), &request), error); \
	} while (0)
	REFUSED(size, sizeof(request) - 8, KTRACE_ERROR_ARGUMENT);
	REFUSED(mode, 0, KTRACE_ERROR_ARGUMENT);
	REFUSED(mode, 3, KTRACE_ERROR_ARGUMENT);
	REFUSED(reserved, 1, KTRACE_ERROR_ARGUMENT);
	REFUSED(buffer_size, 0, KTRACE_ERROR_ARGUMENT);
	REFUSED(buffer_size, 4095, KTRACE_ERROR_ARGUMENT);
	REFUSED(buffer_size, 4096 + 8, KTRACE_ERROR_ARGUMENT);
	REFUSED(buffer_size, KTRACE_HWT_BUFFER_MAX + 4096, KTRACE_ERROR_ARGUMENT);
	REFUSED(queue_size, KTRACE_HWT_QUEUE_MIN - 8, KTRACE_ERROR_ARGUMENT);
	REFUSED(queue_size, KTRACE_HWT_QUEUE_MIN + 4, KTRACE_ERROR_ARGUMENT);
	REFUSED(queue_size, UINT64_C(1) << 40, KTRACE_ERROR_ARGUMENT);
	REFUSED(cpus[0], 1, KTRACE_ERROR_ARGUMENT);
	REFUSED(pid, 4711, KTRACE_ERROR_NO_PROCESS);
	REFUSED(backend[0], 'x', KTRACE_ERROR_DEVICE);
	good = hwt_request_cpus(1);
	REFUSED(cpus[0], 0, KTRACE_ERROR_ARGUMENT);
	REFUSED(pid, target->id.pid, KTRACE_ERROR_ARGUMENT);
	REFUSED(cpus[0], 1 << HWT_CPUS, KTRACE_ERROR_DEVICE);
	REFUSED(cpus[15], 1, KTRACE_ERROR_DEVICE);
	hwt_kernel.absent = 2;
	REFUSED(cpus[0], 3, KTRACE_ERROR_DEVICE);
	REFUSED(cpus[0], 5, KTRACE_OK);
}

static void a_backend_is_selected_by_name_or_mode(void **state)
{
	static struct ktrace_hwt_backend cpus_only;
	struct ktrace_hwt_request request = hwt_request_cpus(1);
	struct ktrace_hwt_owner owner = { 0 };

	(void)state;
	hwt_start();
	hwt_mock_make(&cpus_only, 64);
	cpus_only.name = "only";
	cpus_only.modes = 1 << KTRX_HWT_MODE_CPU;
	assert_int_equal(ktrace_hwt_add(&cpus_only), KTRACE_OK);
	assert_int_equal(ktrace_hwt_add(&cpus_only), KTRACE_ERROR_STATE);
	memcpy(request.backend, "only", 5);
	ktrace_hwt_put(hwt_alloc(&owner, hwt_first(), &request));
	assert_int_equal(ktrace_hwt_remove(&cpus_only), KTRACE_ERROR_BUSY);
	memcpy(request.backend, "", 1);
	/* accepted, because the backend `mock` does not trace this CPU yet */
	ktrace_hwt_put(hwt_alloc(&owner, hwt_first(), &request));
	assert_int_equal(try(hwt_first(), &request), KTRACE_ERROR_EXIST);
	request = hwt_request_thread(hwt_first());
	memcpy(request.backend, "only", 5);
	assert_int_equal(try(hwt_first(), &request), KTRACE_ERROR_DEVICE);
	memcpy(request.backend, "mock", 5);
	/* refused, because the backend `mock` already traces a CPU */
	assert_int_equal(try(hwt_first(), &request), KTRACE_ERROR_EXIST);
	ktrace_hwt_owner_exit(&owner);
	assert_int_equal(try(hwt_first(), &request), KTRACE_OK);
	/* without a NUL at its end, the field contains no valid name of a backend */
	memcpy(request.backend, "mockmock", 8);
	assert_int_equal(try(hwt_first(), &request), KTRACE_ERROR_DEVICE);
	assert_int_equal(ktrace_hwt_remove(&cpus_only), KTRACE_OK);
	assert_int_equal(ktrace_hwt_remove(&cpus_only), KTRACE_ERROR_ARGUMENT);
}

static void nothing_works_before_init(void **state)
{
	struct ktrace_hwt_request request = hwt_request_thread(hwt_first());
	struct ktrace_hwt_owner owner = { 0 };

	(void)state;
	assert_int_equal(ktrace_hwt_init(NULL), KTRACE_ERROR_ARGUMENT);
	assert_int_equal(try(hwt_first(), &request), KTRACE_ERROR_STATE);
	assert_int_equal(ktrace_hwt_add(&hwt_mock), KTRACE_ERROR_STATE);
	assert_int_equal(ktrace_hwt_remove(&hwt_mock), KTRACE_ERROR_STATE);
	assert_null(ktrace_hwt_get(1));
	assert_int_equal(ktrace_hwt_interrupt(), 0);
	ktrace_hwt_owner_exit(&owner);
	hwt_exit(hwt_fork(7, 7));
	hwt_start();
	assert_int_equal(ktrace_hwt_init(NULL), KTRACE_ERROR_ARGUMENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(permission_depends_on_the_ids_of_the_process, hwt_reset,
						hwt_check),
		cmocka_unit_test_setup_teardown(only_the_superuser_traces_cpus, hwt_reset, hwt_check),
		cmocka_unit_test_setup_teardown(invalid_requests_are_rejected, hwt_reset, hwt_check),
		cmocka_unit_test_setup_teardown(a_backend_is_selected_by_name_or_mode, hwt_reset, hwt_check),
		cmocka_unit_test_setup_teardown(nothing_works_before_init, hwt_reset, hwt_check),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
