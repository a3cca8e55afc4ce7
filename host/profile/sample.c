/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Takes samples. A sample needs a few messages to QEMU, and their answers. The first message halts the guest
 * and asks for the registers of all CPUs. Each later message asks for the memory that is still needed for any
 * of the CPUs. The last message resumes the guest. If QEMU receives a byte on this socket while the guest
 * runs, it discards the byte, and halts the guest.
 */
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "capture/error.h"
#include "capture/wait.h"
#include "profile/target_state.h"

#define REGISTERS_ROOM 4096u
#define PAGE	       4096u
#define GUESS_BELOW    256u
#define LEAST	       16u /* minimum number of bytes of a stack that are worth reading */
/*
 * maximum number of rounds of messages for a sample; each round reads at least one frame of each stack
 */
#define ROUNDS (STACK_PLACES + 3u)
/*
 * maximum time in ms until QEMU closes the QMP connection, after it has closed the socket of its gdb server
 */
#define END_MS 2000

/* ---- Registers ----------------------------------------------------------------------------------- */

static void ask_bytes(struct profile_target *target, uint64_t address, size_t size)
{
	char packet[64];

	snprintf(packet, sizeof(packet), "m%" PRIx64 ",%zx", address, size);
	gdb_batch_add(&target->batch, packet);
}

static void select_cpu(struct profile_target *target, const struct profile_target_cpu *cpu)
{
	char packet[PROFILE_CPU_NAME + 2];

	snprintf(packet, sizeof(packet), "Hg%s", cpu->name);
	gdb_batch_add(&target->batch, packet);
}

static void ask_registers(struct profile_target *target)
{
	char packet[PROFILE_CPU_NAME + 20];

	gdb_batch_interrupt(&target->batch);
	for (uint32_t n = 0; n < target->cpus; n++) {
		const struct profile_target_cpu *cpu = &target->cpu[n];

		select_cpu(target, cpu);
		gdb_batch_add(&target->batch, "g");
		snprintf(packet, sizeof(packet), "qThreadExtraInfo,%s", cpu->name);
		gdb_batch_add(&target->batch, packet);
		if (cpu->guess_size)
			ask_bytes(target, cpu->guess, cpu->guess_size);
	}
}

static int expect_ok(struct profile_target *target)
{
	const int error = gdb_batch_reply(&target->gdb);

	return error ? error
	       : strcmp(target->gdb.reply, "OK") == 0
		       ? 0
		       : capture_fail(CAPTURE_E_FORMAT, "QEMU refuses a CPU: '%.20s'", target->gdb.reply);
}

/* Receives bytes. *size is 0 if they cannot be read. Returns 0 or an error. */
static int take_bytes(struct profile_target *target, unsigned char *bytes, size_t room, size_t *size)
{
	const int error = gdb_batch_reply(&target->gdb);

	if (error || gdb_reply_bytes(&target->gdb, bytes, room, size) != 0)
		*size = 0;
	return error;
}

/*
 * Processes the description of a CPU, such as "CPU#1 [halted ]", which shows whether the CPU waits for an
 * interrupt.
 */
static int take_halted(struct profile_target *target, bool *halted)
{
	unsigned char text[96] = { 0 };
	size_t size;
	const int error = take_bytes(target, text, sizeof(text) - 1, &size);

	*halted = !error && strstr((const char *)text, "[halted") != NULL;
	return error;
}

/*
 * Processes the piece of the stack that was read together with the registers, and chooses the piece for the
 * next sample.
 */
static int take_guess(struct profile_target *target, struct profile_target_cpu *cpu)
{
	unsigned char bytes[STACK_WINDOW];
	const uint64_t guess = cpu->guess;
	uint64_t address;
	size_t size = 0, wanted;
	int error = cpu->guess_size ? take_bytes(target, bytes, sizeof(bytes), &size) : 0;

	cpu->guess_size = 0;
	if (error || cpu->seen.idle || !stack_walk_wants(&cpu->seen.walk, &address, &wanted))
		return error;
	if (size >= LEAST) {
		stack_walk_put(&cpu->seen.walk, guess, bytes, size);
		if (!cpu->has_top)
			cpu->has_top = profile_cpu_take_top(&cpu->seen, guess, bytes, size);
	}
	/*
	 * the piece begins a little below the frame, because in the next sample the CPU may be in a function
	 * that this one calls
	 */
	cpu->guess = address % PAGE < GUESS_BELOW ? address & ~(uint64_t)(PAGE - 1) : address - GUESS_BELOW;
	cpu->guess_size = PAGE - (size_t)(cpu->guess % PAGE);
	if (cpu->guess_size > STACK_WINDOW)
		cpu->guess_size = STACK_WINDOW;
	return 0;
}

static int take_cpu(struct profile_target *target, uint32_t n)
{
	struct profile_target_cpu *cpu = &target->cpu[n];
	unsigned char bytes[REGISTERS_ROOM];
	size_t size;
	int error = take_bytes(target, bytes, sizeof(bytes), &size);

	if (!error && !profile_registers_read(&cpu->seen.registers, target->machine, bytes, size))
		error = capture_fail(CAPTURE_E_FORMAT, "QEMU's registers of CPU %" PRIu32 " are incomplete",
				     n);
	if (error)
		return error;
	stack_walk_begin(&cpu->seen.walk, target->machine, &cpu->seen.registers, target->find,
			 target->context);
	cpu->seen.caller = cpu->seen.callee = 0;
	cpu->has_top = target->machine != EM_X86_64 || cpu->seen.walk.by_table;
	if (target->machine != EM_X86_64)
		cpu->seen.caller = cpu->seen.registers.link;
	error = take_halted(target, &cpu->seen.idle);
	return error ? error : take_guess(target, cpu);
}

/*
 * Processes the replies to ask_registers(). If the guest was running, the first reply reports that it was
 * halted.
 */
static int take_registers(struct profile_target *target)
{
	int error = gdb_batch_reply(&target->gdb);
	bool selected;

	if (error)
		return error;
	target->halted = gdb_is_stop(&target->gdb);
	selected = !target->halted; /* no stop: the reply answers the selection of the first CPU */
	for (uint32_t n = 0; !error && n < target->cpus; n++) {
		if (!selected)
			error = expect_ok(target);
		selected = false;
		if (!error)
			error = take_cpu(target, n);
	}
	return error;
}

/* ---- Memory -------------------------------------------------------------------------------------- */

static struct profile_code *code_at(struct profile_target *target, uint64_t address)
{
	return &target->code[(address ^ address >> 9) % PROFILE_CODES];
}

/* Returns the stored code before `address`; NULL if it was not read. */
static const unsigned char *find_code(struct profile_target *target, uint64_t address)
{
	const struct profile_code *code = code_at(target, address);

	return code->known && code->address == address ? code->bytes : NULL;
}

static void want(struct profile_target_cpu *cpu, unsigned n, int kind, uint64_t address, size_t size)
{
	cpu->piece[n].kind = kind;
	cpu->piece[n].address = address;
	cpu->piece[n].size = size;
}

/* Makes a list of the pieces of memory that must be read next for a CPU. */
static void list_pieces(struct profile_target *target, struct profile_target_cpu *cpu)
{
	struct profile_cpu *seen = &cpu->seen;
	const unsigned char *code;
	uint64_t address;
	size_t size;

	memset(cpu->piece, 0, sizeof(cpu->piece));
	code = find_code(target, seen->registers.pc);
	if (!seen->registers.user && code && profile_is_waiting(target->machine, code))
		seen->idle = true;
	if (seen->registers.user || seen->idle)
		return;
	if (stack_walk_wants(&seen->walk, &address, &size))
		want(cpu, 0, PROFILE_PIECE_STACK, address, size);
	if (!cpu->has_top)
		want(cpu, 1, PROFILE_PIECE_TOP, seen->registers.sp, 8);
	else if (target->machine == EM_X86_64 && seen->caller && !seen->callee) {
		code = find_code(target, seen->caller);
		if (code)
			seen->callee = profile_called(seen->caller, code);
		else
			want(cpu, 1, PROFILE_PIECE_CODE, seen->caller, PROFILE_CODE);
		if (code && !seen->callee)
			seen->caller = 0;
	}
	if (!find_code(target, seen->registers.pc))
		want(cpu, 2, PROFILE_PIECE_CODE, seen->registers.pc, PROFILE_CODE);
}

/* Asks for the memory of a CPU. Returns false if no memory is needed. */
static bool ask_pieces(struct profile_target *target, struct profile_target_cpu *cpu)
{
	bool asked = false;

	list_pieces(target, cpu);
	for (unsigned n = 0; n < PROFILE_PIECES; n++) {
		const struct profile_piece *piece = &cpu->piece[n];

		if (piece->kind == PROFILE_PIECE_NONE)
			continue;
		if (!asked)
			select_cpu(target, cpu);
		asked = true;
		ask_bytes(target, piece->address - (piece->kind == PROFILE_PIECE_CODE ? PROFILE_CODE : 0),
			  piece->size);
	}
	return asked;
}

static void put_piece(struct profile_target *target, struct profile_target_cpu *cpu,
		      const struct profile_piece *piece, const unsigned char *bytes, size_t size)
{
	struct profile_code *code;

	switch (piece->kind) {
	case PROFILE_PIECE_STACK:
		stack_walk_put(&cpu->seen.walk, piece->address, bytes, size);
		return;
	case PROFILE_PIECE_TOP:
		cpu->has_top = true;
		profile_cpu_take_top(&cpu->seen, piece->address, bytes, size);
		return;
	case PROFILE_PIECE_CODE:
		code = code_at(target, piece->address);
		*code = (struct profile_code){ .address = piece->address, .known = true };
		if (size == PROFILE_CODE)
			memcpy(code->bytes, bytes, size);
		return;
	case PROFILE_PIECE_NONE:
		return;
	}
}

static int take_pieces(struct profile_target *target, struct profile_target_cpu *cpu)
{
	unsigned char bytes[STACK_WINDOW];
	bool selected = false;
	int error = 0;

	for (unsigned n = 0; !error && n < PROFILE_PIECES; n++) {
		const struct profile_piece *piece = &cpu->piece[n];
		size_t size;

		if (piece->kind == PROFILE_PIECE_NONE)
			continue;
		error = selected ? 0 : expect_ok(target);
		selected = true;
		if (!error)
			error = take_bytes(target, bytes, sizeof(bytes), &size);
		if (!error)
			put_piece(target, cpu, piece, bytes, size < piece->size ? size : piece->size);
	}
	return error;
}

static int take_memory(struct profile_target *target)
{
	int error = 0;

	for (unsigned round = 0; !error && round < ROUNDS; round++) {
		bool asked = false;

		for (uint32_t n = 0; n < target->cpus; n++)
			asked |= ask_pieces(target, &target->cpu[n]);
		if (!asked)
			return 0;
		error = gdb_batch_send(&target->gdb, &target->batch);
		for (uint32_t n = 0; !error && n < target->cpus; n++)
			error = take_pieces(target, &target->cpu[n]);
	}
	return error;
}

/* ---- A sample ------------------------------------------------------------------------------------ */

/*
 * Returns PROFILE_ENDED if the error occurred because QEMU has ended, otherwise the error with its message.
 */
static int end_or_error(struct profile_target *target, int error)
{
	char message[512];

	snprintf(message, sizeof(message), "%s", capture_message());
	return profile_target_has_ended(target, END_MS) ? PROFILE_ENDED : capture_fail(error, "%s", message);
}

int profile_target_sample(struct profile_target *target)
{
	double begin;
	int error;

	if (profile_target_has_ended(target, 0))
		return PROFILE_ENDED;
	ask_registers(target);
	begin = capture_now();
	error = gdb_batch_send(&target->gdb, &target->batch);
	if (!error)
		error = take_registers(target);
	if (!error && !target->halted) {
		target->resumes = false;
		error = gdb_batch_acknowledge(&target->gdb);
		return error ? error : PROFILE_PAUSED;
	}
	if (!error)
		error = take_memory(target);
	if (!error)
		error = profile_target_resume(target);
	target->pause = capture_now() - begin;
	return error ? end_or_error(target, error) : PROFILE_SAMPLED;
}
