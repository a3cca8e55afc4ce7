/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * Changes of what is recorded while it is: by the programs themselves, through ktrace(), and by other runs of
 * the command (-c, -C), through a socket that each recorder has in a folder of its user's.
 */
#ifndef RECORD_CONTROL_H
#define RECORD_CONTROL_H

#include "record/tracees.h"

/* Whose tracing a request ends. */
enum record_whose {
	RECORD_WHOSE_ALL,
	RECORD_WHOSE_PROCESS,
	RECORD_WHOSE_GROUP,
	RECORD_WHOSE_FILE, /* into that file */
};

struct record_request {
	enum record_whose whose;
	uint32_t facilities; /* with the last one, all of it ends */
	int descend;	     /* and their descendants' */
	pid_t pid;	     /* of a process or a group */
	uint64_t device, inode;
};

/* A program's ktrace(): path is an address in it. 0 or a positive errno. */
int record_control_ktrace(struct record_thread *thread, uint64_t path, uint32_t operation,
			  uint32_t facilities, pid_t pid);

/* The socket, from here until record_control_close(). 0 or a positive errno. */
int record_control_open(void);
/* Answers who waits at it. */
void record_control_attend(void);
void record_control_close(void);

/* The same, by all recorders of this user's: how many processes, or a negative errno. */
int record_control_ask_all(const struct record_request *request);

#endif
