# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
"""Reads an answer of ktrace page by page, and compares the joined pages with the whole answer.

    python3 budget_pages.py BUDGET COMMAND WORD...

Prints a line for each mistake, and at last the number of pages.
"""
import json
import subprocess
import sys

MORE = "--- more follows: cursor "


def run(words):
    return subprocess.run(["ktrace", *words], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)


def join(whole, part):
    """Adds the members of a page of a document; arrays with the same name are joined."""
    for key, value in part.items():
        if isinstance(value, list):
            whole.setdefault(key, []).extend(value)
        elif key in whole and key not in ("schema", "strings"):
            print(f"member {key} is on two pages")
        else:
            whole[key] = value


def values(text):
    try:
        return [json.loads(text)], True
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.splitlines()], False


def main():
    budget, command, *rest = sys.argv[1:]
    answer = run([command, *rest])
    as_json = "--json" in rest
    wanted, document = values(answer.stdout) if as_json else (answer.stdout, False)
    got = [{}] if document else [] if as_json else ""
    cursor, pages = [], 0
    while pages < 1000:
        page = run([command, "--budget", budget, *cursor, *rest])
        pages += 1
        if len(page.stdout.encode()) > int(budget):
            print(f"page {pages} has {len(page.stdout.encode())} bytes")
        if page.returncode != answer.returncode:
            print(f"page {pages}: status {page.returncode}, not {answer.returncode}: {page.stderr}")
            break
        following = None
        if document:
            part = json.loads(page.stdout)
            following = part.pop("cursor", None)
            join(got[0], part)
        elif as_json:
            lines = [json.loads(line) for line in page.stdout.splitlines()]
            if lines and "cursor" in lines[-1]:
                following = lines.pop()["cursor"]
            got += lines
        else:
            lines = page.stdout.splitlines(keepends=True)
            if lines and lines[-1].startswith(MORE):
                following = lines.pop()[len(MORE):].split()[0]
            got += "".join(lines)
        if not following:
            break
        cursor = ["--cursor", following]
    if got != wanted or (document and list(got[0]) != list(wanted[0])):
        print("the pages are not the whole answer")
    print(f"{pages} page{'s' if pages > 1 else ''}")


main()
