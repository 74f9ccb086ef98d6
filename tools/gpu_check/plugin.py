"""The CUDA plugin through its table of C functions, as src/cuda/abi.h declares it.

The header is read here and nothing is assumed of the table's order, so functions that are added to it do no harm.
"""
import ctypes
import re

import numpy as np

SCALARS = {"int": ctypes.c_int, "int64_t": ctypes.c_int64, "size_t": ctypes.c_size_t, "double": ctypes.c_double,
           "char": ctypes.c_char}


class PluginError(Exception):
    """A function of the table refused or failed."""

    def __init__(self, text, code=None):
        super().__init__(text)
        self.code = code


def c_type(words, returned=False):
    """The ctypes type of a C type, perhaps followed by a name. Pointers are addresses, but for a returned text."""
    if "*" in words:
        return ctypes.c_char_p if returned and re.match(r"const char\s*\*", words) else ctypes.c_void_p
    plain = [word for word in words.split() if word != "const"]
    if plain == ["void"]:
        return None
    if not plain or plain[0] not in SCALARS:
        raise PluginError(f"abi.h: the type '{words}' is not known here")
    return SCALARS[plain[0]]


def fields_of(body):
    """(name, ctypes type) per member of a struct, from the text between its braces."""
    fields = []
    for member in (" ".join(part.split()) for part in body.split(";")):
        function = re.fullmatch(r"(.+?)\(\*(\w+)\)\((.*)\)", member)
        if function:
            types = [c_type(one) for one in function[3].split(",")]
            prototype = ctypes.CFUNCTYPE(c_type(function[1], True), *[one for one in types if one is not None])
            fields.append((function[2], prototype))
        elif member:
            kind, names = member.split(" ", 1)
            for name in names.split(","):
                name, length = re.fullmatch(r"\s*(\w+)(?:\[(\d+)\])?\s*", name).groups()
                fields.append((name, c_type(kind) if length is None else c_type(kind) * int(length)))
    return fields


class Header:
    """What abi.h says: constants, the structs, the name of the entry."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            text = re.sub(r"/\*.*?\*/", " ", file.read(), flags=re.DOTALL)
        numbers = re.findall(r"#define\s+(\w+)\s+(\d+)", text)
        for body in re.findall(r"\benum\s*\w*\s*\{(.*?)\}", text, flags=re.DOTALL):
            numbers += re.findall(r"(\w+)\s*=\s*(\d+)", body)
        self.constants = {name: int(value) for name, value in numbers}
        self.entry = re.search(r'#define\s+VOXRIDGE_CUDA_ENTRY\s+"(\w+)"', text)[1]
        bodies = re.findall(r"typedef struct \{(.*?)\}\s*(\w+)\s*;", text, flags=re.DOTALL)
        declared = re.findall(r"\(\*(\w+)\)\(([^)]*)\)", text)
        self.parameters = {name: re.findall(r"(\w+)\s*(?:,|$)", given) for name, given in declared}
        self.structs = {name: type(name, (ctypes.Structure,), {"_fields_": fields_of(body)}) for body, name in bodies}

    @property
    def functions(self):
        table = self.structs["voxridge_cuda_table"]
        return [name for name, kind in table._fields_ if issubclass(kind, ctypes._CFuncPtr)]


class Plugin:
    def __init__(self, path, header_path):
        self.header = Header(header_path)
        constants = self.header.constants
        entry = getattr(ctypes.CDLL(path), self.header.entry)
        entry.restype = ctypes.c_void_p
        address = entry()
        abi = ctypes.c_int.from_address(address).value
        if abi != constants["VOXRIDGE_CUDA_ABI"]:
            raise PluginError(f"the plugin has interface {abi}, abi.h {constants['VOXRIDGE_CUDA_ABI']}")
        kind = self.header.structs["voxridge_cuda_table"]
        self.table = kind.from_address(address)
        if self.table.table_size != ctypes.sizeof(kind):
            raise PluginError(f"the plugin's table has {self.table.table_size} bytes, that of abi.h "
                              f"{ctypes.sizeof(kind)}")
        self.types = {np.dtype(np.float32): constants["VOXRIDGE_F32"], np.dtype(np.float64): constants["VOXRIDGE_F64"]}

    def info(self):
        out = self.header.structs["voxridge_cuda_info"]()
        self.table.info(ctypes.addressof(out))
        return {name: value.decode(errors="replace") if isinstance(value, bytes) else value
                for name, value in ((name, getattr(out, name)) for name, _ in out._fields_)}


class DeviceMatrix:
    """rows x cols elements of the device, columns ld elements apart."""

    def __init__(self, session, rows, cols, dtype, ld=None):
        self.session, self.rows, self.cols, self.dtype = session, rows, cols, np.dtype(dtype)
        self.ld = rows if ld is None else ld
        self.type = session.plugin.types[self.dtype]
        self.address = session.allocate("allocate", self.ld * cols * self.dtype.itemsize)

    def release(self):
        self.session.plugin.table.release(self.session.handle, self.address)

    def load(self, host, later=0):
        """host: column-major, of the same type. `later`: memory of HostMatrix, not written before a synchronize."""
        rows, cols = host.shape
        self.session.call("to_device", self.type, host.ctypes.data, distance(host), rows, cols, self.address, self.ld,
                          later)
        return self

    def read(self, out=None, rows=None, cols=None):
        rows, cols = rows or self.rows, cols or self.cols
        if out is None:
            out = np.empty((rows, cols), self.dtype, order="F")
        arguments = [self.type, self.address, self.ld, rows, cols, out.ctypes.data, distance(out)]
        if "later" in self.session.plugin.header.parameters["to_host"]:
            arguments.append(0)
        self.session.call("to_host", *arguments)
        return out


class HostMatrix:
    """Page-locked memory of the host as a column-major array."""

    def __init__(self, session, rows, cols, dtype):
        self.session = session
        count = rows * cols
        self.address = session.allocate("allocate_host", count * np.dtype(dtype).itemsize)
        kind = ctypes.c_float if np.dtype(dtype) == np.float32 else ctypes.c_double
        self.array = np.ctypeslib.as_array((kind * count).from_address(self.address)).reshape((rows, cols), order="F")

    def release(self):
        self.session.plugin.table.release_host(self.session.handle, self.address)


class Session:
    """Used by one thread at a time."""

    def __init__(self, plugin):
        self.plugin = plugin
        handle, text = ctypes.c_void_p(), ctypes.create_string_buffer(512)
        if plugin.table.open(ctypes.addressof(handle), ctypes.addressof(text), 512) != 0:
            raise PluginError(text.value.decode(errors="replace"))
        self.handle = handle.value

    def close(self):
        self.plugin.table.close(self.handle)

    def call(self, function, *arguments):
        """Arrays are given by address; numpy's and None as they are."""
        addresses = [one.ctypes.data if isinstance(one, np.ndarray) else one for one in arguments]
        code = getattr(self.plugin.table, function)(self.handle, *addresses)
        if code != 0:
            raise PluginError(f"{function}: {self.plugin.table.text(self.handle).decode(errors='replace')}", code)

    def allocate(self, function, size):
        out = ctypes.c_void_p()
        self.call(function, max(size, 1), ctypes.addressof(out))
        return out.value

    def upload(self, host, extra=0):
        """A copy on the device; `extra` elements lie between its columns."""
        rows, cols = host.shape
        return DeviceMatrix(self, rows, cols, host.dtype, rows + extra).load(np.asfortranarray(host))

    def gemm(self, a, b, c, transpose_a=0, transpose_b=0, alpha=1.0, beta=0.0, rows=None, cols=None):
        """c = alpha op(a) op(b) + beta c, its first `rows` rows and `cols` columns where these are given."""
        inner = a.rows if transpose_a else a.cols
        self.call("gemm", c.type, transpose_a, transpose_b, rows or c.rows, cols or c.cols, inner, alpha, a.address,
                  a.ld, b.address, b.ld, beta, c.address, c.ld)


def distance(array):
    """Elements between the columns of a column-major array."""
    if array.strides[0] != array.itemsize and array.shape[0] > 1:
        raise ValueError("the array is not column-major")
    return array.strides[1] // array.itemsize if array.shape[1] > 1 else array.shape[0]
