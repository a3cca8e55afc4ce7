// SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
//
// Reads Parquet files with hyparquet:
//
//	node read.mjs LIBRARY FILE...     prints each row as a line of JSON
//
// LIBRARY is the directory of hyparquet, which test/npm.sh installs.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [library, ...files] = process.argv.slice(2);
const { parquetReadObjects } = await import(pathToFileURL(join(library, 'src/index.js')).href);
const plain = (key, value) => (typeof value === 'bigint' ? Number(value) : value);

for (const file of files) {
	const bytes = readFileSync(file);
	const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
	const rows = await parquetReadObjects({ file: buffer });
	process.stdout.write(rows.map((row) => JSON.stringify(row, plain) + '\n').join(''));
}
