// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
//
// Talks to `ktrace mcp` with the protocol's official client:
//
//	node client.mjs PACKAGES KTRACE DIRECTORY        prints a line for each answer
//
// PACKAGES is a directory with the client's npm packages; DIRECTORY has v2.ktrx and deadlock.ktrx. The client validates each
// answer by the protocol's schema, and throws if an answer is invalid.
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [packages, ktrace, folder] = process.argv.slice(2);
const require = createRequire(join(resolve(packages), 'index.js'));
const load = (name) => import(pathToFileURL(require.resolve(`@modelcontextprotocol/sdk/client/${name}.js`)).href);
const { Client } = await load('index');
const { StdioClientTransport } = await load('stdio');

const client = new Client({ name: 'ktrace-test', version: '1' });
await client.connect(new StdioClientTransport({ command: ktrace, args: ['mcp', '--dir', folder] }));
console.log(`server ${client.getServerVersion().name}`);
await client.ping();
console.log('ping answered');

const { tools } = await client.listTools();
console.log(`tools ${tools.map((tool) => tool.name).sort().join(' ')}`);
console.log(`read only ${tools.every((tool) => tool.annotations.readOnlyHint)}`);

// A value for each argument. The test fails if a tool has an argument that is not in this list.
const values = {
	trace: 'v2.ktrx', json: true, budget: 5000, event: 'sched.*', thread: 12, cpu: '0-1', since: '0', until: '1s',
	limit: 3, ids: true, all: true, where: 'cpu == 0', registers: true, begin: 'syscall.enter', end: 'syscall.exit', by: 'thread',
	value: 'irq.enter.vector', rate: true, interval: '1ms', elf: 'kernel.elf', rules: 'test.rules',
	kind: 'thread', id: '12', good: 'typed.ktrx', csv: true,
	query: 'SELECT count(*) AS events FROM events', cursor: '1-0000000000000000',
};
const needs = { end: ['begin'], begin: ['end'], by: ['begin', 'end'], interval: ['rate'] };
const text = (result) => result.content.map((part) => part.text).join('\n');

for (const tool of tools) {
	const required = [...tool.inputSchema.required ?? [], ...('id' in tool.inputSchema.properties ? ['id'] : [])];
	const base = Object.fromEntries([['trace', 'v2.ktrx'], ...required.map((name) => [name, values[name]])]);
	const whole = await client.callTool({ name: tool.name, arguments: base });
	console.log(`${tool.name} ${whole.isError ? `fails: ${text(whole)}` : 'answers'}`);
	for (const name of Object.keys(tool.inputSchema.properties)) {
		const args = { ...base };
		for (const wanted of [name, ...(needs[name] ?? [])]) args[wanted] = values[wanted];
		const result = await client.callTool({ name: tool.name, arguments: args });
		if (values[name] === undefined || /unrecognized|--help/.test(text(result)))
			console.log(`${tool.name} ${name}: ${text(result)}`);
	}
}

const why = text(await client.callTool({ name: 'why', arguments: { trace: 'deadlock.ktrx' } }));
console.log(`why ${/^deadlock \(certain\)/m.test(why)}`);
const show = text(await client.callTool({ name: 'show', arguments: { trace: 'v2.ktrx', json: true, event: 'irq' } }));
console.log(`show ${/"event":"irq.enter"/.test(show)}`);
const pages = [];
for (let cursor; pages.length === 0 || cursor; ) {
	const page = await client.callTool({ name: 'show', arguments: { trace: 'v2.ktrx', budget: 1000, ...(cursor ? { cursor } : {}) } });
	const [, output, more] = /^(.*?)(?:--- more follows: cursor (\S+) ---\n)?$/s.exec(page.content[1].text);
	pages.push(output);
	cursor = more;
}
const whole = (await client.callTool({ name: 'show', arguments: { trace: 'v2.ktrx', budget: 200000 } })).content[1].text;
console.log(`pages ${pages.length > 2 && pages.join('') === whole}`);
const check = text(await client.callTool({ name: 'check', arguments: { trace: 'v2.ktrx', rules: 'test.rules' } }));
console.log(`check ${/one-wake/.test(check)}`);
const life = text(await client.callTool({ name: 'life', arguments: { trace: 'typed.ktrx', kind: 'file', id: '0xffff0300' } }));
console.log(`life ${/vfs.open/.test(life)}`);
const other = text(await client.callTool({ name: 'life', arguments: { trace: 'v2.ktrx', kind: 'next=12' } }));
console.log(`life of any object ${/sched.switch/.test(other)}`);
const chosen = text(await client.callTool({ name: 'show', arguments: { trace: 'v2.ktrx', where: 'next == 12' } }));
console.log(`where ${/sched.switch/.test(chosen) && !/sched.wake/.test(chosen)}`);
const sql = text(await client.callTool({ name: 'sql', arguments: { trace: 'v2.ktrx', csv: true, query: '-- a comment\nSELECT 6 * 7 AS answer' } }));
console.log(`sql ${/answer\s+42/.test(sql)}`);
const lacks = await client.callTool({ name: 'life', arguments: { trace: 'v2.ktrx', kind: 'thread' } });
console.log(`life needs its words ${lacks.isError} ${text(lacks)}`);
const refused = await client.callTool({ name: 'show', arguments: { trace: '/etc/passwd' } });
console.log(`outside ${refused.isError} ${text(refused)}`);
await client.callTool({ name: 'absent', arguments: {} }).then(
	() => console.log('absent tool answers'),
	(error) => console.log(`absent tool ${error.code}`),
);
await client.close();
console.log('closed');
