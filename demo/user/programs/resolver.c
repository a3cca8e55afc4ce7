/* SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause */
/*
 * resolver: a DNS server over UDP that answers from /etc/hosts, and its clients. Messages have the format of
 * RFC 1035; each has one question, of type A and class IN.
 */
#include <program.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PORT	     53
#define MESSAGE_MAX  512
#define NAME_SIZE    128
#define HEADER_SIZE  12
#define TYPE_A	     1
#define CLASS_IN     1
#define RESPONSE     0x8180u /* flags: response, recursion desired, recursion available */
#define NO_SUCH_NAME 3	     /* response code: the name does not exist */
#define CLIENTS	     2
#define TIMEOUT_MS   10000

static const struct {
	const char *name;
	uint32_t address; /* address for the name; 0: the name is unknown */
} questions[] = {
	{ "localhost", 0x7f000001 },
	{ "demo.example", 0x0a00020f },
	{ "nowhere.example", 0 },
	{ "www.example", 0xc0000207 },
};
#define QUESTIONS (sizeof(questions) / sizeof(questions[0]))

static int server_socket;

/* ---- Messages ----------------------------------------------------------------------------------- */

struct message {
	unsigned char bytes[MESSAGE_MAX];
	size_t size;
};

static void put16(struct message *message, unsigned value)
{
	message->bytes[message->size++] = (unsigned char)(value >> 8);
	message->bytes[message->size++] = (unsigned char)value;
}

static unsigned get16(const struct message *message, size_t at)
{
	return at + 2 > message->size ? 0 : (unsigned)message->bytes[at] << 8 | message->bytes[at + 1];
}

static uint32_t get32(const struct message *message, size_t at)
{
	return (uint32_t)get16(message, at) << 16 | get16(message, at + 2);
}

static void put_header(struct message *message, unsigned id, unsigned flags, unsigned answers)
{
	message->size = 0;
	put16(message, id);
	put16(message, flags);
	put16(message, 1); /* number of questions */
	put16(message, answers);
	put16(message, 0);
	put16(message, 0);
}

/* Writes a question: the labels of the name, each of them after its length, then type and class. */
static void put_question(struct message *message, const char *name)
{
	do {
		const char *end = name;

		while (*end && *end != '.')
			end++;
		message->bytes[message->size++] = (unsigned char)(end - name);
		memcpy(message->bytes + message->size, name, (size_t)(end - name));
		message->size += (size_t)(end - name);
		name = *end ? end + 1 : NULL;
	} while (name);
	message->bytes[message->size++] = 0;
	put16(message, TYPE_A);
	put16(message, CLASS_IN);
}

/*
 * Copies the name in the question. Returns the offset of the end of the question, or 0 if the question is
 * malformed.
 */
static size_t get_question(const struct message *message, char name[static NAME_SIZE])
{
	size_t at = HEADER_SIZE, length = 0;

	while (at < message->size && message->bytes[at]) {
		unsigned label = message->bytes[at++];

		if (at + label > message->size || length + label + 2 > NAME_SIZE)
			return 0;
		if (length)
			name[length++] = '.';
		memcpy(name + length, message->bytes + at, label);
		length += label;
		at += label;
	}
	name[length] = '\0';
	at += 1 + 2 + 2;
	return at <= message->size ? at : 0;
}

/* ---- Server ------------------------------------------------------------------------------------- */

static uint32_t parse_address(const char *text)
{
	uint32_t address = 0, byte = 0;

	for (; *text && *text != ' '; text++) {
		if (*text == '.')
			address = address << 8 | byte, byte = 0;
		else
			byte = byte * 10 + (uint32_t)(*text - '0');
	}
	return address << 8 | byte;
}

/* Looks up a name in the text of /etc/hosts. Returns its address, or 0 if there is none. */
static uint32_t look_up(char *hosts, const char *name)
{
	for (char *line = hosts, *next; *line; line = next) {
		char *end = strchr(line, '\n'), *blank;
		bool found;

		if (!end)
			return 0;
		next = end + 1;
		*end = '\0';
		blank = strchr(line, ' ');
		found = blank && strcmp(blank + 1, name) == 0;
		*end = '\n';
		if (found)
			return parse_address(line);
	}
	return 0;
}

static void answer(const struct message *query, char *hosts, struct message *response)
{
	char name[NAME_SIZE];
	size_t end = get_question(query, name);
	uint32_t address = end ? look_up(hosts, name) : 0;

	put_header(response, get16(query, 0), RESPONSE | (address ? 0 : NO_SUCH_NAME), address ? 1 : 0);
	if (end)
		put_question(response, name);
	if (!address)
		return;
	put16(response, 0xc000 | HEADER_SIZE); /* DNS pointer to the name in the question */
	put16(response, TYPE_A);
	put16(response, CLASS_IN);
	put16(response, 0); /* time to live: a day, in seconds, as two 16-bit numbers */
	put16(response, 0x5180);
	put16(response, 4);
	put16(response, address >> 16);
	put16(response, address & 0xffff);
}

/* The server. Returns when all clients have asked all questions. */
static void serve(void)
{
	struct message query, response;
	struct abi_sockaddr client;
	uint32_t client_size;
	char hosts[1024];
	int fd = open("/etc/hosts", O_RDONLY, 0);
	int64_t size = read_all(fd, hosts, sizeof(hosts) - 1);

	close(fd);
	if (!check(size > 0, "/etc/hosts is read"))
		return;
	hosts[size] = '\0';
	for (unsigned i = 0; i < CLIENTS * QUESTIONS; i++) {
		client_size = sizeof(client);
		size = recvfrom(server_socket, query.bytes, sizeof(query.bytes), 0, &client, &client_size);
		if (!check(size > 0, "a query comes"))
			return;
		query.size = (size_t)size;
		answer(&query, hosts, &response);
		check_equal((int64_t)response.size,
			    sendto(server_socket, response.bytes, response.size, 0, &client, sizeof(client)),
			    "the answer is sent");
	}
}

/* ---- Client ------------------------------------------------------------------------------------- */

static void check_response(const struct message *response, unsigned id, unsigned question)
{
	uint32_t address = questions[question].address;
	char name[NAME_SIZE];
	size_t end = get_question(response, name);

	check_equal(id, get16(response, 0), "id of the answer");
	check(end && strcmp(name, questions[question].name) == 0, "question of the answer");
	check_equal(RESPONSE | (address ? 0 : NO_SUCH_NAME), get16(response, 2), "code of the answer");
	check_equal(address ? 1 : 0, get16(response, 6), "number of answers");
	if (address)
		check_equal(address, get32(response, end + 12), questions[question].name);
}

static void ask(int fd, unsigned id, unsigned question)
{
	struct abi_sockaddr server = { AF_INET, PORT, INADDR_LOOPBACK };
	struct abi_pollfd wait = { .fd = fd, .events = POLLIN };
	struct message message;
	int64_t size;

	put_header(&message, id, 0x0100, 0); /* flags of a query: recursion desired */
	put_question(&message, questions[question].name);
	check_equal((int64_t)message.size,
		    sendto(fd, message.bytes, message.size, 0, &server, sizeof(server)), "the query is sent");
	if (!check_equal(1, poll(&wait, 1, TIMEOUT_MS), "an answer comes in time"))
		return;
	size = recvfrom(fd, message.bytes, sizeof(message.bytes), 0, NULL, NULL);
	if (!check(size > 0, "the answer is received"))
		return;
	message.size = (size_t)size;
	check_response(&message, id, question);
}

static void ask_all(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	unsigned id = (unsigned)getpid() << 8;

	close(server_socket);
	for (unsigned i = 0; i < QUESTIONS; i++)
		ask(fd, (id + i) & 0xffff, i);
	close(fd);
}

int main(int argc, char **argv)
{
	struct abi_sockaddr address = { AF_INET, PORT, INADDR_LOOPBACK };
	int children[1 + CLIENTS];

	(void)argc, (void)argv;
	server_socket = socket(AF_INET, SOCK_DGRAM, 0);
	if (!check(server_socket >= 0, "a socket") ||
	    !check_equal(0, bind(server_socket, &address, sizeof(address)), "the port is bound"))
		finish();
	children[0] = start_child(serve);
	for (unsigned i = 1; i <= CLIENTS; i++)
		children[i] = start_child(ask_all);
	close(server_socket);
	for (unsigned i = 0; i <= CLIENTS; i++)
		check_equal(0, wait_for(children[i]), "status of a process");
	finish();
}
