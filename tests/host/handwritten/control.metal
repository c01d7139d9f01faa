#include <metal_stdlib>
using namespace metal;

enum Operation { ADD, MULTIPLY, COLLATZ };
enum class Mode : uint { Plain = 2, Squared = 5 };
static_assert(uint(Mode::Squared) == 5, "modes are numbered");

constexpr constant int TABLE[5] = {3, 1, 4, 1, 5};

static int steps(uint n) {
    int count = 0;
    do {
        if (n == 1) break;
        n = n % 2 ? 3 * n + 1 : n / 2;
        ++count;
    } while (count < 1000);
    return count;
}

kernel void control(device const int* x [[buffer(0)]],
                    device int* y [[buffer(1)]],
                    constant uint& mode [[buffer(2)]],
                    uint i [[thread_position_in_grid]]) {
    int result = 0;
    switch (Operation(i % 4)) {
        case ADD:
            result = x[i] + TABLE[i % 5];
            break;
        case MULTIPLY:
            result = x[i] * TABLE[i % 5];
            // falls through
        case COLLATZ: {
            const int found = steps(uint(abs(x[i]) + 1));
            result += found;
            break;
        }
        default:
            for (int k = 0;; ++k) {
                if (k % 2) continue;
                if (k > x[i] % 10) break;
                result += k;
            }
    }
    y[i] = Mode(mode) == Mode::Squared ? result * result : result;
}
