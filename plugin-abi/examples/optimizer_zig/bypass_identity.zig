//! An optimizer in Zig: who reads an Identity reads its input instead.
//!
//! An Identity is taken out unless it is to be preserved, has another device than its input, or has
//! anything to do with control edges: those would have to be carried over, see the SDK's
//! GraphEdit::bypass for how.

const std = @import("std");
const abi = @import("abi.zig");
const graph = @import("graph.zig");

/// A failed safety check ends in a trap, not in a stack trace with half of an operating system in it.
pub const panic = std.debug.FullPanic(trap);

fn trap(_: []const u8, _: ?usize) noreturn {
    @trap();
}

const Names = std.StringHashMapUnmanaged(void);
const Inputs = std.StringHashMapUnmanaged([]const u8);

/// Names of the nodes to preserve: ask for the sizes, make room, ask for the names.
fn preserved(memory: std.mem.Allocator, item: *const abi.Item, status: *abi.Status) !Names {
    var count: c_int = 0;
    var size: usize = 0;
    abi.TF_GetNodesToPreserveListSize(item, &count, &size, status);
    if (abi.TF_GetCode(status) != abi.Code.ok) return error.Reported;
    const some: usize = @intCast(@max(count, 0));
    const values = try memory.alloc([*]u8, some);
    const lengths = try memory.alloc(usize, some);
    const storage = try memory.alloc(u8, size + 1);
    abi.TF_GetNodesToPreserveList(item, values.ptr, lengths.ptr, count, storage.ptr, size, status);
    if (abi.TF_GetCode(status) != abi.Code.ok) return error.Reported;
    var names: Names = .empty;
    for (values, lengths) |value, length| try names.put(memory, value[0..length], {});
    return names;
}

fn withoutPort(input: []const u8) []const u8 {
    return if (std.mem.endsWith(u8, input, ":0")) input[0 .. input.len - 2] else input;
}

/// For each Identity that may go: its name, and what it reads.
fn removable(memory: std.mem.Allocator, parts: []const graph.Part, keep: Names) !Inputs {
    var devices: Inputs = .empty;
    var anchors: Names = .empty; // nodes that a control edge leaves, or whose other outputs are read
    for (parts) |part| if (part == .node) {
        try devices.put(memory, part.node.name, part.node.device);
        for (part.node.inputs) |input| {
            if (std.mem.startsWith(u8, input, "^")) try anchors.put(memory, input[1..], {});
        }
    };
    var gone: Inputs = .empty;
    for (parts) |part| if (part == .node) {
        const node = part.node;
        if (!std.mem.eql(u8, node.op, "Identity") or node.inputs.len != 1) continue;
        if (keep.contains(node.name) or anchors.contains(node.name)) continue;
        const input = node.inputs[0];
        const end = std.mem.lastIndexOfScalar(u8, input, ':') orelse input.len;
        const device = devices.get(input[0..end]) orelse continue;
        if (std.mem.eql(u8, device, node.device)) try gone.put(memory, node.name, input);
    };
    return gone;
}

/// What is read through any number of removed nodes. Removed nodes in a ring read each other: after
/// more steps than there are of them, the search gives up and the input stays.
fn resolve(gone: Inputs, input: []const u8) []const u8 {
    var text = input;
    for (0..gone.count() + 1) |_| text = gone.get(withoutPort(text)) orelse return text;
    return input;
}

fn rewrite(memory: std.mem.Allocator, bytes: []const u8, keep: Names) !graph.Bytes {
    const parts = try graph.read(memory, bytes);
    const gone = try removable(memory, parts, keep);
    var out: graph.Bytes = .empty;
    for (parts) |part| switch (part) {
        .other => |raw| try out.appendSlice(memory, raw),
        .node => |node| {
            if (gone.contains(node.name) and resolve(gone, node.name).ptr != node.name.ptr) continue;
            for (node.inputs) |*input| input.* = resolve(gone, input.*);
            try graph.write(memory, &out, node);
        },
    };
    return out;
}

fn freeResult(data: ?*anyopaque, _: usize) callconv(.c) void {
    std.c.free(data);
}

fn run(input: *const abi.Buffer, item: *const abi.Item, output: *abi.Buffer, status: *abi.Status) !void {
    var arena = std.heap.ArenaAllocator.init(std.heap.c_allocator);
    defer arena.deinit();
    const memory = arena.allocator();
    const keep = try preserved(memory, item, status);
    const bytes = if (input.data) |data| data[0..input.length] else "";
    const result = try rewrite(memory, bytes, keep);
    // The host frees the result, so it must not come from the arena.
    const copy: [*]u8 = @ptrCast(std.c.malloc(result.items.len + 1) orelse return error.OutOfMemory);
    @memcpy(copy[0..result.items.len], result.items);
    output.* = .{ .data = copy, .length = result.items.len, .data_deallocator = freeResult };
}

fn optimize(_: ?*anyopaque, input: *const abi.Buffer, item: *const abi.Item, output: *abi.Buffer, status: *abi.Status) callconv(.c) void {
    run(input, item, output, status) catch |failure| switch (failure) {
        error.Reported => {}, // the host's own function has set the status
        error.Malformed => abi.TF_SetStatus(status, abi.Code.invalid_argument, "bypass_identity: the bytes are no GraphDef"),
        error.OutOfMemory => abi.TF_SetStatus(status, abi.Code.resource_exhausted, "bypass_identity: no memory"),
    };
}

/// The library's only export.
export fn TF_InitGraph(params: *abi.Registration, status: *abi.Status) callconv(.c) void {
    if (params.struct_size < @sizeOf(abi.Registration) or params.optimizer.struct_size < @sizeOf(abi.Optimizer)) {
        abi.TF_SetStatus(status, abi.Code.failed_precondition, "bypass_identity: the host's structs are too short");
        return;
    }
    params.device_type = "CPU";
    params.optimizer.optimize_func = optimize;
    abi.TF_SetStatus(status, abi.Code.ok, "");
}
