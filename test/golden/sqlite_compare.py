# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
"""Compares a database with the tables of `ktrace sql`, with SQLite as Python has it.

    sqlite_compare.py KTRACE TRACE DATABASE [counts]

Prints the first differences. `counts`: compares only the numbers of rows, because texts are hostile.
"""
import json
import sqlite3
import subprocess
import sys

ktrace, trace, path = sys.argv[1:4]
counts = "counts" in sys.argv[4:]
database = sqlite3.connect(path)
database.text_factory = bytes if counts else str
if [tuple(row) for row in database.execute("PRAGMA integrity_check")] not in ([("ok",)], [(b"ok",)]):
    print("the database is damaged")


def asked(query):
    lines = subprocess.run([ktrace, "sql", "--json", trace, query], stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, check=True).stdout.decode().splitlines()
    rows = [json.loads(line) for line in lines]
    for name in ("schema", "strings"):
        rows and rows[0].pop(name)
    return [tuple(row.values()) for row in rows]


tables = [row[0] for row in database.execute("SELECT name FROM sqlite_master ORDER BY rowid")]
if len(tables) < 12:
    print("only %d tables" % len(tables))
for table in tables:
    if counts:
        table = table.decode()
    quoted = '"%s"' % table.replace('"', '""')
    columns = "count(*)" if counts else "*"
    expected = asked("SELECT %s FROM %s" % (columns, quoted))
    found = [tuple(row) for row in database.execute("SELECT %s FROM %s" % (columns, quoted))]
    if sorted(map(str, expected)) != sorted(map(str, found)):
        print("%s: expected %s, found %s" % (table, expected[:3], found[:3]))
