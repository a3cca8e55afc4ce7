/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* Tests the host's side of the mailbox, with guests that answer correctly, wrongly, or not at all. */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture/error.h"
#include "capture/memory.h"

#define AT	 4096u
#define NONCE	 UINT64_C(0x1234)
#define LONG_NS	 UINT64_C(300000000000) /* limit that only a test that hangs reaches */
#define SHORT_NS UINT64_C(30000000)

static struct {
	char path[32];
	int descriptor;
	/* number of heartbeats that the pulse reports, and by how much this number increases at each read */
	uint64_t heartbeats, step;
	/* the guest takes its first tick at this read of the pulse, counted from 1; 0: it takes no tick */
	uint64_t reads_to_first_tick;
	int absent; /* true if the guest has no mailbox */
} guest;

/* ---- Functions that replace those of the library --------------------------------------------------- */

int ktread_memory_open_ram(struct ktread_memory **memory, const char *path, const char *machine)
{
	(void)path;
	(void)machine;
	*memory = NULL;
	return 0;
}

int ktread_image_find(struct ktread_image **image, struct ktread_memory *memory)
{
	(void)memory;
	*image = NULL;
	return 0;
}

int ktread_image_place(const struct ktread_image *image, uint32_t type, uint64_t bytes, uint64_t *position)
{
	(void)image;
	assert_int_equal(type, KTRX_SECTION_MAILBOX);
	assert_int_equal(bytes, sizeof(struct ktrx_mailbox));
	*position = AT;
	return guest.absent ? KTREAD_E_ABSENT : 0;
}

int ktread_image_pulse(struct ktread_image *image, struct ktread_pulse *pulse)
{
	(void)image;
	memset(pulse, 0, sizeof(*pulse));
	if (guest.reads_to_first_tick && --guest.reads_to_first_tick == 0)
		guest.heartbeats = 1;
	pulse->heartbeats = guest.heartbeats;
	guest.heartbeats += guest.step;
	return 0;
}

void ktread_image_close(struct ktread_image *image)
{
	(void)image;
}

void ktread_memory_close(struct ktread_memory *memory)
{
	(void)memory;
}

const char *ktread_image_message(void)
{
	return "nothing";
}

/* ---- The simulated guest --------------------------------------------------------------------------- */

static void head_write(const struct ktrx_mailbox *head)
{
	assert_int_equal(pwrite(guest.descriptor, head, sizeof(*head), AT), sizeof(*head));
}

static int start(void **state)
{
	struct ktrx_mailbox empty = { .nonce = NONCE, .capacity = KTRX_MAILBOX_REQUESTS };

	(void)state;
	memset(&guest, 0, sizeof(guest));
	strcpy(guest.path, "/tmp/ktrace-mailbox-XXXXXX");
	guest.descriptor = mkstemp(guest.path);
	assert_true(guest.descriptor >= 0);
	memcpy(empty.magic, KTRX_MAILBOX_MAGIC, sizeof(empty.magic));
	head_write(&empty);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	close(guest.descriptor);
	unlink(guest.path);
	return 0;
}

/* A guest that answers `wanted` requests with `result`, as a kernel does. */
struct ticks {
	uint32_t wanted, result;
	uint64_t sum;	  /* sum over all requests: the request's value multiplied by its position */
	uint32_t unsound; /* number of requests with a wrong sequence or check */
};

static void *tick(void *context)
{
	struct ticks *ticks = context;
	struct ktrx_mailbox box;

	for (uint32_t done = 0; done < ticks->wanted; usleep(200)) {
		assert_int_equal(pread(guest.descriptor, &box, sizeof(box), AT), sizeof(box));
		while (box.applied != box.requested) {
			uint32_t sequence = ++box.applied, n = sequence % KTRX_MAILBOX_REQUESTS;
			struct ktrx_request *request = &box.request[n];
			size_t offset = offsetof(struct ktrx_mailbox, request) + n * sizeof(*request) +
					offsetof(struct ktrx_request, result);

			ticks->unsound += request->sequence != sequence ||
					  request->check != ktrx_request_check(request);
			ticks->sum += request->value * ++done;
			pwrite(guest.descriptor, &ticks->result, sizeof(ticks->result), (off_t)(AT + offset));
		}
		pwrite(guest.descriptor, &box.applied, sizeof(box.applied),
		       AT + offsetof(struct ktrx_mailbox, applied));
	}
	return NULL;
}

/* Sends requests to a guest that answers with `result`. Returns what capture_mailbox_send() returned. */
static int send_many(uint32_t count, uint32_t result, struct ktrx_request *request)
{
	struct ticks ticks = { .wanted = count, .result = result };
	struct capture_mailbox *mailbox;
	uint64_t sum = 0;
	pthread_t thread;
	int status;

	for (uint32_t n = 0; n < count; n++) {
		request[n] = (struct ktrx_request){ .op = KTRX_REQUEST_SETTING, .value = n };
		sum += (uint64_t)n * (n + 1);
	}
	assert_int_equal(capture_mailbox_open(&mailbox, guest.path, NULL, NONCE, LONG_NS), 0);
	pthread_create(&thread, NULL, tick, &ticks);
	status = capture_mailbox_send(mailbox, request, count, LONG_NS);
	pthread_join(thread, NULL);
	capture_mailbox_close(mailbox);
	assert_int_equal(ticks.unsound, 0);
	assert_int_equal(ticks.sum, sum);
	return status;
}

static void requests_are_answered(void **state)
{
	struct ktrx_request request[3];

	(void)state;
	assert_int_equal(send_many(3, KTRX_RESULT_DONE, request), 0);
	for (uint32_t n = 0; n < 3; n++)
		assert_int_equal(request[n].result, KTRX_RESULT_DONE);
	assert_int_equal(send_many(1, KTRX_RESULT_DONE, request), 0);
	assert_int_equal(request[0].sequence, 4);
}

static void many_requests_are_sent_in_portions(void **state)
{
	static struct ktrx_request request[1000];

	(void)state;
	assert_int_equal(send_many(1000, KTRX_RESULT_DONE, request), 0);
	assert_int_equal(request[999].sequence, 1000);
	assert_int_equal(request[999].result, KTRX_RESULT_DONE);
}

static void unknown_result_is_a_refusal(void **state)
{
	struct ktrx_request request[1];

	(void)state;
	assert_int_equal(send_many(1, 0xdeadbeef, request), 0);
	assert_int_equal(request[0].result, KTRX_RESULT_REFUSED);
	assert_int_equal(send_many(1, KTRX_RESULT_TORN, request), 0);
	assert_int_equal(request[0].result, KTRX_RESULT_TORN);
}

/* Sends a request that the guest does not answer. Checks the reason that the message states. */
static void expect_no_answer(const char *reason)
{
	struct ktrx_request request = { .op = KTRX_REQUEST_STOP };
	struct capture_mailbox *mailbox;

	assert_int_equal(capture_mailbox_open(&mailbox, guest.path, NULL, NONCE, SHORT_NS), 0);
	assert_int_equal(capture_mailbox_send(mailbox, &request, 1, SHORT_NS), CAPTURE_E_ABSENT);
	assert_non_null(strstr(capture_message(), reason));
	assert_int_equal(request.result, KTRX_RESULT_NONE);
	capture_mailbox_close(mailbox);
}

static void missing_answer_is_explained(void **state)
{
	(void)state;
	expect_no_answer("never called ktrace_heartbeat()");
	guest.heartbeats = 7;
	expect_no_answer("took no timer tick");
	guest.step = 1;
	expect_no_answer("does not process its mailbox");
}

static void booting_guest_is_waited_for(void **state)
{
	struct capture_mailbox *mailbox;

	(void)state;
	assert_int_equal(capture_mailbox_open(&mailbox, guest.path, NULL, NONCE, SHORT_NS), 0);
	assert_int_equal(capture_mailbox_await_tick(mailbox, SHORT_NS), CAPTURE_E_ABSENT);
	assert_non_null(strstr(capture_message(), "never called ktrace_heartbeat()"));
	guest.reads_to_first_tick = 5;
	assert_int_equal(capture_mailbox_await_tick(mailbox, LONG_NS), 0);
	assert_int_equal(guest.reads_to_first_tick, 0);
	capture_mailbox_close(mailbox);
}

static void full_mailbox_is_waited_for(void **state)
{
	struct ktrx_mailbox box = { .nonce = NONCE, .capacity = KTRX_MAILBOX_REQUESTS, .requested = 64 };

	(void)state;
	memcpy(box.magic, KTRX_MAILBOX_MAGIC, sizeof(box.magic));
	head_write(&box);
	expect_no_answer("no answer from the guest");
	box.requested = 0x80000001; /* a value that no host writes */
	head_write(&box);
	expect_no_answer("no answer from the guest");
}

static void another_boot_gets_no_requests(void **state)
{
	struct capture_mailbox *mailbox;
	struct ktrx_mailbox box;

	(void)state;
	assert_int_equal(capture_mailbox_open(&mailbox, guest.path, NULL, NONCE + 1, SHORT_NS),
			 CAPTURE_E_ABSENT);
	assert_non_null(strstr(capture_message(), "booted again"));
	assert_int_equal(pread(guest.descriptor, &box, sizeof(box), AT), sizeof(box));
	assert_int_equal(box.requested, 0);
	guest.absent = 1;
	assert_int_equal(capture_mailbox_open(&mailbox, guest.path, NULL, NONCE, SHORT_NS), CAPTURE_E_ABSENT);
	assert_non_null(strstr(capture_message(), "no mailbox"));
}

static void second_host_is_locked_out(void **state)
{
	struct capture_mailbox *mailbox;

	(void)state;
	assert_int_equal(flock(guest.descriptor, LOCK_EX), 0);
	assert_int_equal(capture_mailbox_open(&mailbox, guest.path, NULL, NONCE, SHORT_NS), CAPTURE_E_ABSENT);
	assert_non_null(strstr(capture_message(), "another ktrace control"));
	assert_int_equal(flock(guest.descriptor, LOCK_UN), 0);
	assert_int_equal(capture_mailbox_open(&mailbox, guest.path, NULL, NONCE, SHORT_NS), 0);
	assert_int_not_equal(flock(guest.descriptor, LOCK_EX | LOCK_NB), 0);
	capture_mailbox_close(mailbox);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(requests_are_answered, start, stop),
		cmocka_unit_test_setup_teardown(many_requests_are_sent_in_portions, start, stop),
		cmocka_unit_test_setup_teardown(unknown_result_is_a_refusal, start, stop),
		cmocka_unit_test_setup_teardown(missing_answer_is_explained, start, stop),
		cmocka_unit_test_setup_teardown(booting_guest_is_waited_for, start, stop),
		cmocka_unit_test_setup_teardown(full_mailbox_is_waited_for, start, stop),
		cmocka_unit_test_setup_teardown(another_boot_gets_no_requests, start, stop),
		cmocka_unit_test_setup_teardown(second_host_is_locked_out, start, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
