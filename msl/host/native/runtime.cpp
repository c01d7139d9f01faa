// Runs a grid of threads. The threads of a threadgroup are fibers: each runs until it ends or has to
// wait for others, at a barrier or in an operation of its simdgroup. Groups follow each other.
#include <eas_types.h>

extern "C" {
typedef void (*eas_kernel)(void* const* buffers, void* const* shared, const eas_thread* thread);

enum eas_kind : uint {
    NOTHING, EXITED_BEFORE_BARRIER, DIFFERENT_BARRIERS, SIMDGROUP_OUTSIDE_FIBER,
    READ_OUTSIDE, WRITE_OUTSIDE, MISALIGNED, READ_BEFORE_WRITE,
    WRITE_WRITE_RACE, READ_AFTER_WRITE_RACE, WRITE_AFTER_READ_RACE,
    INDEX_OUTSIDE, BAD_SHIFT, BAD_DIVISION, BAD_CAST, OVERFLOW, BAD_BOOL, NO_RETURN,
    INACTIVE_LANE, DIFFERENT_DISTANCES, DIVERGED_SIMDGROUP, DIVISION_BY_ZERO
};

// `waiting` is how many threads wait, or the other thread of a race. `callers` are the places that
// the function with `pc` was called from, and its callers.
struct eas_report {
    uint kind, group[3], thread, waiting;
    ulong site, other_site, pc, other_pc;
    ulong callers[4];
    long offset, size;
    int buffer;
    char name[60];
};

// `ctypes` mirrors this in worker.py.
struct eas_launch {
    eas_kernel kernel;
    void** buffers;
    void** shared;
    ulong* shared_bytes;
    uchar* variables;
    uchar* variables_end;
    uchar* stacks;
    ulong stack_bytes;
    uint threads[3], groups[3], grid[3];
    uint order, has_fibers;
    uchar* lows[31];
    uchar* highs[31];
    uchar* library;
    uchar* library_end;
    eas_report report;
};
}

namespace {

constexpr uint SIMD_WIDTH = 32;
constexpr uint MAX_THREADS = 1024;
constexpr uint MAX_SHARED = 31;

enum class State { READY, AT_BARRIER, IN_SIMDGROUP, DONE };
enum Order : uint { FORWARD, REVERSE, ROTATED };

struct Fiber {
    void* stack;
    State state;
    uint flags;
    ulong site, last_site;
    uint device_epoch, group_epoch, simd_device_epoch, simd_group_epoch;
    eas_thread thread;
};

// The calls and loops that a thread is in, each with its position in the text and how often the loop
// has run. Loops and calls that are nested deeper than `MAX_STEPS` are not distinguished.
constexpr uint MAX_STEPS = 30;
struct Step {
    ulong site, trip;
};
struct Path {
    uint depth;
    Step steps[MAX_STEPS + 1];
};

eas_launch* launch;
Fiber fibers[MAX_THREADS];
Path paths[MAX_THREADS];
uint fiber_count, current, round;
ulong group_number;
void* scheduler_stack;
uchar values[MAX_THREADS][64];
eas_slots slots[MAX_THREADS / SIMD_WIDTH];

extern "C" void eas_switch(void** save, void* load);
#if defined(__APPLE__)
#define EAS_SYMBOL "_eas_switch"
#else
#define EAS_SYMBOL "eas_switch"
#endif
#if defined(__x86_64__)
__asm__(".text\n.globl " EAS_SYMBOL "\n" EAS_SYMBOL ":\n"
        "push %rbp\n push %rbx\n push %r12\n push %r13\n push %r14\n push %r15\n"
        "mov %rsp, (%rdi)\n mov %rsi, %rsp\n"
        "pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbx\n pop %rbp\n ret\n");
// On entry to a function the stack is a word off its alignment.
constexpr int SAVED_WORDS = 7, ENTRY_WORD = 6, TOP_WORDS = 1;
#elif defined(__aarch64__)
__asm__(".text\n.globl " EAS_SYMBOL "\n" EAS_SYMBOL ":\n"
        "sub sp, sp, #160\n"
        "stp x19, x20, [sp]\n stp x21, x22, [sp, #16]\n stp x23, x24, [sp, #32]\n"
        "stp x25, x26, [sp, #48]\n stp x27, x28, [sp, #64]\n stp x29, x30, [sp, #80]\n"
        "stp d8, d9, [sp, #96]\n stp d10, d11, [sp, #112]\n stp d12, d13, [sp, #128]\n"
        "stp d14, d15, [sp, #144]\n"
        "mov x9, sp\n str x9, [x0]\n mov sp, x1\n"
        "ldp x19, x20, [sp]\n ldp x21, x22, [sp, #16]\n ldp x23, x24, [sp, #32]\n"
        "ldp x25, x26, [sp, #48]\n ldp x27, x28, [sp, #64]\n ldp x29, x30, [sp, #80]\n"
        "ldp d8, d9, [sp, #96]\n ldp d10, d11, [sp, #112]\n ldp d12, d13, [sp, #128]\n"
        "ldp d14, d15, [sp, #144]\n add sp, sp, #160\n ret\n");
constexpr int SAVED_WORDS = 20, ENTRY_WORD = 11, TOP_WORDS = 2;
#else
#error "fibers are written for x86-64 and aarch64"
#endif

void leave() { eas_switch(&fibers[current].stack, scheduler_stack); }

void enter_kernel() {
    launch->kernel(launch->buffers, launch->shared, &fibers[current].thread);
    fibers[current].state = State::DONE;
    leave();
    __builtin_trap();
}

// A stack on which switching to it enters the kernel. Its top word is no return address.
void* fresh_stack(uint index) {
    ulong* top = (ulong*)(launch->stacks + (index + 1) * launch->stack_bytes) - TOP_WORDS;
    ulong* bottom = top - SAVED_WORDS;
    for (int i = 0; i < SAVED_WORDS; ++i) {
        bottom[i] = 0;
    }
    top[0] = 0;
    bottom[ENTRY_WORD] = (ulong)enter_kernel;
    return bottom;
}

void resume(uint index) {
    current = index;
    eas_switch(&scheduler_stack, fibers[index].stack);
}

void report(eas_kind kind, ulong site, uint waiting = 0, ulong other_site = 0) {
    eas_report& r = launch->report;
    if (r.kind == NOTHING) {
        const uint* group = fibers[current].thread.group;
        r = {kind, {group[0], group[1], group[2]}, current, waiting, site, other_site};
    }
}

}  // namespace
#if defined(EAS_CHECKED)
#include "check.h"
#endif
namespace {

// The position of the n-th of some things that may happen in any order; it differs in each pass.
ulong in_order(ulong n, ulong count, uint pass) {
    switch (launch->order) {
        case REVERSE: return count - 1 - n;
        case ROTATED: return (n + pass * 7 + count / 3) % count;
        default: return n;
    }
}

uint steps_of(const Path& path) { return path.depth < MAX_STEPS ? path.depth : MAX_STEPS; }

// Where a thread waits: the last step of its path.
void wait_at(ulong site) {
    Path& path = paths[current];
    path.steps[steps_of(path)] = {site, 0};
    fibers[current].site = fibers[current].last_site = site;
}

// The order in which the text has the places at which two threads wait: below 0 if the first one
// has to catch up with the other, 0 if they are in the same instance of a function.
int compare(const Path& a, const Path& b) {
    const uint most = steps_of(a) < steps_of(b) ? steps_of(a) : steps_of(b);
    for (uint i = 0; i <= most; ++i) {
        const Step &x = a.steps[i], &y = b.steps[i];
        if (x.site != y.site || x.trip != y.trip) {
            return x.site < y.site || (x.site == y.site && x.trip < y.trip) ? -1 : 1;
        }
    }
    return (int)steps_of(a) - (int)steps_of(b);
}

// Lets the lanes meet that are behind all others; gives whether there were any. Lanes that diverge
// join at the end of the statement, so those that wait behind it wait for the ones within.
bool meet(uint first, uint end) {
    uint hindmost = end;
    for (uint i = first; i < end; ++i) {
        const bool is_in = fibers[i].state == State::IN_SIMDGROUP;
        if (is_in && (hindmost == end || compare(paths[i], paths[hindmost]) < 0)) {
            hindmost = i;
        }
    }
    eas_slots& meeting = slots[first / SIMD_WIDTH];
    meeting.active = 0;
    for (uint i = first; i < end; ++i) {
        if (fibers[i].state == State::IN_SIMDGROUP && compare(paths[i], paths[hindmost]) == 0) {
            meeting.active |= 1u << (i - first);
            __builtin_memcpy(meeting.bytes[i - first], values[i], sizeof values[i]);
            fibers[i].state = State::READY;
            fibers[i].simd_device_epoch += fibers[i].flags & 1;
            fibers[i].simd_group_epoch += fibers[i].flags >> 1 & 1;
        }
    }
    return meeting.active != 0;
}

void run_simdgroup(uint index) {
    const uint first = index * SIMD_WIDTH;
    const uint end = first + SIMD_WIDTH < fiber_count ? first + SIMD_WIDTH : fiber_count;
    do {
        ++round;
        for (uint n = 0; n < end - first; ++n) {
            const uint i = first + in_order(n, end - first, round);
            if (fibers[i].state == State::READY && launch->report.kind == NOTHING) {
                resume(i);
            }
        }
    } while (launch->report.kind == NOTHING && meet(first, end));
}

// Releases the threads that wait at a barrier; gives whether any thread goes on. All of them have to
// be there, in a loop in the same trip (MSL specification, "Threadgroup and SIMD-group
// Synchronization Functions").
bool release() {
    uint waiting = 0, first = 0;
    for (uint i = 0; i < fiber_count; ++i) {
        if (fibers[i].state != State::AT_BARRIER) {
            continue;
        }
        if (waiting != 0 && compare(paths[i], paths[first]) != 0) {
            current = i;
            report(DIFFERENT_BARRIERS, fibers[first].site, waiting, fibers[i].site);
            return false;
        }
        first = waiting != 0 ? first : i;
        ++waiting;
    }
    if (waiting == 0) {
        return false;
    }
    if (waiting != fiber_count) {
        report(EXITED_BEFORE_BARRIER, fibers[first].site, waiting);
        return false;
    }
    for (uint i = 0; i < fiber_count; ++i) {
        fibers[i].state = State::READY;
        fibers[i].device_epoch += fibers[i].flags & 1;
        fibers[i].group_epoch += fibers[i].flags >> 1 & 1;
    }
    return true;
}

void start_fibers(const eas_thread& start) {
    const uint* threads = start.threads;
    fiber_count = 0;
    for (uint z = 0; z < threads[2]; ++z) {
        for (uint y = 0; y < threads[1]; ++y) {
            for (uint x = 0; x < threads[0]; ++x) {
                Fiber& fiber = fibers[fiber_count] = {};
                fiber.thread = start;
                fiber.thread.position[0] = x;
                fiber.thread.position[1] = y;
                fiber.thread.position[2] = z;
                fiber.thread.index = fiber_count;
                fiber.thread.lane = fiber_count % SIMD_WIDTH;
                fiber.thread.simdgroup = fiber_count / SIMD_WIDTH;
                fiber.state = State::READY;
                paths[fiber_count].depth = 0;
                fiber.stack = fresh_stack(fiber_count++);
            }
        }
    }
}

void run_with_fibers(const eas_thread& start) {
    start_fibers(start);
    const uint simdgroups = start.simdgroups;
    do {
        const uint pass = round;
        for (uint n = 0; n < simdgroups; ++n) {
            run_simdgroup(in_order(n, simdgroups, pass));
        }
    } while (launch->report.kind == NOTHING && release());
}

// No thread waits for another, so each runs to its end.
void run_alone(const eas_thread& start) {
    const uint* threads = start.threads;
    const uint count = threads[0] * threads[1] * threads[2];
    eas_thread& thread = fibers[0].thread;
    thread = start;
    current = 0;
    for (uint n = 0; n < count; ++n) {
        const uint i = in_order(n, count, 0);
        thread.position[0] = i % threads[0];
        thread.position[1] = i / threads[0] % threads[1];
        thread.position[2] = i / threads[0] / threads[1];
        thread.index = i;
        thread.lane = i % SIMD_WIDTH;
        thread.simdgroup = i / SIMD_WIDTH;
        launch->kernel(launch->buffers, launch->shared, &thread);
    }
}

uint simdgroups_of(const uint* threads) {
    return (threads[0] * threads[1] * threads[2] + SIMD_WIDTH - 1) / SIMD_WIDTH;
}

// Threadgroup memory starts with any content: this one is NaN as a float, and large as an int.
void spoil_shared_memory() {
    __builtin_memset(launch->variables, 0xff, launch->variables_end - launch->variables);
    for (uint i = 0; i < MAX_SHARED; ++i) {
        if (launch->shared_bytes[i] != 0) {
            __builtin_memset(launch->shared[i], 0xff, launch->shared_bytes[i]);
        }
    }
}

}  // namespace

extern "C" void eas_enter(ulong site) {
    Path& path = paths[current];
    if (path.depth < MAX_STEPS) {
        path.steps[path.depth] = {site, 0};
    }
    ++path.depth;
}

extern "C" void eas_leave() { --paths[current].depth; }

extern "C" void eas_trip_on() {
    Path& path = paths[current];
    if (path.depth - 1 < MAX_STEPS) {
        ++path.steps[path.depth - 1].trip;
    }
}

extern "C" uint eas_lane() { return fibers[current].thread.lane; }

// How many lanes this thread's simdgroup has.
extern "C" uint eas_lanes() {
    const uint left = fiber_count - current / SIMD_WIDTH * SIMD_WIDTH;
    return launch->has_fibers && left < SIMD_WIDTH ? left : SIMD_WIDTH;
}

extern "C" void eas_barrier(uint flags, ulong site) {
    if (!launch->has_fibers) {
        report(SIMDGROUP_OUTSIDE_FIBER, site);
        return;
    }
    Fiber& fiber = fibers[current];
    fiber.state = State::AT_BARRIER;
    fiber.flags = flags;
    wait_at(site);
    leave();
}

extern "C" const eas_slots* eas_exchange(const void* value, uint size, uint flags, ulong site) {
    if (!launch->has_fibers) {
        report(SIMDGROUP_OUTSIDE_FIBER, site);
        slots[0].active = 1u << eas_lane();
        return &slots[0];
    }
    Fiber& fiber = fibers[current];
    __builtin_memcpy(values[current], value, size);
    fiber.state = State::IN_SIMDGROUP;
    fiber.flags = flags;
    wait_at(site);
    leave();
    return &slots[current / SIMD_WIDTH];
}

#if !defined(EAS_CHECKED)
extern "C" void eas_atomic(const volatile void*, uint, uint, ulong) {}
#endif

// The n-th group; at the end of the grid it may have fewer threads than the others.
static eas_thread nth_group(ulong n) {
    const uint* groups = launch->groups;
    eas_thread start = {};
    start.group[0] = n % groups[0];
    start.group[1] = n / groups[0] % groups[1];
    start.group[2] = n / groups[0] / groups[1];
    for (int axis = 0; axis < 3; ++axis) {
        const uint before = start.group[axis] * launch->threads[axis];
        const uint left = launch->grid[axis] - before, most = launch->threads[axis];
        start.threads[axis] = left < most ? left : most;
        start.most_threads[axis] = most;
        start.groups[axis] = groups[axis];
        start.grid[axis] = launch->grid[axis];
    }
    start.simdgroups = simdgroups_of(start.threads);
    start.most_simdgroups = simdgroups_of(launch->threads);
    return start;
}

extern "C" void eas_run(eas_launch* wanted) {
    launch = wanted;
    launch->report = {};
    const uint* groups = launch->groups;
#if defined(EAS_CHECKED)
    add_buffers();
#endif
    const ulong total = (ulong)groups[0] * groups[1] * groups[2];
    for (ulong n = 0; n < total && launch->report.kind == NOTHING; ++n) {
        const ulong i = in_order(n, total, 0);
        const eas_thread start = nth_group(i);
        spoil_shared_memory();
        group_number = i + 1;
#if defined(EAS_CHECKED)
        forget_group();
#endif
        launch->has_fibers ? run_with_fibers(start) : run_alone(start);
    }
#if defined(EAS_CHECKED)
    drop_regions();
#endif
}

// The compiler calls these on machines without instructions for them.

extern "C" __bf16 __truncsfbf2(float x) {
    uint bits = __builtin_bit_cast(uint, x);
    bits = x != x ? bits | 0x400000 : bits + 0x7fff + (bits >> 16 & 1);
    return __builtin_bit_cast(__bf16, (ushort)(bits >> 16));
}

#if defined(__x86_64__)
extern "C" float __extendhfsf2(_Float16 x) {
    const uint bits = __builtin_bit_cast(ushort, x);
    const uint sign = (bits & 0x8000) << 16, rest = bits & 0x7fff;
    if (rest >= 0x7c00) {
        return __builtin_bit_cast(float, sign | 0x7f800000 | (rest & 0x3ff) << 13);
    }
    const float size = __builtin_bit_cast(float, rest << 13) * 0x1p112f;
    return __builtin_bit_cast(float, sign | __builtin_bit_cast(uint, size));
}

extern "C" _Float16 __truncsfhf2(float x) {
    const uint bits = __builtin_bit_cast(uint, x);
    const uint sign = bits >> 16 & 0x8000, rest = bits & 0x7fffffff;
    uint result;
    if (rest > 0x7f800000) {
        result = 0x7e00 | (rest >> 13 & 0x3ff);
    } else if (rest >= 0x477ff000) {
        result = 0x7c00;
    } else if (rest >= 0x38800000) {
        result = (rest - 0x38000000 + 0xfff + (rest >> 13 & 1)) >> 13;
    } else {
        // Adding a half rounds off all bits below those of a subnormal result.
        const float rounded = __builtin_bit_cast(float, rest) + 0.5f;
        result = __builtin_bit_cast(uint, rounded) - 0x3f000000;
    }
    return __builtin_bit_cast(_Float16, (ushort)(sign | result));
}

extern "C" _Float16 __truncdfhf2(double x) {
    const float nearest = (float)x;
    uint bits = __builtin_bit_cast(uint, nearest);
    if (nearest != x && x == x && bits % 2 == 0) {
        // An odd last bit stands for what was cut off, so that only the second rounding counts.
        bits += __builtin_fabs((double)nearest) > __builtin_fabs(x) ? -1 : 1;
    }
    return __truncsfhf2(__builtin_bit_cast(float, bits));
}

// Literals of `half` are read as `long double`.
extern "C" _Float16 __truncxfhf2(long double x) { return __truncdfhf2((double)x); }
#endif
