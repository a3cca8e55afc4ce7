/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Tests Intel PT packets other than branches: power events, PTWRITE, overflow, event trace, and packets of
 * CPUs with errata.
 */
#include "unit/support/hwt_reading.h"

static struct hwt_packets_writer packets;
static struct hwt_file_writer writer;

/*
 * Begins a file with the trace of a CPU of family 6 with this model number or, if `model` is 0, of the unit
 * in software.
 */
static void begin(uint8_t model)
{
	const struct ktrx_hwt_context context = { .ident = 1,
						  .mode = KTRX_HWT_MODE_CPU,
						  .encoding = KTRX_HWT_ENCODING_PT,
						  .backend = KTRX_HWT_BACKEND_PT,
						  .level = KTRX_HWT_USER };
	const struct ktrx_hwt_pt pt = { .family = 6, .model = model };

	file_begin(&writer);
	if (model)
		file_record(&writer, KTRX_HWT_CONTEXT, 0, &context, sizeof(context), &pt, sizeof(pt));
	else
		file_context(&writer, 1, 0);
	file_code(&writer, PROGRAM_AT, 0, program, sizeof(program));
	packets_begin(&packets);
}

/* Appends bytes that libipt's encoder cannot write. */
static void put_bytes(const void *bytes, size_t size)
{
	const size_t at = packets_size(&packets);

	memcpy(packets.bytes + at, bytes, size);
	assert_int_equal(pt_enc_sync_set(packets.encoder, at + size), 0);
}

static struct reading finish(void)
{
	struct reading reading;

	file_data(&writer, 1, 0, 0, packets.bytes, packets_end(&packets));
	reading = read_file(&writer);
	open_stream(&reading, 0);
	return reading;
}

static struct hwt_step next_note(struct reading *reading, const char *text)
{
	const struct hwt_step *step = next(reading, HWT_NOTE);

	assert_string_equal(step->text, text);
	return *step;
}

/* The packets that hwt_packets() has listed, each as a line "NAME TEXT\n". */
static char listed[4096];

static void list(void *to, uint64_t offset, const char *name, const char *text)
{
	const size_t length = strlen(listed);

	(void)to;
	(void)offset;
	snprintf(listed + length, sizeof(listed) - length, "%s %s\n", name, text);
}

/*
 * Lists packets with hwt_packets(), and checks that the list contains a text. Returns the result of
 * hwt_packets().
 */
static int check_listed(const struct reading *reading, const char *text)
{
	int damaged;

	listed[0] = '\0';
	damaged = hwt_packets(reading->file, 0, list, NULL);
	if (!strstr(listed, text))
		fail_msg("\"%s\" is not in:\n%s", text, listed);
	return damaged;
}

static void c_states_are_named_by_mwait_hints(void **state)
{
	struct reading reading;

	(void)state;
	begin(0);
	packets_sync(&packets, 0, 0, 0);
	packet_put(&packets, &(struct pt_packet){ .type = ppt_pwre,
						  .payload.pwre = { .state = 5, .sub_state = 0, .hw = 1 } });
	packet_put(&packets, &(struct pt_packet){ .type = ppt_pwrx,
						  .payload.pwrx = { .last = 15, .deepest = 0, .store = 1 } });
	packet_put(&packets,
		   &(struct pt_packet){ .type = ppt_pwrx,
					.payload.pwrx = { .last = 0, .deepest = 5, .interrupt = 1 } });
	packet_put(&packets,
		   &(struct pt_packet){ .type = ppt_pwrx,
					.payload.pwrx = { .last = 0, .deepest = 5, .autonomous = 1 } });
	reading = finish();
	next_note(&reading, "power state C6.1 entered by hardware");
	next_note(&reading, "power state left: C0, at deepest C1, woken by a store");
	next_note(&reading, "power state left: C1, at deepest C6, woken by an interrupt");
	next_note(&reading, "power state left: C1, at deepest C6, woken by hardware");
	assert_int_equal(
		check_listed(&reading, "PWRE C6.1 by hardware\nPWRX C0, at deepest C1, woken by a store\n"),
		0);
	end(&reading);
}

static void ptwrite_note_has_the_address_of_its_packet(void **state)
{
	struct reading reading;
	struct hwt_step step;

	(void)state;
	begin(0);
	packets_sync(&packets, 0, 0, PROGRAM_NOPS);
	packet_put(&packets, &(struct pt_packet){ .type = ppt_ptw,
						  .payload.ptw = { .payload = 0x1234, .plc = 0, .ip = 1 } });
	packet_address(&packets, ppt_fup, PROGRAM_NOPS + 1);
	packet_address(&packets, ppt_fup, PROGRAM_JMP);
	packet_address(&packets, ppt_tip_pgd, 0);
	reading = finish();
	assert_int_equal(next(&reading, HWT_RUN)->last, PROGRAM_NOPS + 1);
	step = next_note(&reading, "ptwrite 0x1234");
	assert_int_equal(step.has_address, 1);
	assert_int_equal(step.address, PROGRAM_NOPS + 1);
	next(&reading, HWT_ASYNC);
	next(&reading, HWT_OFF);
	end(&reading);
}

/* Erratum APL11: on some CPUs, TIP.PGD follows OVF if tracing ended during the overflow. */
static void write_ended_overflow(void)
{
	packets_sync(&packets, 0, 0, PROGRAM_NOPS);
	packet_plain(&packets, ppt_ovf);
	packet_address(&packets, ppt_tip_pgd, PROGRAM_AT);
	packet_address(&packets, ppt_tip_pge, PROGRAM_JMP);
	packet_address(&packets, ppt_fup, PROGRAM_JMP);
	packet_address(&packets, ppt_tip_pgd, 0);
}

static void errata_of_cpus_newer_than_libipt_are_applied(void **state)
{
	/*
	 * libipt 2.0 handles this erratum for Goldmont Plus (0x7a), but not for Raptor Lake (0xb7) and Sierra
	 * Forest (0xaf).
	 */
	static const uint8_t models[] = { 0x7a, 0xb7, 0xaf };

	(void)state;
	for (size_t n = 0; n < sizeof(models); n++) {
		struct reading reading;

		begin(models[n]);
		write_ended_overflow();
		reading = finish();
		next(&reading, HWT_OVERFLOW);
		assert_int_equal(next(&reading, HWT_ON)->address, PROGRAM_JMP);
		next(&reading, HWT_ASYNC);
		next(&reading, HWT_OFF);
		end(&reading);
	}
}

static void unknown_errata_of_a_model_give_a_warning(void **state)
{
	static const uint8_t models[] = { 0x5e, 0xb7, 0xff };

	(void)state;
	for (size_t n = 0; n < sizeof(models); n++) {
		struct reading reading;
		const char *warning;

		begin(models[n]);
		packet_plain(&packets, ppt_psb);
		packet_plain(&packets, ppt_psbend);
		reading = finish();
		warning = hwt_file_warning(reading.file, 0);
		if (models[n] != 0xff)
			assert_null(warning);
		else
			assert_non_null(strstr(warning, "CPU family 6 model 0xff: its errata are not known"));
		end(&reading);
	}
}

static void cpu_without_erratum_treats_its_packets_as_damage(void **state)
{
	struct reading reading;

	(void)state;
	begin(0xcf); /* model number of Emerald Rapids */
	write_ended_overflow();
	reading = finish();
	assert_int_equal(next(&reading, HWT_GAP)->gap, HWT_GAP_DAMAGED);
	end(&reading);
}

/* Erratum SKL014: TIP.PGD has no address if a direct branch leaves the ranges. */
static void direct_jumps_are_followed_until_one_leaves_the_range(void **state)
{
	const struct ktrx_hwt_context context = { .ident = 1,
						  .mode = KTRX_HWT_MODE_CPU,
						  .encoding = KTRX_HWT_ENCODING_PT,
						  .backend = KTRX_HWT_BACKEND_PT,
						  .level = KTRX_HWT_USER,
						  .ranges = 1,
						  .range = { { PROGRAM_AT, PROGRAM_LEAF } } };
	const struct ktrx_hwt_pt pt = { .family = 6, .model = 0x5e }; /* model number of Skylake */
	struct reading reading;

	(void)state;
	begin(0);
	file_record(&writer, KTRX_HWT_CONTEXT, 0, &context, sizeof(context), &pt, sizeof(pt));
	packets_sync(&packets, 0, 0, PROGRAM_NOPS);
	packet_address(&packets, ppt_tip_pgd, 0);
	packet_address(&packets, ppt_tip_pge, PROGRAM_JNE);
	packet_branches(&packets, "T");
	packet_address(&packets, ppt_fup, PROGRAM_AT);
	packet_address(&packets, ppt_tip_pgd, 0);
	reading = finish();
	assert_int_equal(next(&reading, HWT_RUN)->last, PROGRAM_JMP);
	next_run(&reading, PROGRAM_AT, PROGRAM_JNE, HWT_BRANCH_CALL, 0);
	next(&reading, HWT_OFF);
	next(&reading, HWT_ON);
	next_run(&reading, PROGRAM_JNE, PROGRAM_NOPS, HWT_BRANCH_CONDITIONAL, PROGRAM_JMP);
	next_run(&reading, PROGRAM_JMP, PROGRAM_JMP + 2, HWT_BRANCH_JUMP, PROGRAM_AT);
	assert_int_equal(next(&reading, HWT_ASYNC)->address, PROGRAM_AT);
	next(&reading, HWT_OFF);
	end(&reading);
}

static const uint8_t event_page_fault[] = { 2, 0x13, 1, 14 };
static const uint8_t event_data[] = { 2, 0x53, 0, 0xaa, 0x0b, 0xf0, 0, 0, 0, 0, 0 };
static const uint8_t event_at_address[] = { 2, 0x13, 0x80 | 10, 0 };
static const uint8_t trigger[] = { 0xd9, 0x60, 0x1a, 3, 1 };

static void event_packets_are_skipped_and_listed(void **state)
{
	struct reading reading;

	(void)state;
	begin(0);
	packets_sync(&packets, 0, 0, PROGRAM_NOPS);
	put_bytes(event_data, sizeof(event_data));
	put_bytes(event_page_fault, sizeof(event_page_fault));
	packet_address(&packets, ppt_fup, PROGRAM_NOPS + 1);
	packet_address(&packets, ppt_tip, PROGRAM_JMP);
	put_bytes(trigger, sizeof(trigger));
	packet_address(&packets, ppt_fup, PROGRAM_JMP);
	packet_address(&packets, ppt_tip_pgd, 0);
	reading = finish();
	next_run(&reading, PROGRAM_NOPS, PROGRAM_NOPS + 1, HWT_BRANCH_NONE, PROGRAM_NOPS + 1);
	assert_int_equal(next(&reading, HWT_ASYNC)->to, PROGRAM_JMP);
	next(&reading, HWT_ASYNC);
	next(&reading, HWT_OFF);
	assert_int_equal(
		check_listed(&reading, "EVD 0 CR2 f00baa\nCFE 1 interrupt 14\nFUP 0000000000401008\n"), 0);
	check_listed(&reading, "TRIG 1a, several, 259 instructions before\n");
	end(&reading);
}

/* libipt 2.0 cannot read the packet of such an event. libipt 2.1 reads it, and decodes the code around it. */
static void event_with_address_is_decoded_or_reported(void **state)
{
	const struct pt_version version = pt_library_version();
	struct reading reading;

	(void)state;
	begin(0);
	packets_sync(&packets, 0, 0, PROGRAM_JNE);
	packet_branches(&packets, "N");
	put_bytes(event_at_address, sizeof(event_at_address));
	packet_address(&packets, ppt_fup, PROGRAM_NOPS + 1);
	packet_address(&packets, ppt_fup, PROGRAM_NOPS + 1);
	packet_address(&packets, ppt_tip_pgd, 0);
	packet_address(&packets, ppt_tip_pge, PROGRAM_JMP);
	packet_address(&packets, ppt_fup, PROGRAM_JMP);
	packet_address(&packets, ppt_tip_pgd, 0);
	reading = finish();
	if (version.major == 2 && version.minor == 0) {
		next_run(&reading, PROGRAM_JNE, PROGRAM_NOPS, HWT_BRANCH_CONDITIONAL, 0);
		assert_int_equal(
			next_gap(&reading, "packet CFE 10 shutdown with address is not decoded")->gap,
			HWT_GAP_UNREAD);
	} else {
		next_run(&reading, PROGRAM_JNE, PROGRAM_NOPS, HWT_BRANCH_CONDITIONAL, PROGRAM_NOPS);
		next_run(&reading, PROGRAM_NOPS, PROGRAM_NOPS + 1, HWT_BRANCH_NONE, PROGRAM_NOPS + 1);
		next(&reading, HWT_ASYNC);
		next(&reading, HWT_OFF);
	}
	assert_int_equal(next(&reading, HWT_ON)->address, PROGRAM_JMP);
	next(&reading, HWT_ASYNC);
	next(&reading, HWT_OFF);
	end(&reading);
}

static void decoding_resumes_at_overflow_after_missing_code(void **state)
{
	static const enum pt_packet_type begins[] = { ppt_fup, ppt_tip_pge };

	(void)state;
	for (size_t n = 0; n < 2; n++) {
		struct reading reading;

		begin(0);
		packets_sync(&packets, 0, 0, PROGRAM_LEAF);
		packet_address(&packets, ppt_tip, 0x5000);
		packet_branches(&packets, "TNT");
		packet_plain(&packets, ppt_ovf);
		packet_address(&packets, begins[n], PROGRAM_NOPS);
		packet_address(&packets, ppt_fup, PROGRAM_JMP);
		packet_address(&packets, ppt_tip_pgd, 0);
		reading = finish();
		next_run(&reading, PROGRAM_LEAF, PROGRAM_LEAF + 3, HWT_BRANCH_RETURN, 0);
		assert_int_equal(next_gap(&reading, "no image of the code at 0x5000")->gap, HWT_GAP_CODE);
		next(&reading, HWT_OVERFLOW);
		if (begins[n] == ppt_tip_pge)
			assert_int_equal(next(&reading, HWT_ON)->address, PROGRAM_NOPS);
		next_run(&reading, PROGRAM_NOPS, PROGRAM_JMP, HWT_BRANCH_NONE, PROGRAM_JMP);
		next(&reading, HWT_ASYNC);
		next(&reading, HWT_OFF);
		end(&reading);
	}
}

static void empty_trace_has_no_gap(void **state)
{
	struct reading reading;

	(void)state;
	begin(0xcf);
	packet_plain(&packets, ppt_psb);
	packet_plain(&packets, ppt_psbend);
	reading = finish();
	end(&reading);
}

static void undecodable_psb_is_reported_as_damage(void **state)
{
	struct reading reading;

	(void)state;
	begin(0);
	packet_plain(&packets, ppt_psb);
	packet_branches(&packets, "TN");
	packet_plain(&packets, ppt_ovf);
	reading = finish();
	assert_int_equal(next_gap(&reading, "19 bytes that cannot be decoded from any PSB: ")->gap,
			 HWT_GAP_DAMAGED);
	end(&reading);
}

static void addresses_of_48_bits_are_listed_in_full(void **state)
{
	static const struct {
		enum pt_ip_compression form;
		const char *text;
	} forms[] = { { pt_ipc_sext_48, "FUP ffff812345678000\n" },
		      { pt_ipc_update_48, "FUP ..812345678000\n" },
		      { pt_ipc_update_16, "FUP ..8000\n" } };

	(void)state;
	for (size_t n = 0; n < sizeof(forms) / sizeof(forms[0]); n++) {
		struct reading reading;

		begin(0);
		packets_sync(&packets, 0, 0, 0);
		packet_put(&packets,
			   &(struct pt_packet){ .type = ppt_fup,
						.payload.ip = { .ipc = forms[n].form,
								.ip = UINT64_C(0xffff812345678000) } });
		reading = finish();
		assert_int_equal(check_listed(&reading, forms[n].text), 0);
		hwt_decoder_close(reading.decoder);
		reading.decoder = NULL;
		end(&reading);
	}
}

static void packet_cut_short_by_psb_is_damage(void **state)
{
	struct reading reading;

	(void)state;
	begin(0);
	packets_sync(&packets, 0, 0, 0);
	put_bytes("\x02\xc3\x88", 3); /* an MNT packet without its eight bytes of data */
	packets_sync(&packets, 0, 0, 0);
	reading = finish();
	assert_int_equal(check_listed(&reading, "is cut short by the PSB at 23\nPSB \n"), 1);
	hwt_decoder_close(reading.decoder);
	reading.decoder = NULL;
	end(&reading);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(c_states_are_named_by_mwait_hints),
		cmocka_unit_test(ptwrite_note_has_the_address_of_its_packet),
		cmocka_unit_test(errata_of_cpus_newer_than_libipt_are_applied),
		cmocka_unit_test(unknown_errata_of_a_model_give_a_warning),
		cmocka_unit_test(cpu_without_erratum_treats_its_packets_as_damage),
		cmocka_unit_test(direct_jumps_are_followed_until_one_leaves_the_range),
		cmocka_unit_test(event_packets_are_skipped_and_listed),
		cmocka_unit_test(event_with_address_is_decoded_or_reported),
		cmocka_unit_test(decoding_resumes_at_overflow_after_missing_code),
		cmocka_unit_test(empty_trace_has_no_gap),
		cmocka_unit_test(undecodable_psb_is_reported_as_damage),
		cmocka_unit_test(addresses_of_48_bits_are_listed_in_full),
		cmocka_unit_test(packet_cut_short_by_psb_is_damage),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
