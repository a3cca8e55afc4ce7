# SPDX-License-Identifier: MIT OR Apache-2.0 OR BSD-2-Clause
"""Reads a page that ktrace html wrote (spec/page.md). It shares no code with the writer."""
import base64
import collections
import json
import re
import zlib

SLICE = ("begin", "duration", "name", "cls", "depth", "ring", "slot", "other", "flags")


class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                assert value < 1 << 64
                return value
            shift += 7

    def signed(self):
        value = self.number()
        return value >> 1 ^ -(value & 1)

    def take(self, size):
        assert self.at + size <= len(self.data)
        self.at += size
        return self.data[self.at - size:self.at]

    def column(self, count):
        return [self.number() for _ in range(count)]

    def deltas(self, count, signed=False):
        total, column = 0, []
        for _ in range(count):
            total = (total + (self.signed() if signed else self.number())) % (1 << 64)
            column.append(total)
        return column


class Page:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        heads = re.findall(r'<script id="ktrace-head" type="application/json">(.*?)</script>', text, re.S)
        assert len(heads) == 1
        self.head = json.loads(heads[0])
        self.types = {kind["id"]: kind for kind in self.head["types"]}
        self.strings, self.lanes = [""], {}
        self.slices = collections.defaultdict(list)  # by (lane, row)
        self.unknown = 0
        blocks = re.findall(r'<script class="ktrace-block" type="[^"]*">(.*?)</script>', text, re.S)
        self.blocks = len(blocks)
        for block in blocks:
            self.block(zlib.decompress(base64.b64decode(block, validate=True)))

    def block(self, data):
        reader = Bytes(data)
        readers = {1: self.read_strings, 2: self.read_lanes, 3: self.read_slices}
        while reader.at < len(data):
            tag = reader.number()
            section = Bytes(reader.take(reader.number()))
            if tag in readers:
                readers[tag](section)
                assert section.at == len(section.data)
            else:
                self.unknown += 1

    def read_strings(self, section):
        for _ in range(section.number()):
            self.strings.append(section.take(section.number()).decode("utf-8"))

    def read_lanes(self, section):
        for _ in range(section.number()):
            lane, kind, number, name, group, flags = section.column(6)
            assert lane <= len(self.lanes)
            self.lanes[lane] = (kind, number, self.strings[name], self.strings[group], flags)

    def read_slices(self, section):
        lane, row, count = section.column(3)
        columns = [section.deltas(count)] + [section.column(count) for _ in range(5)]
        columns += [section.deltas(count, True), section.column(count), section.column(count)]
        assert lane in self.lanes and count > 0
        for values in zip(*columns):
            self.slices[lane, row].append(dict(zip(SLICE, values), name=self.strings[values[2]]))
