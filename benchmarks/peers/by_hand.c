// Hand-written code with AVX2 intrinsics: `first` to `last` is the part of the calling thread.

#include <immintrin.h>

void add(const float *a, const float *b, float *c, long first, long last) {
    long i = first;
    for (; i < last && ((unsigned long)(c + i) & 31); i++) c[i] = a[i] + b[i];
    for (; i + 16 <= last; i += 16) {
        __m256 low = _mm256_add_ps(_mm256_loadu_ps(a + i), _mm256_loadu_ps(b + i));
        __m256 high = _mm256_add_ps(_mm256_loadu_ps(a + i + 8), _mm256_loadu_ps(b + i + 8));
        _mm256_stream_ps(c + i, low);
        _mm256_stream_ps(c + i + 8, high);
    }
    for (; i < last; i++) c[i] = a[i] + b[i];
    _mm_sfence();
}

// What is read is written: there is nothing to gain from stores past the caches.
void saxpy(const float *x, float *y, long first, long last) {
    const __m256 two = _mm256_set1_ps(2.0f);
    long i = first;
    for (; i + 16 <= last; i += 16) {
        __m256 low = _mm256_mul_ps(two, _mm256_loadu_ps(x + i));
        __m256 high = _mm256_mul_ps(two, _mm256_loadu_ps(x + i + 8));
        _mm256_storeu_ps(y + i, _mm256_add_ps(low, _mm256_loadu_ps(y + i)));
        _mm256_storeu_ps(y + i + 8, _mm256_add_ps(high, _mm256_loadu_ps(y + i + 8)));
    }
    for (; i < last; i++) y[i] = 2.0f * x[i] + y[i];
}

// Four vectors at a time hide the latency of the sums; a lane that has escaped counts no further.
enum { VECTORS = 4 };

static void escape(const __m256 *cx, const __m256 *cy, __m256i *steps, int limit) {
    const __m256 four = _mm256_set1_ps(4.0f);
    __m256 x[VECTORS], y[VECTORS];
    for (int v = 0; v < VECTORS; v++) {
        x[v] = y[v] = _mm256_setzero_ps();
        steps[v] = _mm256_setzero_si256();
    }
    for (int n = 0; n < limit; n++) {
        __m256 any = _mm256_setzero_ps();
        for (int v = 0; v < VECTORS; v++) {
            __m256 xx = _mm256_mul_ps(x[v], x[v]), yy = _mm256_mul_ps(y[v], y[v]);
            __m256 inside = _mm256_cmp_ps(_mm256_add_ps(xx, yy), four, _CMP_LT_OQ);
            __m256 xy = _mm256_mul_ps(x[v], y[v]);
            any = _mm256_or_ps(any, inside);
            steps[v] = _mm256_sub_epi32(steps[v], _mm256_castps_si256(inside));
            x[v] = _mm256_add_ps(_mm256_sub_ps(xx, yy), cx[v]);
            y[v] = _mm256_add_ps(_mm256_add_ps(xy, xy), cy[v]);
        }
        if (!_mm256_movemask_ps(any)) return;
    }
}

// Rows of an image whose width is a multiple of 32.
void mandelbrot(int *out, int width, int height, int limit, long first, long last) {
    const __m256 lanes = _mm256_setr_ps(0, 1, 2, 3, 4, 5, 6, 7);
    for (long row = first; row < last; row++) {
        __m256 cx[VECTORS], cy[VECTORS];
        __m256i steps[VECTORS];
        for (int v = 0; v < VECTORS; v++)
            cy[v] = _mm256_set1_ps(-1.25f + 2.5f * (float)row / (float)height);
        for (int column = 0; column < width; column += 8 * VECTORS) {
            for (int v = 0; v < VECTORS; v++) {
                __m256 i = _mm256_add_ps(_mm256_set1_ps((float)(column + 8 * v)), lanes);
                __m256 part = _mm256_div_ps(_mm256_mul_ps(_mm256_set1_ps(2.5f), i),
                                            _mm256_set1_ps((float)width));
                cx[v] = _mm256_add_ps(_mm256_set1_ps(-2.0f), part);
            }
            escape(cx, cy, steps, limit);
            for (int v = 0; v < VECTORS; v++)
                _mm256_storeu_si256((__m256i *)(out + row * width + column + 8 * v), steps[v]);
        }
    }
}
