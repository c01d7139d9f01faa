"""The host in C++, which uses Metal through Apple's metal-cpp."""

from __future__ import annotations

from collections.abc import Mapping

from eas.export.host_parts import (
    BYTES,
    Number,
    arrays_of,
    buffer_of,
    demo_shape,
    demo_value,
    extent_text,
    extents_of,
    failures,
    names_of,
    numbers_of,
    quote,
)
from eas.export.manifest import Manifest

_TYPES = {
    "bool": "bool",
    "i8": "int8_t",
    "i16": "int16_t",
    "i32": "int32_t",
    "i64": "int64_t",
    "u8": "uint8_t",
    "u16": "uint16_t",
    "u32": "uint32_t",
    "u64": "uint64_t",
    "f16": "uint16_t",
    "bf16": "uint16_t",
    "f32": "float",
    "f8e4m3": "uint8_t",
    "f8e5m2": "uint8_t",
}
Names = Mapping[str, str]
_BITS = ("f16", "bf16", "f8e4m3", "f8e5m2")

_TEMPLATE = """\
// Runs the kernel `{kernel}` of `{text}` on the GPU of a Mac, from C++.
//
//     clang++ -std=c++17 -I metal-cpp {stem}_host.cpp -framework Metal -framework Foundation
//
// `eas export` made this file. `{stem}.json` describes the kernel; copy what you need. The headers
// of metal-cpp are at https://developer.apple.com/metal/cpp.

#define NS_PRIVATE_IMPLEMENTATION
#define MTL_PRIVATE_IMPLEMENTATION
#include <Foundation/Foundation.hpp>
#include <Metal/Metal.hpp>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// {signature}
struct Arguments {{
{fields}
}};

[[noreturn]] static void fail(const char* what, const char* why = "") {{
    fprintf(stderr, "%s %s\\n", what, why);
    exit(1);
}}

[[noreturn]] static void fail(const char* what, const NS::Error* error) {{
    fail(what, error ? error->localizedDescription()->utf8String() : "");
}}

// The content of a file, which the caller frees.
static char* readFile(const char* path) {{
    FILE* file = fopen(path, "rb");
    if (!file) {{ fail("there is no file", path); }}
    fseek(file, 0, SEEK_END);
    const long size = ftell(file);
    rewind(file);
    char* text = static_cast<char*>(calloc(size + 1, 1));
    if (!text || fread(text, 1, size, file) != size_t(size)) {{ fail("cannot read", path); }}
    fclose(file);
    return text;
}}

// The kernel, compiled by Metal.
static MTL::ComputePipelineState* makePipeline(MTL::Device* device) {{
    NS::Error* error = nullptr;
    MTL::CompileOptions* options = MTL::CompileOptions::alloc()->init();
    options->setLanguageVersion(MTL::LanguageVersion({language_version}));  // Metal {version}
    options->setFastMathEnabled(false);  // it assumes that there are no NaN and infinities
    char* text = readFile({text_quoted});
    NS::String* source = NS::String::string(text, NS::UTF8StringEncoding);
    free(text);
    MTL::Library* library = device->newLibrary(source, options, &error);
    if (!library) {{ fail("Metal's compiler refuses the text:", error); }}
    MTL::Function* function =
        library->newFunction(NS::String::string({function}, NS::UTF8StringEncoding));
    MTL::ComputePipelineState* pipeline = device->newComputePipelineState(function, &error);
    if (!pipeline) {{ fail("the GPU cannot run the kernel:", error); }}
    function->release();
    library->release();
    options->release();
    return pipeline;
}}
{grid_function}
// Binds the arguments, and dispatches so many threadgroups.
static void encode(MTL::ComputeCommandEncoder* encoder, MTL::ComputePipelineState* pipeline,
                   const Arguments& arguments, {report_parameter}MTL::Size grid) {{
    encoder->setComputePipelineState(pipeline);
{bindings}
    encoder->dispatchThreadgroups(grid, MTL::Size::Make({threads}, 1, 1));
}}

// A demonstration: put your own arrays and numbers here.
int main() {{
    NS::AutoreleasePool* pool = NS::AutoreleasePool::alloc()->init();
    MTL::Device* device = MTL::CreateSystemDefaultDevice();
    if (!device) {{ fail("there is no GPU"); }}
    MTL::ComputePipelineState* pipeline = makePipeline(device);
    MTL::CommandQueue* queue = device->newCommandQueue();

    Arguments arguments{{}};
{demo}
    MTL::CommandBuffer* commands = queue->commandBuffer();
    MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
    encode(encoder, pipeline, arguments, {report_argument}{demo_grid});
    encoder->endEncoding();
    commands->commit();
    commands->waitUntilCompleted();
    if (commands->error()) {{ fail("the kernel failed:", commands->error()); }}
{check_report}{prints}
{releases}    pipeline->release();
    queue->release();
    device->release();
    pool->release();
    return 0;
}}
"""


def write_cpp(stem: str, manifest: Manifest) -> str:
    """The text of the sample."""
    arrays, report = arrays_of(manifest), buffer_of(manifest, "report")
    names = names_of(manifest)
    return _TEMPLATE.format(
        stem=stem,
        kernel=manifest["kernel"],
        text=manifest["text"],
        signature=manifest["signature"].replace("\n", " ").rstrip("\\"),
        text_quoted=quote(manifest["text"]),
        function=quote(manifest["function"]),
        fields="\n".join(_fields(manifest, names)),
        language_version=manifest["metal"]["language_version"],
        version=manifest["metal"]["version"],
        threads=manifest["threads"],
        grid_function=_grid_function(manifest, names),
        report_parameter="" if report is None else "MTL::Buffer* report, ",
        report_argument="" if report is None else "report, ",
        bindings="\n".join(f"    {line}" for line in _bindings(manifest, names)),
        demo="\n".join(f"    {line}" for line in _demo(manifest, names)),
        demo_grid="MTL::Size::Make(1, 1, 1)"
        if extents_of(manifest) is None
        else "gridOf(arguments)",
        check_report=_check_report(manifest),
        prints="\n".join(_print(each, names) for each in arrays if each["is_written"]),
        releases="".join(f"    arguments.{names[each['name']]}->release();\n" for each in arrays)
        + ("" if report is None else "    report->release();\n"),
    )


def _fields(manifest: Manifest, names: Names) -> list[str]:
    found = [
        f"    MTL::Buffer* {names[each['name']]};  // of {each['dtype']}, {_access(each)}"
        for each in arrays_of(manifest)
    ]
    for number in numbers_of(manifest):
        bits = ", its bits" if number.dtype in _BITS else ""
        comment = f"{number.meaning}{bits}"
        found.append(f"    {_TYPES[number.dtype]} {names[number.name]};  // {comment}")
    return found


def _access(array: Manifest) -> str:
    words = [word for word in ("read", "written") if array[f"is_{word}"]]
    return " and ".join(words) or "not used"


def _grid_function(manifest: Manifest, names: Names) -> str:
    extents = extents_of(manifest)
    if extents is None:
        return ""
    spelled = ", ".join(extent_text(*extent, "NS::UInteger", names) for extent in extents)
    unused = "" if "arguments" in spelled else "(void)arguments;\n    "
    return (
        f"\n// {manifest['grid']['rule']} programs.\n"
        "static MTL::Size gridOf(const Arguments& arguments) {\n"
        f"    {unused}return MTL::Size::Make({spelled});\n}}\n"
    )


def _bindings(manifest: Manifest, names: Names) -> list[str]:
    lines: list[str] = []
    numbers = list(numbers_of(manifest))
    if not manifest["buffers"]:
        return ["(void)arguments;"]
    for each in arrays_of(manifest):
        lines.append(f"encoder->setBuffer(arguments.{names[each['name']]}, 0, {each['buffer']});")
    for n in numbers:
        if n.offset is None:
            lines.append(
                f"encoder->setBytes(&arguments.{names[n.name]}, {BYTES[n.dtype]}, {n.index});"
            )
    packed = buffer_of(manifest, "scalars")
    if packed is not None:
        lines.append(f"unsigned char scalars[{packed['bytes']}] = {{}};")
        for n in numbers:
            if n.offset is not None:
                field = f"arguments.{names[n.name]}"
                lines.append(f"memcpy(scalars + {n.offset}, &{field}, {BYTES[n.dtype]});")
        lines.append(f"encoder->setBytes(scalars, sizeof scalars, {packed['index']});")
    report = buffer_of(manifest, "report")
    if report is not None:
        lines.append(f"encoder->setBuffer(report, 0, {report['index']});")
    return lines


def _demo(manifest: Manifest, names: Names) -> list[str]:
    lines: list[str] = []
    for each in arrays_of(manifest):
        count = 1
        for extent in demo_shape(each):
            count *= extent
        size = f"{count} * sizeof({_TYPES[each['dtype']]})"
        field = f"arguments.{names[each['name']]}"
        lines.append(f"{field} = device->newBuffer({size}, MTL::ResourceStorageModeShared);")
        lines.append(f"memset({field}->contents(), 0, {size});")
    for number in numbers_of(manifest):
        lines.append(f"arguments.{names[number.name]} = {_literal(number, manifest)};")
    report = buffer_of(manifest, "report")
    if report is not None:
        size = report["bytes"]
        lines.append(
            f"MTL::Buffer* report = device->newBuffer({size}, MTL::ResourceStorageModeShared);"
        )
        lines.append(f"memset(report->contents(), 0, {size});")
    return lines


def _literal(number: Number, manifest: Manifest) -> str:
    value = demo_value(number, manifest)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _check_report(manifest: Manifest) -> str:
    if buffer_of(manifest, "report") is None:
        return ""
    lines = [
        "const auto* words = static_cast<const uint32_t*>(report->contents());",
        "switch (words[0]) {",
        "case 0: break;",
        *(f"case {number}: fail({quote(text)});" for number, text in failures(manifest)),
        "}",
    ]
    return "".join(f"    {line}\n" for line in lines)


def _print(array: Manifest, names: Names) -> str:
    kind, name = _TYPES[array["dtype"]], names[array["name"]]
    lines = (
        "for (int i = 0; i < 8; ++i) {",
        f"    const auto* values = static_cast<const {kind}*>(arguments.{name}->contents());",
        f'    printf("{name}[%d] = %g\\n", i, double(values[i]));',
        "}",
    )
    return "\n".join(f"    {line}" for line in lines)
