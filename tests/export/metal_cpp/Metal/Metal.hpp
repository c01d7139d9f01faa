// Declarations of metal-cpp, as far as the samples use them.
#pragma once

#include <Foundation/Foundation.hpp>

namespace MTL {

enum LanguageVersion : NS::UInteger { LanguageVersion2_3 = 131075 };
enum ResourceOptions : NS::UInteger { ResourceStorageModeShared = 0 };

struct Size {
    static Size Make(NS::UInteger width, NS::UInteger height, NS::UInteger depth);
    NS::UInteger width, height, depth;
};

struct Buffer : NS::Object {
    void* contents();
};

struct CompileOptions : NS::Object {
    static CompileOptions* alloc();
    CompileOptions* init();
    void setLanguageVersion(LanguageVersion languageVersion);
    void setFastMathEnabled(bool fastMathEnabled);
};

struct Function : NS::Object {};

struct Library : NS::Object {
    Function* newFunction(const NS::String* functionName);
};

struct ComputePipelineState : NS::Object {};

struct ComputeCommandEncoder : NS::Object {
    void setComputePipelineState(const ComputePipelineState* state);
    void setBuffer(const Buffer* buffer, NS::UInteger offset, NS::UInteger index);
    void setBytes(const void* bytes, NS::UInteger length, NS::UInteger index);
    void dispatchThreadgroups(Size threadgroupsPerGrid, Size threadsPerThreadgroup);
    void endEncoding();
};

struct CommandBuffer : NS::Object {
    ComputeCommandEncoder* computeCommandEncoder();
    void commit();
    void waitUntilCompleted();
    NS::Error* error() const;
};

struct CommandQueue : NS::Object {
    CommandBuffer* commandBuffer();
};

struct Device : NS::Object {
    CommandQueue* newCommandQueue();
    Buffer* newBuffer(NS::UInteger length, ResourceOptions options);
    Library* newLibrary(const NS::String* source, const CompileOptions* options, NS::Error** error);
    ComputePipelineState* newComputePipelineState(const Function* function, NS::Error** error);
};

Device* CreateSystemDefaultDevice();

}  // namespace MTL
