/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * QMP, QEMU's monitor protocol: a connection that QEMU makes to `ktrace run`, one that `ktrace extract` makes
 * to QEMU, and the virtual machine as QEMU reports it over the first of them.
 */
#ifndef CAPTURE_QMP_H
#define CAPTURE_QMP_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory.h"

/*
 * The connection over which QEMU reports the state of its guest. QEMU connects to our socket when it starts.
 * A message is one line of JSON. No function waits.
 */

#define CAPTURE_QMP_MOST 1023u /* maximum size of a command in bytes */
/* command of the human monitor that prints the registers of all CPUs */
#define CAPTURE_QMP_REGISTERS "info registers -a"

struct capture_qmp {
	int listener; /* descriptor of the socket; -1: closed */
	/* descriptor of the connection; -1: QEMU has not connected, or has closed the connection */
	int fd;
	char *line; /* received bytes of a line that is still incomplete */
	size_t used;
	size_t room;
};

/* Called for each message, which is borrowed. Lines that are not JSON are ignored. */
typedef void capture_qmp_handler(void *context, json_t *message);

/*
 * Passes the messages that have arrived to the handler. If many messages have arrived, processes only some of
 * them. Returns 0, or CAPTURE_E_ABSENT once QEMU has closed the connection.
 */
int capture_qmp_receive(struct capture_qmp *qmp, capture_qmp_handler *handler, void *context);

/*
 * Writes the arguments of memsave, which saves memory by virtual addresses of CPU `cpu` to a file. If `cpu`
 * is negative, writes the arguments of pmemsave, which saves memory by physical addresses. Requires: `path`
 * needs no escaping in a JSON string.
 */
void capture_qmp_put_save(char arguments[CAPTURE_QMP_MOST + 1], uint64_t address, size_t bytes,
			  const char *path, int64_t cpu);

/*
 * A client of QMP: sends a command and waits for its answer, in bounded time. It is for a QEMU that was
 * started without ktrace and listens on a QMP socket. (Under `ktrace run`, QEMU connects to us: see below.)
 * Events are skipped; only the times of STOP and RESUME are stored.
 */

/* maximum number of commands whose answers have not been fetched */
#define CAPTURE_MONITOR_UNDERWAY 8u

struct capture_monitor {
	struct capture_qmp qmp;
	const char *address; /* address of QEMU's socket, for messages; borrowed */
	int timeout_ms;	     /* maximum time, in ms, to wait for an answer */
	unsigned sequence;   /* id of the last command */
	/*
	 * received answers: the answer to command `id` is element `id` modulo the size, the greeting is
	 * element 0; NULL: not received yet
	 */
	json_t *answer[CAPTURE_MONITOR_UNDERWAY];
	bool greeted;
	/* times of the last STOP and of the last RESUME event, in µs by QEMU's clock; 0: no such event */
	uint64_t stopped, resumed;
};

/* Connects, waits for the greeting, and enables commands. `address` is borrowed. Returns 0 or an error. */
int capture_monitor_open(struct capture_monitor *monitor, const char *address, int timeout_ms);
/*
 * Sends a command and waits for its answer. *answer is valid until the next command is sent. Returns 0;
 * CAPTURE_E_FORMAT with QEMU's message if QEMU refused the command; CAPTURE_E_ABSENT if QEMU closed the
 * connection or does not answer in time; or CAPTURE_E_SYSTEM.
 */
int capture_monitor_command(struct capture_monitor *monitor, const char *command, const char *arguments,
			    const json_t **answer);
/*
 * The two steps of capture_monitor_command(), for callers that send several commands before they wait for the
 * answers. capture_monitor_send() returns the command's id. capture_monitor_answer() waits for the answer to
 * the command with this id. An answer is valid until CAPTURE_MONITOR_UNDERWAY more commands have been sent.
 */
unsigned capture_monitor_send(struct capture_monitor *monitor, const char *command, const char *arguments);
int capture_monitor_answer(struct capture_monitor *monitor, unsigned id, const char *command,
			   const json_t **answer);
/* Runs a command of the human monitor. *text: the output of the command; the caller frees it. */
int capture_monitor_print(struct capture_monitor *monitor, const char *line, char **text);
/* The two steps of capture_monitor_print(), for several commands that are sent together. */
unsigned capture_monitor_send_line(struct capture_monitor *monitor, const char *line);
int capture_monitor_printed(struct capture_monitor *monitor, unsigned id, const char *line, char **text);
void capture_monitor_close(struct capture_monitor *monitor);

/*
 * Functions for QMP messages, parsed by jansson. Every function accepts NULL and treats it as a missing
 * value.
 */

/*
 * Parses one message. Returns NULL if it is not JSON, has too many values, or memory runs out. The caller
 * releases it with json_decref().
 */
json_t *capture_json_parse(const char *text, size_t length);
/*
 * Returns the member of `json` at a path of names such as "data.reason"; NULL if it is missing. The member is
 * borrowed from `json`.
 */
const json_t *capture_json_at(const json_t *json, const char *path);
/* Returns true if the member at `path` is a string and equals `string`. */
bool capture_json_is(const json_t *json, const char *path, const char *string);

/*
 * The virtual machine as QEMU reports it over QMP: whether the guest runs, where its RAM is, how it ended.
 * QEMU's exit status is not enough (a triple fault ends QEMU with status 0).
 *
 * Sequence: QEMU connects. We enable commands, ask for its memory map and run state, and start the guest,
 * unless QEMU was given options by which the user starts it. After that, QEMU sends events.
 */

/* The reason that QEMU reports in a SHUTDOWN event. */
enum capture_shutdown {
	CAPTURE_SHUTDOWN_NONE,	/* there was no SHUTDOWN event */
	CAPTURE_SHUTDOWN_GUEST, /* the guest powered off */
	CAPTURE_SHUTDOWN_RESET, /* the guest reset, or had a triple fault */
	CAPTURE_SHUTDOWN_PANIC, /* the guest reported a panic to a panic device */
	/*
	 * the guest reported a failure to the test device of RISC-V (QEMU 8.2 and later; earlier versions end
	 * without an event)
	 */
	CAPTURE_SHUTDOWN_FAILURE,
	CAPTURE_SHUTDOWN_USER,	 /* the user ended QEMU in its monitor or window, or ktrace ended it */
	CAPTURE_SHUTDOWN_SIGNAL, /* QEMU ended because of a signal */
	CAPTURE_SHUTDOWN_ERROR,	 /* any other reason */
};

struct capture_machine {
	struct capture_qmp qmp;
	const char *backend; /* id of the memory backend that `map` describes */
	bool starts;	     /* true if ktrace, not the user, starts the guest */
	bool ended;	     /* true if QEMU has closed the connection */
	bool running;	     /* true if the guest is running */
	bool ran;	     /* true if the guest is running or has run before */
	/* true if QEMU has not exited, but will not run the guest again; `state` is the reason */
	bool stopped_for_good;
	char state[32]; /* run state in QEMU's last answer, such as "internal-error" */
	enum capture_shutdown shutdown;
	bool panicked;		/* QEMU has sent the event GUEST_PANICKED */
	char version[96];	/* version and package of QEMU; "" before QEMU's greeting has arrived */
	uint64_t timebase;	/* frequency of a RISC-V board's timer in Hz; 0: unknown */
	struct capture_map map; /* map of the guest's RAM; it has no ranges until QEMU has reported them */
	/* Answer to the last command of capture_machine_ask(). */
	bool answered;
	bool refused; /* true if the answer is an error */
	char *answer; /* text in the answer; NULL: none */
};

/* Listens for QEMU on a socket at `path`. Returns 0 or an error. */
int capture_machine_open(struct capture_machine *machine, const char *path);
/*
 * Accepts QEMU's connection and sends the first commands. `backend` is borrowed. If `starts` is set, also
 * starts the guest. Returns 0, CAPTURE_E_ABSENT if QEMU has not connected yet, or an error.
 */
int capture_machine_connect(struct capture_machine *machine, const char *backend, bool starts);
/* Returns the descriptor to poll. */
int capture_machine_descriptor(const struct capture_machine *machine);
/* Processes the messages that have arrived from QEMU. */
void capture_machine_receive(struct capture_machine *machine);
/* Halts the guest until capture_machine_resume() or another program resumes it. */
void capture_machine_pause(struct capture_machine *machine);
void capture_machine_resume(struct capture_machine *machine);
/*
 * Sends a command. Its answer is stored later in `answered`, `refused` and `answer`. Requires: no earlier
 * command waits for its answer.
 */
void capture_machine_ask(struct capture_machine *machine, const char *command, const char *arguments);
/* Asks QEMU to end. */
void capture_machine_quit(struct capture_machine *machine);
void capture_machine_close(struct capture_machine *machine);

#endif
