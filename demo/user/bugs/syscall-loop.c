/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * syscall-loop: sends numbers to its child in datagrams. The mistake: the child's socket is nonblocking,
 * and if there is no datagram, the child tries again immediately instead of calling poll(). When an
 * expected number never arrives, the child tries for ever.
 */
#include <program.h>
#include <unistd.h>

#define NUMBERS 100u
#define PORT	8100

static struct abi_sockaddr here = { AF_INET, PORT, INADDR_LOOPBACK };
static int receiver;

static unsigned receive_number(void)
{
	unsigned number = 0;

	while (recvfrom(receiver, &number, sizeof(number), 0, NULL, NULL) == -EAGAIN)
		;
	return number;
}

/* Waits for one number more than the parent sends, so the last wait never ends. */
static void count(void)
{
	for (unsigned i = 0; i <= NUMBERS; i++)
		check_equal(i, receive_number(), "the next number");
}

int main(int argc, char **argv)
{
	int child, sender = socket(AF_INET, SOCK_DGRAM, 0);

	(void)argc, (void)argv;
	receiver = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	if (!check_equal(0, bind(receiver, &here, sizeof(here)), "a port"))
		finish();
	child = start_child(count);
	for (unsigned i = 0; i < NUMBERS; i++) {
		check_equal(sizeof(i), sendto(sender, &i, sizeof(i), 0, &here, sizeof(here)), "a number");
		sleep_ms(1);
	}
	check_equal(0, wait_for(child), "status of the child");
	finish();
}
