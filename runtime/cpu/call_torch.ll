; The launch fast path for tensors of torch: a builtin function (METH_FASTCALL) that reads them through
; `__dlpack_c_exchange_api__`, writes the head of a NumPy array for each, and calls `eas_call` with
; these heads in their place. It returns what that returns, or False if a tensor does not match.

%tensor_plan = type {
  ptr,  ; 0 the capsule of the plan
  ptr,  ; 1 `dltensor_from_py_object_no_sync` of the exchange API
  ptr,  ; 2 torch.Tensor
  ptr,  ; 3 torch.nn.Parameter
  ptr,  ; 4 numpy.ndarray
  ptr,  ; 5 False
  i64,  ; 6 how many arguments there are, without the extents
  i64,  ; 7 how many of them are tensors
  [0 x %tensor]
}

; argument, code, bits and lanes of its dtype, NumPy's dtype object, size of an element, number of axes,
; whether the kernel writes to it
%tensor = type { i64, i64, i64, i64, i64, i64 }

; `DLTensor`: data, device type, device, axes, dtype, shape, strides in elements, offset in bytes
%dltensor = type { ptr, i32, i32, i32, i32, ptr, ptr, i64 }

declare void @PyErr_Clear()
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

define ptr @eas_call_torch(ptr %self, ptr %args, i64 %count) {
entry:
  %heads = alloca [TENSORS x %array], align 16
  %all_steps = alloca [TENSORS x [8 x i64]], align 16
  %changed = alloca [ARGUMENTS x ptr], align 16
  %view = alloca %dltensor, align 16
  %plan = call ptr @PyCapsule_GetPointer(ptr %self, ptr null)
  %p1 = getelementptr %tensor_plan, ptr %plan, i64 0, i32 1
  %read = load ptr, ptr %p1
  %p2 = getelementptr %tensor_plan, ptr %plan, i64 0, i32 2
  %tensor_type = load ptr, ptr %p2
  %p3 = getelementptr %tensor_plan, ptr %plan, i64 0, i32 3
  %parameter_type = load ptr, ptr %p3
  %p4 = getelementptr %tensor_plan, ptr %plan, i64 0, i32 4
  %array_type = load ptr, ptr %p4
  %p6 = getelementptr %tensor_plan, ptr %plan, i64 0, i32 6
  %wanted = load i64, ptr %p6
  %p7 = getelementptr %tensor_plan, ptr %plan, i64 0, i32 7
  %tensors = load i64, ptr %p7
  %most = add i64 %wanted, 3
  %has_all = icmp sge i64 %count, %wanted
  %has_no_more = icmp sle i64 %count, %most
  %is_right = and i1 %has_all, %has_no_more
  br i1 %is_right, label %copy, label %slow_path
copy:
  %bytes = mul i64 %count, 8
  call void @llvm.memcpy.p0.p0.i64(ptr %changed, ptr %args, i64 %bytes, i1 false)
  br label %head

head:
  %n = phi i64 [ 0, %copy ], [ %n_next, %filled ]
  %has_next = icmp slt i64 %n, %tensors
  br i1 %has_next, label %tensor, label %call
tensor:
  %t = getelementptr %tensor_plan, ptr %plan, i64 0, i32 8, i64 %n
  %index = load i64, ptr %t
  %p_object = getelementptr ptr, ptr %changed, i64 %index
  %object = load ptr, ptr %p_object
  %p_type = getelementptr %array, ptr %object, i64 0, i32 1
  %type = load ptr, ptr %p_type
  %is_tensor = icmp eq ptr %type, %tensor_type
  %is_parameter = icmp eq ptr %type, %parameter_type
  %is_either = or i1 %is_tensor, %is_parameter
  br i1 %is_either, label %export, label %slow_path
export:
  %failed = call i32 %read(ptr %object, ptr %view)
  %is_exported = icmp eq i32 %failed, 0
  br i1 %is_exported, label %compare, label %clear
clear:
  call void @PyErr_Clear()
  br label %slow_path
compare:
  %t1 = getelementptr %tensor, ptr %t, i64 0, i32 1
  %dtype_wanted = load i64, ptr %t1
  %t2 = getelementptr %tensor, ptr %t, i64 0, i32 2
  %descr = load ptr, ptr %t2
  %t3 = getelementptr %tensor, ptr %t, i64 0, i32 3
  %itemsize = load i64, ptr %t3
  %t4 = getelementptr %tensor, ptr %t, i64 0, i32 4
  %axes_wanted = load i64, ptr %t4
  %t5 = getelementptr %tensor, ptr %t, i64 0, i32 5
  %written = load i64, ptr %t5
  %is_written = icmp ne i64 %written, 0
  %v1 = getelementptr %dltensor, ptr %view, i64 0, i32 1
  %device = load i32, ptr %v1
  %is_cpu = icmp eq i32 %device, 1
  %v3 = getelementptr %dltensor, ptr %view, i64 0, i32 3
  %axes32 = load i32, ptr %v3
  %axes = zext i32 %axes32 to i64
  %has_axes = icmp eq i64 %axes, %axes_wanted
  %v4 = getelementptr %dltensor, ptr %view, i64 0, i32 4
  %dtype32 = load i32, ptr %v4
  %dtype = zext i32 %dtype32 to i64
  %has_dtype = icmp eq i64 %dtype, %dtype_wanted
  %fits0 = and i1 %is_cpu, %has_axes
  %fits = and i1 %fits0, %has_dtype
  %v5 = getelementptr %dltensor, ptr %view, i64 0, i32 5
  %shape = load ptr, ptr %v5
  %v6 = getelementptr %dltensor, ptr %view, i64 0, i32 6
  %strides = load ptr, ptr %v6
  %v7 = getelementptr %dltensor, ptr %view, i64 0, i32 7
  %offset = load i64, ptr %v7
  %start = load i64, ptr %view
  %data = add i64 %start, %offset
  %has_no_strides = icmp eq ptr %strides, null
  %has_extents = icmp ne i64 %axes, 0
  %is_unknown = and i1 %has_no_strides, %has_extents
  %is_known = xor i1 %is_unknown, true
  %is_match = and i1 %fits, %is_known
  %has_memory = icmp ne i64 %start, 0  ; tensors that are zero by definition have none
  %steps = getelementptr [8 x i64], ptr %all_steps, i64 %n
  br i1 %is_match, label %axis_head, label %slow_path

axis_head:  ; strides in bytes
  %axis = phi i64 [ 0, %compare ], [ %axis_next, %axis_end ]
  %is_readable = phi i1 [ %has_memory, %compare ], [ %is_readable_next, %axis_end ]
  %has_axis = icmp slt i64 %axis, %axes
  br i1 %has_axis, label %axis_body, label %axes_done
axes_done:
  br i1 %is_readable, label %fill, label %slow_path
axis_body:
  %p_stride = getelementptr i64, ptr %strides, i64 %axis
  %stride = load i64, ptr %p_stride
  %step = mul i64 %stride, %itemsize
  %p_step = getelementptr i64, ptr %steps, i64 %axis
  store i64 %step, ptr %p_step
  %p_extent = getelementptr i64, ptr %shape, i64 %axis
  %extent = load i64, ptr %p_extent
  %is_still = icmp eq i64 %stride, 0
  %is_long = icmp sgt i64 %extent, 1
  %is_repeated0 = and i1 %is_still, %is_long
  %is_repeated = and i1 %is_repeated0, %is_written
  br i1 %is_repeated, label %slow_path, label %axis_end
axis_end:
  %is_empty = icmp eq i64 %extent, 0
  %is_readable_next = or i1 %is_readable, %is_empty
  %axis_next = add i64 %axis, 1
  br label %axis_head

fill:
  %h = getelementptr %array, ptr %heads, i64 %n
  %h1 = getelementptr %array, ptr %h, i64 0, i32 1
  store ptr %array_type, ptr %h1
  %h2 = getelementptr %array, ptr %h, i64 0, i32 2
  store i64 %data, ptr %h2
  %h3 = getelementptr %array, ptr %h, i64 0, i32 3
  store i32 %axes32, ptr %h3
  %h4 = getelementptr %array, ptr %h, i64 0, i32 4
  store ptr %shape, ptr %h4
  %h5 = getelementptr %array, ptr %h, i64 0, i32 5
  store ptr %steps, ptr %h5
  %h7 = getelementptr %array, ptr %h, i64 0, i32 7
  store ptr %descr, ptr %h7
  %low_bits = sub i64 %itemsize, 1
  %rest = and i64 %data, %low_bits
  %is_aligned = icmp eq i64 %rest, 0
  %flags = select i1 %is_aligned, i32 1280, i32 1024  ; writeable, and aligned
  %h8 = getelementptr %array, ptr %h, i64 0, i32 8
  store i32 %flags, ptr %h8
  store ptr %h, ptr %p_object
  br label %filled
filled:
  %n_next = add i64 %n, 1
  br label %head

call:
  %inner = load ptr, ptr %plan
  %found = call ptr @eas_call(ptr %inner, ptr %changed, i64 %count)
  ret ptr %found
slow_path:
  %p5 = getelementptr %tensor_plan, ptr %plan, i64 0, i32 5
  %false = load ptr, ptr %p5
  call void @Py_IncRef(ptr %false)
  ret ptr %false
}
