//! Reading the nodes of a serialised GraphDef, and writing one node with other inputs.

const std = @import("std");

pub const Error = error{ Malformed, OutOfMemory };
pub const Bytes = std.ArrayList(u8);

const Field = struct {
    number: u64,
    payload: ?[]const u8, // of a length-delimited field
    raw: []const u8, // the whole field, tag included
};

/// Walks the fields of one message.
const Fields = struct {
    rest: []const u8,

    fn next(self: *Fields) Error!?Field {
        if (self.rest.len == 0) return null;
        const start = self.rest;
        const tag = try self.varint();
        if (tag >> 3 == 0) return error.Malformed;
        var payload: ?[]const u8 = null;
        switch (tag & 7) {
            0 => _ = try self.varint(),
            1 => _ = try self.take(8),
            2 => payload = try self.take(try self.varint()),
            5 => _ = try self.take(4),
            else => return error.Malformed,
        }
        return .{ .number = tag >> 3, .payload = payload, .raw = start[0 .. start.len - self.rest.len] };
    }

    fn varint(self: *Fields) Error!u64 {
        var value: u64 = 0;
        for (0..10) |k| {
            if (k >= self.rest.len) return error.Malformed;
            const byte: u64 = self.rest[k];
            value |= std.math.shl(u64, byte & 0x7f, 7 * k);
            if (byte < 0x80) {
                self.rest = self.rest[k + 1 ..];
                return value;
            }
        }
        return error.Malformed;
    }

    fn take(self: *Fields, size: u64) Error![]const u8 {
        if (size > self.rest.len) return error.Malformed;
        const taken = self.rest[0..@intCast(size)];
        self.rest = self.rest[@intCast(size)..];
        return taken;
    }
};

pub const Node = struct {
    message: []const u8,
    name: []const u8 = "",
    op: []const u8 = "",
    device: []const u8 = "",
    inputs: [][]const u8,

    fn read(memory: std.mem.Allocator, message: []const u8) Error!Node {
        var node = Node{ .message = message, .inputs = &.{} };
        var inputs: std.ArrayList([]const u8) = .empty;
        var fields = Fields{ .rest = message };
        while (try fields.next()) |field| {
            const text = field.payload orelse continue;
            switch (field.number) {
                1 => node.name = text,
                2 => node.op = text,
                3 => try inputs.append(memory, text),
                4 => node.device = text,
                else => {},
            }
        }
        node.inputs = inputs.items;
        return node;
    }
};

/// A field of the graph: a node, or bytes to be kept as they are.
pub const Part = union(enum) { node: Node, other: []const u8 };

pub fn read(memory: std.mem.Allocator, bytes: []const u8) Error![]Part {
    var parts: std.ArrayList(Part) = .empty;
    var fields = Fields{ .rest = bytes };
    while (try fields.next()) |field| {
        if (field.number == 1 and field.payload != null) {
            try parts.append(memory, .{ .node = try Node.read(memory, field.payload.?) });
        } else {
            try parts.append(memory, .{ .other = field.raw });
        }
    }
    return parts.items;
}

/// Append a node: its inputs as given, every other field byte for byte.
pub fn write(memory: std.mem.Allocator, out: *Bytes, node: Node) Error!void {
    var message: Bytes = .empty;
    var fields = Fields{ .rest = node.message };
    while (try fields.next()) |field| {
        if (field.number == 3 and field.payload != null) continue;
        try message.appendSlice(memory, field.raw);
    }
    for (node.inputs) |input| try writeText(memory, &message, 3, input);
    try writeText(memory, out, 1, message.items);
}

fn writeText(memory: std.mem.Allocator, out: *Bytes, number: u8, text: []const u8) Error!void {
    try out.append(memory, number << 3 | 2);
    var size = text.len;
    while (size >= 0x80) : (size >>= 7) try out.append(memory, @truncate(size | 0x80));
    try out.append(memory, @truncate(size));
    try out.appendSlice(memory, text);
}
