/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * same: this source is compiled for the demo kernel and for Linux, and the system calls of both programs are
 * recorded. A test compares the two traces. The program does not check for errors, because the comparison
 * shows them.
 */
#if defined(__linux__) && __STDC_HOSTED__
#include <fcntl.h>
#endif
#include <unistd.h>

#ifndef NAME
#define NAME "/tmp/same"
#endif
#define OTHER NAME "/below"

int main(void)
{
	static const char text[] = "written on two kernels\n";
	char bytes[64];
	int fd = open(NAME, O_RDWR | O_CREAT | O_TRUNC, 0600);

	if (write(fd, text, sizeof(text) - 1) < 0 || lseek(fd, -7, SEEK_END) < 0)
		return 1;
	if (read(fd, bytes, sizeof(bytes)) < 0 || read(fd, bytes, sizeof(bytes)) < 0)
		return 1;
	lseek(fd, -100, SEEK_CUR);
	close(fd);
	close(fd);
	if (open(OTHER, O_RDONLY, 0) >= 0 || write(fd, text, 1) >= 0)
		return 1;
	fd = open(NAME, O_WRONLY | O_APPEND, 0);
	if (read(fd, bytes, 1) >= 0)
		return 1;
	close(fd);
	unlink(NAME);
	unlink(NAME);
	return open(NAME, O_RDONLY, 0) >= 0;
}
