/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * echo: a server that sends back what it receives, and clients that check it, over stream sockets. The server
 * polls all its connections. Each client sends a whole message, which takes several packets, before it reads
 * the echo.
 */
#include <program.h>
#include <string.h>
#include <unistd.h>

#define PORT	7
#define CLIENTS 3
#define ROUNDS	4
/* size of a message in bytes: it needs several packets, and the last packet is not full */
#define MESSAGE 3000u

static const struct abi_sockaddr server_address = { AF_INET, PORT, INADDR_LOOPBACK };
static int listener;

static int64_t send_all(int fd, const unsigned char *from, size_t size)
{
	size_t done = 0;
	int64_t n;

	for (; done < size; done += (size_t)n) {
		n = sendto(fd, (void *)(uintptr_t)(from + done), size - done, 0, NULL, 0);
		if (n <= 0)
			return n;
	}
	return (int64_t)done;
}

/* Receives data and sends it back. Returns false at the end of the connection. */
static bool serve(int fd)
{
	unsigned char buffer[1024];
	int64_t n = recvfrom(fd, buffer, sizeof(buffer), 0, NULL, NULL);

	if (n <= 0) {
		check_equal(0, n, "a connection ends without an error");
		return false;
	}
	return check_equal(n, send_all(fd, buffer, (size_t)n), "all received bytes are sent back");
}

/* Accepts one connection for each client. Returns when all connections have ended. */
static void serve_all(void)
{
	struct abi_pollfd fds[1 + CLIENTS] = { { .fd = listener, .events = POLLIN } };
	unsigned count = 1, ended = 0;

	while (ended < CLIENTS) {
		if (!check(poll(fds, count, 10000) > 0, "something happens within ten seconds"))
			return;
		for (unsigned i = 1; i < count; i++) {
			if (fds[i].fd < 0 || !fds[i].revents || serve(fds[i].fd))
				continue;
			close(fds[i].fd);
			fds[i].fd = -1;
			ended++;
		}
		if (count <= CLIENTS && fds[0].revents & POLLIN) {
			fds[count] =
				(struct abi_pollfd){ .fd = accept(listener, NULL, NULL), .events = POLLIN };
			check(fds[count++].fd >= 0, "a connection is accepted");
		}
	}
}

static bool exchange(int fd, unsigned round)
{
	unsigned char sent[MESSAGE], received[MESSAGE];
	size_t done = 0;

	for (unsigned i = 0; i < MESSAGE; i++)
		sent[i] = (unsigned char)(i * 7 + round);
	if (!check_equal(MESSAGE, send_all(fd, sent, MESSAGE), "a message is sent"))
		return false;
	while (done < MESSAGE) {
		int64_t n = recvfrom(fd, received + done, MESSAGE - done, 0, NULL, NULL);

		if (!check(n > 0, "the echo is received"))
			return false;
		done += (size_t)n;
	}
	return check(memcmp(sent, received, MESSAGE) == 0, "the echo is the message");
}

static void call_server(void)
{
	struct abi_sockaddr address = server_address;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	close(listener);
	if (!check_equal(0, connect(fd, &address, sizeof(address)), "connected"))
		return;
	for (unsigned round = 0; round < ROUNDS; round++)
		if (!exchange(fd, round))
			return;
	check_equal(0, shutdown(fd, 1), "the client's direction is closed");
	check_equal(0, recvfrom(fd, &address, sizeof(address), 0, NULL, NULL),
		    "the server closes the connection");
	close(fd);
}

static void refused(void)
{
	struct abi_sockaddr unused = { AF_INET, PORT + 1, INADDR_LOOPBACK };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	check_equal(-ECONNREFUSED, connect(fd, &unused, sizeof(unused)),
		    "an unused port refuses connections");
	close(fd);
}

int main(int argc, char **argv)
{
	struct abi_sockaddr address = server_address;
	int children[1 + CLIENTS];

	(void)argc, (void)argv;
	listener = socket(AF_INET, SOCK_STREAM, 0);
	if (!check(listener >= 0, "a socket is opened") ||
	    !check_equal(0, bind(listener, &address, sizeof(address)), "the port is bound") ||
	    !check_equal(0, listen(listener, CLIENTS), "listening"))
		finish();
	children[0] = start_child(serve_all);
	for (unsigned i = 1; i <= CLIENTS; i++)
		children[i] = start_child(call_server);
	close(listener);
	for (unsigned i = 0; i <= CLIENTS; i++)
		check_equal(0, wait_for(children[i]), "status of a process");
	refused();
	finish();
}
