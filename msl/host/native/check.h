// Check mode: the compiler calls in before each access to memory (it takes this for the runtime of
// its thread sanitizer) and where behaviour is undefined. Memory has a shadow: who used it last.
#pragma once

extern "C" void* calloc(ulong count, ulong size);
extern "C" void free(void* memory);

namespace {

constexpr uint DEVICE = 1, GROUP = 2;
constexpr uint MAX_REGIONS = 96;

// An access to one byte, at a time that barriers count.
struct Access {
    ulong pc, site, group;
    uint epoch, simd_epoch;
    ushort thread;
    bool is_there, is_atomic;
};
// The last writes, a plain one and an atomic one, and two readers.
struct Shadow {
    Access written[2], read[2];
};
struct Region {
    uchar* begin;
    uchar* end;
    Shadow* shadows;
    uint space;
    int buffer;
    const char* name;
};
Region regions[MAX_REGIONS];
uint region_count;

void add_region(uchar* begin, ulong size, uint space, int buffer, const char* name) {
    if (size == 0 || region_count == MAX_REGIONS) {
        return;
    }
    Shadow* shadows = (Shadow*)calloc(size, sizeof(Shadow));
    if (shadows == nullptr) {
        __builtin_trap();
    }
    regions[region_count++] = {begin, begin + size, shadows, space, buffer, name};
}

void add_buffers() {
    for (uint i = 0; i < MAX_SHARED; ++i) {
        add_region(launch->lows[i], launch->highs[i] - launch->lows[i], DEVICE, (int)i, "");
        add_region((uchar*)launch->shared[i], launch->shared_bytes[i], GROUP, (int)i, "");
    }
}

void drop_regions() {
    for (uint i = 0; i < region_count; ++i) {
        free(regions[i].shadows);
    }
    region_count = 0;
}

// A new group finds threadgroup memory without a history.
void forget_group() {
    for (uint i = 0; i < region_count; ++i) {
        if (regions[i].space == GROUP) {
            __builtin_memset(regions[i].shadows, 0, (regions[i].end - regions[i].begin) * sizeof(Shadow));
        }
    }
}

[[noreturn]] void stop_here() {
    fibers[current].state = State::DONE;
    leave();
    __builtin_trap();
}

// The return addresses of the calls on this fiber's stack, but for the last.
void note_callers(ulong* callers, uint count) {
    ulong* frame = (ulong*)__builtin_frame_address(0);
    ulong* end = (ulong*)(launch->stacks + (current + 1) * launch->stack_bytes);
    uint found = 0;
    while (frame < end - 2 && found <= count) {
        const ulong place = frame[1];
        if (place >= (ulong)launch->library && place < (ulong)launch->library_end && found++ > 0) {
            callers[found - 2] = place;
        }
        if ((ulong*)frame[0] <= frame) {
            break;
        }
        frame = (ulong*)frame[0];
    }
}

void blame(eas_kind kind, const Access& now, const Region* region, ulong offset, ulong size,
           const Access* other = nullptr) {
    eas_report& r = launch->report;
    if (r.kind == NOTHING) {
        const uint* group = fibers[current].thread.group;
        r = {kind, {group[0], group[1], group[2]}, current, 0, now.site, 0};
        r.pc = now.pc;
        note_callers(r.callers, sizeof r.callers / sizeof(ulong));
        r.offset = offset;
        r.size = size;
        r.buffer = region ? region->buffer : -1;
        for (uint i = 0; region && region->name[i] != 0 && i + 1 < sizeof r.name; ++i) {
            r.name[i] = region->name[i];
        }
        if (other) {
            r.waiting = other->thread;
            r.other_site = other->site;
            r.other_pc = other->pc;
        }
    }
    stop_here();
}

// Whether two accesses may happen in any order: no barrier for this kind of memory is between them.
bool is_concurrent(const Access& before, const Access& now, uint space) {
    if (!before.is_there || (before.is_atomic && now.is_atomic)) {
        return false;
    }
    if (before.group != now.group) {
        return space == DEVICE;
    }
    if (before.thread == now.thread || before.epoch != now.epoch) {
        return false;
    }
    return before.thread / SIMD_WIDTH != now.thread / SIMD_WIDTH || before.simd_epoch == now.simd_epoch;
}

void remember_read(Shadow& shadow, const Access& now, uint space) {
    Access& first = shadow.read[0];
    const bool is_past = first.group == now.group && first.epoch != now.epoch;
    if (!first.is_there || is_past || (space == GROUP && first.group != now.group)) {
        first = now;
    } else if (first.thread != now.thread || first.group != now.group) {
        shadow.read[1] = now;
    }
}

bool is_private(uchar* place) {
    const uchar* stack = launch->stacks + current * launch->stack_bytes;
    const bool is_stack = place >= stack && place < stack + launch->stack_bytes;
    const bool is_slot = place >= (uchar*)slots && place < (uchar*)slots + sizeof slots;
    const bool is_fiber = place >= (uchar*)fibers && place < (uchar*)fibers + sizeof fibers;
    const bool is_group = place >= launch->variables && place < launch->variables_end;
    const bool is_library = place >= launch->library && place < launch->library_end;
    return is_stack || is_slot || is_fiber || (is_library && !is_group);
}

const Region* find_region(uchar* place) {
    for (uint i = 0; i < region_count; ++i) {
        if (place >= regions[i].begin && place < regions[i].end) {
            return &regions[i];
        }
    }
    return nullptr;
}

// The region that an address is in, or closest to.
const Region* nearest_region(uchar* place, long& offset) {
    const Region* nearest = nullptr;
    ulong least = ~0ul;
    for (uint i = 0; i < region_count; ++i) {
        const Region& r = regions[i];
        const ulong away = place < r.begin ? r.begin - place : place < r.end ? 0 : place - r.end;
        if (away < least) {
            least = away;
            nearest = &r;
            offset = place - r.begin;
        }
    }
    return nearest;
}

void touch(const void* address, ulong size, bool is_write, bool is_atomic, ulong pc, ulong site,
           bool is_read = false) {
    if (launch == nullptr || launch->report.kind != NOTHING) {
        return;
    }
    uchar* place = (uchar*)address;
    const Region* region = find_region(place);
    const Fiber& fiber = fibers[current];
    Access now = {pc, site ? site : fiber.last_site, group_number, 0, 0, (ushort)current, true, is_atomic};
    if (region == nullptr) {
        if (is_private(place)) {
            return;
        }
        long offset = 0;
        region = nearest_region(place, offset);
        blame(is_write ? WRITE_OUTSIDE : READ_OUTSIDE, now, region, offset, size);
    }
    const ulong offset = place - region->begin;
    if (place + size > region->end) {
        blame(is_write ? WRITE_OUTSIDE : READ_OUTSIDE, now, region, offset, size);
    }
    now.epoch = region->space == DEVICE ? fiber.device_epoch : fiber.group_epoch;
    now.simd_epoch = region->space == DEVICE ? fiber.simd_device_epoch : fiber.simd_group_epoch;
    for (ulong i = 0; i < size; ++i) {
        Shadow& shadow = region->shadows[offset + i];
        const bool is_written = shadow.written[0].is_there || shadow.written[1].is_there;
        if (region->space == GROUP && (is_read || !is_write) && !is_written) {
            blame(READ_BEFORE_WRITE, now, region, offset, size);
        }
        for (const Access& write : shadow.written) {
            if (is_concurrent(write, now, region->space)) {
                blame(is_write ? WRITE_WRITE_RACE : READ_AFTER_WRITE_RACE, now, region, offset, size, &write);
            }
        }
        for (const Access& read : shadow.read) {
            if (is_write && is_concurrent(read, now, region->space)) {
                blame(WRITE_AFTER_READ_RACE, now, region, offset, size, &read);
            }
        }
        if (is_write) {
            shadow.written[is_atomic] = now;
        } else {
            remember_read(shadow, now, region->space);
        }
    }
}

}  // namespace

#define EAS_PC ((ulong)__builtin_return_address(0))

extern "C" {

void eas_declare(void* begin, ulong size, const char* name) {
    if (find_region((uchar*)begin) == nullptr) {
        add_region((uchar*)begin, size, GROUP, -1, name);
    }
}

// The index of a vector's element that there is not.
void eas_bad_index() {
    const Access now = {EAS_PC, fibers[current].last_site};
    blame(INDEX_OUTSIDE, now, nullptr, 0, 0);
}

// A helper for `//` or `%` gives zero where Python raises an error.
void eas_divided_by_zero() {
    blame(DIVISION_BY_ZERO, {EAS_PC, fibers[current].last_site}, nullptr, 0, 0);
}

// Faults of simdgroup functions, see include/eas_simdgroup.h.
void eas_bad_lane(ulong site) { blame(INACTIVE_LANE, {EAS_PC, site}, nullptr, 0, 0); }
void eas_bad_distance(ulong site) { blame(DIFFERENT_DISTANCES, {EAS_PC, site}, nullptr, 0, 0); }
void eas_diverged(ulong site) { blame(DIVERGED_SIMDGROUP, {EAS_PC, site}, nullptr, 0, 0); }

// An atomic that reads and writes (2) is ordered like a write (1).
void eas_atomic(const volatile void* place, uint size, uint mode, ulong site) {
    touch((const void*)place, size, mode != 0, true, 0, site, mode == 2);
}

#define EAS_ACCESS(n)                                                                                    \
    void __tsan_read##n(void* p) { touch(p, n, false, false, EAS_PC, 0); }                               \
    void __tsan_write##n(void* p) { touch(p, n, true, false, EAS_PC, 0); }                               \
    void __tsan_unaligned_read##n(void* p) { touch(p, n, false, false, EAS_PC, 0); }                     \
    void __tsan_unaligned_write##n(void* p) { touch(p, n, true, false, EAS_PC, 0); }                     \
    void __tsan_read_write##n(void* p) {                                                                 \
        touch(p, n, false, false, EAS_PC, 0);                                                            \
        touch(p, n, true, false, EAS_PC, 0);                                                             \
    }                                                                                                    \
    void __tsan_unaligned_read_write##n(void* p) {                                                       \
        touch(p, n, false, false, EAS_PC, 0);                                                            \
        touch(p, n, true, false, EAS_PC, 0);                                                             \
    }
EAS_ACCESS(1)
EAS_ACCESS(2)
EAS_ACCESS(4)
EAS_ACCESS(8)
EAS_ACCESS(16)
#undef EAS_ACCESS

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void* __tsan_memcpy(void* to, const void* from, ulong size) {
    touch(from, size, false, false, EAS_PC, 0);
    touch(to, size, true, false, EAS_PC, 0);
    return __builtin_memcpy(to, from, size);
}
void* __tsan_memmove(void* to, const void* from, ulong size) {
    touch(from, size, false, false, EAS_PC, 0);
    touch(to, size, true, false, EAS_PC, 0);
    return __builtin_memmove(to, from, size);
}
void* __tsan_memset(void* to, int value, ulong size) {
    touch(to, size, true, false, EAS_PC, 0);
    return __builtin_memset(to, value, size);
}

// The first argument of a handler of undefined behaviour is the position in the source. For a file of
// our library the address in the code gives the line that called it.
struct eas_source {
    const char* file;
    uint line, column;
};
static Access undefined_at(const eas_source* source, ulong pc) {
    const ulong length = __builtin_strlen(source->file);
    const bool is_library = length > 2 && source->file[length - 2] == '.' && source->file[length - 1] == 'h';
    return is_library ? Access{pc, fibers[current].last_site}
                      : Access{0, (ulong)source->line << 16 | source->column};
}
void __ubsan_handle_type_mismatch_v1(const eas_source* source, uchar* place) {
    long offset = 0;
    const Region* region = nearest_region(place, offset);
    blame(MISALIGNED, undefined_at(source, EAS_PC), region, offset, 0);
}
#define EAS_UNDEFINED(handler, kind)                                 \
    void __ubsan_handle_##handler(const eas_source* source, ...) {   \
        blame(kind, undefined_at(source, EAS_PC), nullptr, 0, 0);    \
    }
EAS_UNDEFINED(out_of_bounds, INDEX_OUTSIDE)
EAS_UNDEFINED(shift_out_of_bounds, BAD_SHIFT)
EAS_UNDEFINED(divrem_overflow, BAD_DIVISION)
EAS_UNDEFINED(float_cast_overflow, BAD_CAST)
EAS_UNDEFINED(add_overflow, OVERFLOW)
EAS_UNDEFINED(sub_overflow, OVERFLOW)
EAS_UNDEFINED(mul_overflow, OVERFLOW)
EAS_UNDEFINED(negate_overflow, OVERFLOW)
EAS_UNDEFINED(load_invalid_value, BAD_BOOL)
EAS_UNDEFINED(missing_return, NO_RETURN)
EAS_UNDEFINED(builtin_unreachable, NO_RETURN)
#undef EAS_UNDEFINED

}  // extern "C"
