// Declarations of metal-cpp, as far as the samples use them.
#pragma once

#include <stddef.h>

namespace NS {

typedef unsigned long UInteger;
enum StringEncoding : UInteger { UTF8StringEncoding = 4 };

struct Object {
    void release();
};

struct String : Object {
    static String* string(const char* pString, StringEncoding encoding);
    const char* utf8String() const;
};

struct Error : Object {
    String* localizedDescription() const;
};

struct AutoreleasePool : Object {
    static AutoreleasePool* alloc();
    AutoreleasePool* init();
};

}  // namespace NS
