/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/* What the host knows of a dump that the guest has sent by itself, put into that dump. */
#ifndef CAPTURE_DUMP_NOTE_H
#define CAPTURE_DUMP_NOTE_H

/*
 * Appends `note` to the file and makes it a NOTE section (spec/ktrx.md) of the dump that readers of the file show.
 * Changes nothing else in the file, and nothing at all if that dump is of version 1, is cut off, has a note already, or has no room
 * in its table of sections: these are no errors.
 * Returns 0, or CAPTURE_E_SYSTEM.
 */
int capture_dump_note(const char *path, const char *note);

#endif
