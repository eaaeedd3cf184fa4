"""The PJRT C API as Python calls: structs, the function table, clients, executables, buffers."""
