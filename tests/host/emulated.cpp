// A launch as a program without a system library: buffers come in and go out through pipes.
#include "runtime.cpp"

extern "C" void EAS_ENTRY_POINT(void* const* buffers, void* const* shared, const eas_thread* thread);
extern "C" uchar* eas_variables_0();
extern "C" uchar* eas_variables_end_0();

extern "C" void* memcpy(void* to, const void* from, ulong size) {
    for (ulong i = 0; i < size; ++i) {
        ((volatile uchar*)to)[i] = ((const uchar*)from)[i];
    }
    return to;
}

extern "C" void* memset(void* to, int value, ulong size) {
    for (ulong i = 0; i < size; ++i) {
        ((volatile uchar*)to)[i] = (uchar)value;
    }
    return to;
}

static long system_call(long number, long a, long b, long c) {
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
    return x0;
}

constexpr long READ = 63, WRITE = 64, EXIT = 93;
constexpr ulong BYTES[] = {EAS_BYTES};
constexpr ulong SHARED[] = {EAS_SHARED 0};
constexpr uint ALIGNED = 256;
alignas(ALIGNED) static uchar memory[1 << 22];
alignas(16) static uchar group_memory[1 << 16];
alignas(4096) static uchar stacks[64 << 20];

static void move_all(long number, long file, uchar* place, ulong size) {
    while (size > 0) {
        const long moved = system_call(number, file, (long)place, size);
        if (moved <= 0) {
            system_call(EXIT, 2, 0, 0);
        }
        place += moved;
        size -= moved;
    }
}

extern "C" void eas_main() {
    static eas_launch launch;
    static void* buffers[31];
    static void* shared[31];
    static ulong shared_bytes[31];
    uchar* place = memory;
    for (uint i = 0; i < sizeof(BYTES) / sizeof(ulong); ++i) {
        buffers[i] = place;
        move_all(READ, 0, place, BYTES[i]);
        place += (BYTES[i] + ALIGNED) / ALIGNED * ALIGNED;
    }
    uchar* group_place = group_memory;
    for (uint i = 0; i + 1 < sizeof(SHARED) / sizeof(ulong); ++i) {
        shared[i] = group_place;
        shared_bytes[i] = SHARED[i];
        group_place += (SHARED[i] + 15) / 16 * 16;
    }
    const uint threads[] = {EAS_THREADS}, groups[] = {EAS_GROUPS};
    for (int axis = 0; axis < 3; ++axis) {
        launch.threads[axis] = threads[axis];
        launch.groups[axis] = groups[axis];
        launch.grid[axis] = threads[axis] * groups[axis];
    }
    launch.kernel = EAS_ENTRY_POINT;
    launch.buffers = buffers;
    launch.shared = shared;
    launch.shared_bytes = shared_bytes;
    launch.variables = eas_variables_0();
    launch.variables_end = eas_variables_end_0();
    launch.stacks = stacks;
    launch.stack_bytes = sizeof stacks / MAX_THREADS;
    launch.order = EAS_ORDER;
    launch.has_fibers = 1;
    eas_run(&launch);
    for (uint i = 0; i < sizeof(BYTES) / sizeof(ulong); ++i) {
        move_all(WRITE, 1, (uchar*)buffers[i], BYTES[i]);
    }
    system_call(EXIT, launch.report.kind, 0, 0);
}

__asm__(".text\n.globl _start\n_start:\n mov x29, #0\n mov x30, #0\n b eas_main\n");
