//! The part of drystone/optimizer.h, buffer.h and status.h that this plugin uses, declared by hand.
//!
//! The contract is plain C, so any language that can lay out a struct and export a function can serve
//! it. The checks at the end hold the layouts against the sizes that the C headers state.

pub const Status = opaque {};
pub const Item = opaque {};

pub const Code = struct {
    pub const ok: c_int = 0;
    pub const invalid_argument: c_int = 3;
    pub const resource_exhausted: c_int = 8;
    pub const failed_precondition: c_int = 9;
};

pub const Buffer = extern struct {
    data: ?[*]const u8,
    length: usize,
    data_deallocator: ?*const fn (?*anyopaque, usize) callconv(.c) void,
};

pub const Optimizer = extern struct {
    struct_size: usize,
    ext: ?*anyopaque,
    create_func: ?*const fn () callconv(.c) ?*anyopaque,
    optimize_func: ?*const fn (?*anyopaque, *const Buffer, *const Item, *Buffer, *Status) callconv(.c) void,
    destroy_func: ?*const fn (?*anyopaque) callconv(.c) void,
};

pub const Registration = extern struct {
    struct_size: usize,
    ext: ?*anyopaque,
    major_version: i32,
    minor_version: i32,
    patch_version: i32,
    device_type: ?[*:0]const u8,
    optimizer_configs: ?*anyopaque,
    optimizer: *Optimizer,
};

pub extern fn TF_SetStatus(status: *Status, code: c_int, message: [*:0]const u8) void;
pub extern fn TF_GetCode(status: *const Status) c_int;
pub extern fn TF_GetNodesToPreserveListSize(item: *const Item, count: *c_int, storage_size: *usize, status: *Status) void;
pub extern fn TF_GetNodesToPreserveList(item: *const Item, values: [*][*]u8, lengths: [*]usize, count: c_int, storage: [*]u8, storage_size: usize, status: *Status) void;

comptime {
    if (@sizeOf(Buffer) != 24 or @sizeOf(Optimizer) != 40 or @sizeOf(Registration) != 56) {
        @compileError("a struct does not have the layout of the C contract");
    }
}
