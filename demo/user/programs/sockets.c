/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * sockets: checks that sockets handle errors: bad arguments and addresses, signals, missing privileges, full
 * windows, closed peers.
 */
#include <program.h>
#include <string.h>
#include <unistd.h>

#define PORT	    8000
#define NOWHERE	    ((void *)8)
#define PATIENCE_MS 60000 /* only a hang takes this long */

#define DATAGRAM_MAX 1472 /* maximum number of data bytes in a datagram: its frame then has 1500 bytes */

static struct abi_sockaddr here = { AF_INET, PORT, INADDR_LOOPBACK };
static int listener, client, server;

/* Makes a connection. Sets `client` and `server` to its two sockets. */
static bool connected(int client_type)
{
	int result;

	client = socket(AF_INET, client_type, 0);
	result = connect(client, &here, sizeof(here));
	server = accept(listener, NULL, NULL);
	return check_equal(client_type & SOCK_NONBLOCK ? -EINPROGRESS : 0, result, "a connection begins") &&
	       check(server >= 0, "the connection is accepted");
}

static int64_t send_text(int fd, const char *text)
{
	return sendto(fd, text, strlen(text), 0, NULL, 0);
}

static int64_t receive(int fd, void *to, size_t size)
{
	return recvfrom(fd, to, size, 0, NULL, NULL);
}

static void bad_arguments(void)
{
	struct abi_sockaddr strange = { AF_INET + 1, PORT, INADDR_LOOPBACK };
	struct abi_sockaddr far = { AF_INET, PORT, 0x0a000001 };
	int datagram = socket(AF_INET, SOCK_DGRAM, 0), stream = socket(AF_INET, SOCK_STREAM, 0);

	check_equal(-EAFNOSUPPORT, socket(AF_INET + 1, SOCK_STREAM, 0), "an unknown address family");
	check_equal(-EPROTONOSUPPORT, socket(AF_INET, 7, 0), "an unknown socket type");
	check_equal(-EBADF, listen(-1, 1), "a bad descriptor");
	check_equal(-ENOTSOCK, listen(1, 1), "the console is not a socket");
	check_equal(-EOPNOTSUPP, listen(datagram, 1), "a datagram socket cannot listen");
	check_equal(-EINVAL, bind(datagram, &here, 4), "an address that is too short");
	check_equal(-EAFNOSUPPORT, bind(datagram, &strange, sizeof(strange)), "an address of another family");
	check_equal(-EFAULT, bind(datagram, NOWHERE, sizeof(here)), "an address at a bad pointer");
	check_equal(-ENETUNREACH, connect(datagram, &far, sizeof(far)), "the address of another machine");
	check_equal(-EADDRINUSE, bind(stream, &here, sizeof(here)), "the port is taken");
	check_equal(-ENOTCONN, shutdown(stream, SHUT_WR),
		    "a socket without a connection cannot be shut down");
	close(stream);
	close(datagram);
}

/* Checks that data is not lost if it cannot be copied from or to the program's memory. */
static void bad_buffers(void)
{
	char text[8];

	if (!connected(SOCK_STREAM))
		return;
	check_equal(-EFAULT, sendto(client, NOWHERE, 5, 0, NULL, 0), "data at a bad pointer is not sent");
	check_equal(5, send_text(client, "hello"), "data is sent");
	check_equal(-EFAULT, receive(server, NOWHERE, 5), "nothing is received to a bad pointer");
	check_equal(5, receive(server, text, sizeof(text)), "data is received");
	check(memcmp(text, "hello", 5) == 0, "the received data is the sent data");
	close(client);
	close(server);

	client = socket(AF_INET, SOCK_STREAM, 0);
	check_equal(0, connect(client, &here, sizeof(here)), "the client is connected");
	check_equal(-EFAULT, accept(listener, NOWHERE, NOWHERE), "accept refuses a bad pointer");
	check_equal(0, receive(client, text, sizeof(text)), "the refused connection is closed");
	close(client);
}

/* Sends a datagram by sendto() with a destination, because the account counts only such datagrams. */
static int64_t send_datagram(int fd, size_t size, struct abi_sockaddr *to)
{
	static char block[DATAGRAM_MAX];

	return sendto(fd, block, size, 0, to, sizeof(*to));
}

static void datagrams(void)
{
	struct abi_sockaddr unused = { AF_INET, PORT + 1, INADDR_LOOPBACK }, from;
	int ours = socket(AF_INET, SOCK_DGRAM, 0), theirs = socket(AF_INET, SOCK_DGRAM, 0);
	uint32_t size = sizeof(from);
	static char too_long[DATAGRAM_MAX + 2];
	char block[16];

	memset(too_long, 'x', DATAGRAM_MAX + 1);
	check_equal(-EDESTADDRREQ, send_text(ours, "?"), "a datagram without an address is not sent");
	check_equal(0, bind(theirs, &here, sizeof(here)),
		    "a datagram socket binds the port of the stream socket");
	check_equal(0, send_datagram(ours, 0, &here), "an empty datagram is sent");
	check_equal(DATAGRAM_MAX, send_datagram(ours, DATAGRAM_MAX, &here),
		    "a datagram of maximum size is sent");
	check_equal(0, recvfrom(theirs, block, sizeof(block), 0, &from, &size),
		    "the empty datagram is received");
	check(from.address == INADDR_LOOPBACK && from.port >= 49152, "the sender's address is received");
	check_equal(10, receive(theirs, block, 10), "a datagram is received up to the size of the buffer");

	check_equal(0, connect(ours, &unused, sizeof(unused)), "a datagram socket is connected");
	check_equal(-EMSGSIZE, send_text(ours, too_long), "a datagram above the maximum size is not sent");
	check_equal(1, send_datagram(ours, 1, &unused), "a datagram is sent to an unused port");
	check_equal(-ECONNREFUSED, receive(ours, block, 1), "an unused port refuses datagrams");
	close(ours);
	close(theirs);
}

/*
 * Sends DNS messages in which a name extends beyond the end of the message. The kernel parses DNS messages
 * for its trace, and must detect this.
 */
static void malformed_queries(void)
{
	struct abi_sockaddr resolver = { AF_INET, 53, INADDR_LOOPBACK };
	unsigned char message[600];
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	memset(message, 0, sizeof(message));
	for (unsigned label = 0; label < 256; label += 15) {
		memset(message + 12, (int)label, sizeof(message) - 12);
		for (unsigned size = 10; size < sizeof(message); size = size * 2 + 1)
			check_equal(size, sendto(fd, message, size, 0, &resolver, sizeof(resolver)),
				    "a malformed query is sent");
	}
	close(fd);
}

static void hear(int signal)
{
	(void)signal;
}

/*
 * Sends the signal repeatedly until the parent ends this process, because a signal may arrive before the parent
 * waits.
 */
static void send_signals(void)
{
	for (;;) {
		sleep_ms(30);
		check_equal(0, kill(getppid(), SIGUSR1), "a signal is sent");
	}
}

static void interrupted(void)
{
	char byte;
	int child;

	handle_signal(SIGUSR1, hear);
	if (!connected(SOCK_STREAM))
		return;
	child = start_child(send_signals);
	check_equal(-EINTR, receive(client, &byte, 1), "a signal ends the wait");
	check_equal(0, kill(child, SIGKILL), "the sender is ended");
	check_equal(SIGKILL, wait_for(child), "status of the sender");
	close(client);
	close(server);
}

/* Sends until the socket accepts no more data. Returns the number of bytes sent. */
static int64_t fill(int fd)
{
	static char block[1000];
	int64_t sum = 0, n;

	while ((n = sendto(fd, block, sizeof(block), 0, NULL, 0)) > 0)
		sum += n;
	check_equal(-EAGAIN, n, "a nonblocking send fails when the buffer is full");
	return sum;
}

static void without_waiting(void)
{
	struct abi_pollfd fd = { .events = POLLOUT };
	static char block[1000];
	int64_t sent, received = 0;

	if (!connected(SOCK_STREAM | SOCK_NONBLOCK))
		return;
	fd.fd = client;
	check_equal(1, poll(&fd, 1, PATIENCE_MS), "the connection is made");
	check_equal(-EISCONN, connect(client, &here, sizeof(here)),
		    "a connected socket cannot connect again");
	check_equal(-EAGAIN, receive(client, block, 1), "a nonblocking receive fails without data");
	sent = fill(client);
	check(sent > 0, "data was sent before the buffer was full");
	check_equal(0, poll(&fd, 1, 20), "the socket is not writable");
	while (received < sent) {
		int64_t n = receive(server, block, sizeof(block));

		if (!check(n > 0, "the data is received"))
			break;
		received += n;
	}
	check_equal(1, poll(&fd, 1, PATIENCE_MS), "the socket is writable again");
	close(client);
	close(server);
}

static void send_after_reset(void)
{
	char byte;

	check_equal(-ECONNRESET, receive(server, &byte, 1), "the peer reset the connection");
	send_text(server, "?");
	check(false, "SIGPIPE ends the process that sends");
}

/* Checks what the server gets when the client closes the connection before it has read all data. */
static void peer_gone(void)
{
	struct abi_pollfd fd = { .events = POLLIN };
	int child;

	if (!connected(SOCK_STREAM))
		return;
	fd.fd = client;
	send_text(server, "unread");
	check_equal(1, poll(&fd, 1, PATIENCE_MS), "unread data arrives");
	close(client);
	child = start_child(send_after_reset);
	check_equal(SIGPIPE, wait_for(child), "SIGPIPE ended the sender");
	close(server);
}

static void unprivileged(void)
{
	struct abi_sockaddr low = { AF_INET, 80, INADDR_LOOPBACK };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	check_equal(0, setuid(1000), "the user is set");
	check_equal(-EACCES, bind(fd, &low, sizeof(low)), "only root binds low ports");
	low.port = 8080;
	check_equal(0, bind(fd, &low, sizeof(low)), "any user binds other ports");
}

int main(int argc, char **argv)
{
	struct abi_sockaddr name;
	uint32_t size = sizeof(name);

	(void)argc, (void)argv;
	listener = socket(AF_INET, SOCK_STREAM, 0);
	check_equal(0, bind(listener, &here, sizeof(here)), "the port is bound");
	check_equal(0, listen(listener, 4), "listening");
	check_equal(0, getsockname(listener, &name, &size), "the socket's name is read");
	check(name.port == PORT && size == sizeof(name), "the socket's name is the bound address");
	bad_arguments();
	bad_buffers();
	datagrams();
	malformed_queries();
	interrupted();
	without_waiting();
	peer_gone();
	check_equal(0, wait_for(start_child(unprivileged)), "status of the unprivileged");
	finish();
}
