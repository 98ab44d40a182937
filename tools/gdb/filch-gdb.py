"""filch-gdb.py: tasks of filch in gdb, in a live process or a core file.

    (gdb) source filch-gdb.py
    (gdb) filch tasks            every task that has begun, with its state
    (gdb) filch bt ADDRESS       the backtrace of one: ADDRESS of the task or fiber, as `filch tasks`
    (gdb) filch bt all           of all that do not run just now

Installed as share/filch/filch-gdb.py. Needs the library's debug information (its types are read), and
x86-64 or aarch64 with the assembly switch (not FILCH_UCONTEXT).

How a parked fiber is shown: the registers that os_context_jump saved are read from its stack, and an
unwinder says that they are the caller of the selected thread's innermost frame. So nothing in the
process is changed, and cores work as well. That first frame is dropped from what is printed.
"""
import re

import gdb
from gdb.unwinder import Unwinder, register_unwinder

# What a suspended flow has from its stack pointer up: src/os/context_*.S.
LAYOUT = {
    "i386:x86-64": {
        "size": 64,
        "registers": {"r15": 8, "r14": 16, "r13": 24, "r12": 32, "rbx": 40, "rbp": 48, "rip": 56},
        "pc": "rip", "sp": "rsp",
    },
    "aarch64": {
        "size": 176,
        "registers": dict([("x%d" % (19 + i), 8 * i) for i in range(12)], pc=88),
        "pc": "pc", "sp": "sp",
    },
}

TASK_TAG, TASK_COPY = 7, 16
WAIT_TAKEN = 2


def layout():
    name = gdb.selected_inferior().architecture().name() if hasattr(gdb.Inferior, "architecture") \
        else gdb.selected_frame().architecture().name()
    for known, what in LAYOUT.items():
        if name.startswith(known):
            return what
    raise gdb.GdbError("filch: no layout for " + name)


def word(address):
    pointer = gdb.lookup_type("unsigned long").pointer()
    return int(gdb.Value(address).cast(pointer).dereference())


class FiberUnwinder(Unwinder):
    """While `sp` is set, the innermost frame of the selected thread was called by that fiber."""

    def __init__(self):
        super().__init__("filch fibers")
        self.sp = None

    def __call__(self, pending):
        if self.sp is None:
            return None
        sp, self.sp, machine = self.sp, None, layout()  # the innermost frame is asked first
        pc = pending.read_register(machine["pc"])
        # A frame lower than the fiber's own, or gdb would think that the stack goes backwards.
        kind = type("FrameId", (), {})
        frame = kind()
        frame.sp, frame.pc = gdb.Value(sp), pc
        info = pending.create_unwind_info(frame)
        long = gdb.lookup_type("unsigned long")
        for name, at in machine["registers"].items():
            info.add_saved_register(name, gdb.Value(word(sp + at)).cast(long))
        info.add_saved_register(machine["sp"], gdb.Value(sp + machine["size"]).cast(long))
        return info


UNWINDER = FiberUnwinder()
register_unwinder(None, UNWINDER, replace=True)


def text(pointer):
    if int(pointer) == 0:
        return ""
    try:
        return pointer.string(errors="replace", length=80).split("\0")[0]
    except gdb.error:
        return "?"


def pools():
    pool = gdb.lookup_static_symbol("pools")
    if pool is None or gdb.lookup_global_symbol("filch_dump") is None:
        raise gdb.GdbError("filch: no debug information of the library here")
    p = pool.value()
    while int(p) != 0:
        yield p
        p = p["next"]


def fibers(pool):
    page = int(gdb.parse_and_eval("(unsigned long)4096"))
    header, fiber_type = 256, gdb.lookup_type("struct fiber").pointer()
    low, high = pool["fibers"].type.range()
    for kind in range(low, high + 1):
        store = pool["fibers"][kind]
        slab = store["slabs"]
        while int(slab) != 0:
            for i in range(int(slab["used"])):
                region = int(slab["first"]) + i * int(store["region_size"])
                at = None
                for size in (page, 4 * page, 16 * page):  # of a page, which the core does not tell
                    guess = region + size + int(store["stack_size"]) + size // 2 + header
                    try:
                        f = gdb.Value(guess).cast(fiber_type)
                        if int(f["region"]) == region:
                            at = f
                            break
                    except gdb.MemoryError:
                        pass
                if at is not None:
                    yield at
            slab = slab["next"]


class Flow:
    """A task or job that has begun."""

    def __init__(self, pool, fiber):
        self.fiber, self.task = fiber, fiber["task"]
        root = fiber["root"]
        self.live = int(root) != 0 or int(self.task) != 0
        if not self.live:
            return
        self.name = text(self.task["name"] if int(self.task) else root["name"])
        self.worker = None
        for i in range(int(pool["count"])):
            if int(pool["workers"][i]["fiber"]) == int(fiber):
                self.worker = i
        self.state = self.see()

    def see(self):
        wait = self.fiber["waiting"]
        if int(wait) != 0 and int(wait["state"]) < WAIT_TAKEN:
            about = wait["about"]
            what = "waiting in %s" % text(about["call"]) if int(about) else "waiting"
            return "%s for %#x" % (what, int(wait["object"])) if int(wait["object"]) else what
        if int(self.fiber["joining"]) != 0:
            return "waiting in FILCH_JOIN for a stolen fork"
        return "running on worker %d" % self.worker if self.worker is not None else "ready"

    def __str__(self):
        kind, at = ("task", self.task) if int(self.task) else ("job", self.fiber)
        return '%s %#x "%s" %s (fiber %#x)' % (kind, int(at), self.name, self.state, int(self.fiber))


def flows():
    for pool in pools():
        for fiber in fibers(pool):
            flow = Flow(pool, fiber)
            if flow.live:
                yield flow


def backtrace(flow):
    """Without the innermost frame, which is the thread's."""
    UNWINDER.sp = int(flow.fiber["context"]["sp"])
    gdb.invalidate_cached_frames()
    try:
        lines = gdb.execute("with backtrace past-main on -- backtrace", to_string=True).splitlines()
    finally:
        UNWINDER.sp = None
        gdb.invalidate_cached_frames()
    frames, number = [], -1
    for line in lines:
        match = re.match(r"#(\d+)(\s+.*)", line)
        if match:
            number = int(match.group(1))
            line = "#%-2d%s" % (number - 1, match.group(2))
        if number > 0:
            frames.append(line)
    return "\n".join(frames)


class FilchCommand(gdb.Command):
    """Tasks of filch: filch tasks, filch bt ADDRESS|all."""

    def __init__(self):
        super().__init__("filch", gdb.COMMAND_STACK, gdb.COMPLETE_NONE, True)


class FilchTasks(gdb.Command):
    """Lists every task and job that has begun."""

    def __init__(self):
        super().__init__("filch tasks", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        count = 0
        for flow in flows():
            print(flow)
            count += 1
        print("%d task%s" % (count, "" if count == 1 else "s"))


class FilchBacktrace(gdb.Command):
    """Shows the backtrace of a task that does not run just now: filch bt ADDRESS, filch bt all."""

    def __init__(self):
        super().__init__("filch bt", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        wanted = argument.strip()
        if not wanted:
            raise gdb.GdbError("filch bt ADDRESS, or filch bt all; addresses: filch tasks")
        at = None if wanted == "all" else int(gdb.parse_and_eval(wanted))
        shown = 0
        for flow in flows():
            if at is not None and at not in (int(flow.task), int(flow.fiber)):
                continue
            shown += 1
            print(flow)
            if flow.worker is not None:
                print("on a thread: see `thread apply all bt`")
            else:
                print(backtrace(flow))
        if at is not None and shown == 0:
            raise gdb.GdbError("filch: no such task; see filch tasks")


FilchCommand()
FilchTasks()
FilchBacktrace()
