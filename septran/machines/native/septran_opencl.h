/* The names of C that septran_elements.h and printed texts use, in OpenCL C. */
#ifndef SEPTRAN_OPENCL_H
#define SEPTRAN_OPENCL_H

#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF

typedef char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef uchar uint8_t;
typedef ushort uint16_t;
typedef uint uint32_t;
typedef ulong uint64_t;

#define __builtin_inff() INFINITY
#define __builtin_inf() ((double)INFINITY)
#define __builtin_fabsf(x) fabs((float)(x))
#define __builtin_fabs(x) fabs((double)(x))
#define __builtin_expf(x) exp((float)(x))
#define __builtin_exp(x) exp((double)(x))
#define __builtin_exp2f(x) exp2((float)(x))
#define __builtin_exp2(x) exp2((double)(x))
#define __builtin_logf(x) log((float)(x))
#define __builtin_log(x) log((double)(x))
#define __builtin_sqrtf(x) sqrt((float)(x))
#define __builtin_sqrt(x) sqrt((double)(x))
#define __builtin_sinf(x) sin((float)(x))
#define __builtin_sin(x) sin((double)(x))
#define __builtin_cosf(x) cos((float)(x))
#define __builtin_cos(x) cos((double)(x))
#define __builtin_tanhf(x) tanh((float)(x))
#define __builtin_tanh(x) tanh((double)(x))
#define __builtin_erff(x) erf((float)(x))
#define __builtin_erf(x) erf((double)(x))
#define __builtin_floorf(x) floor((float)(x))
#define __builtin_floor(x) floor((double)(x))
#define __builtin_powf(x, y) pow((float)(x), (float)(y))
#define __builtin_pow(x, y) pow((double)(x), (double)(y))

#endif
