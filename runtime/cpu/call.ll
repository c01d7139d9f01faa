; The launch fast path, for arguments of the same kinds as in an earlier launch: a builtin function
; (METH_FASTCALL) that reads arrays and numbers itself. It returns None if it has run the kernel, the
; report as bytes if the kernel has had a fault, and False if an argument does not match the plan: the
; launch then takes the slow path.
; The last three arguments are the extents of the grid, ints; without them it follows from N and BLOCK.
; If the plan is one that reads only, it runs nothing and returns a packet, which `eas_call_later` runs.

%plan = type {
  ptr,  ; 0 entry
  ptr,  ; 1 pool
  i64,  ; 2 how many arguments there are, without the extents
  i64,  ; 3 how many slots there are
  i64,  ; 4 the slot of N that the grid follows from, or -1
  i64,  ; 5 BLOCK
  i64,  ; 6 the most programs along an axis
  ptr,  ; 7 numpy.ndarray
  ptr,  ; 8 int
  ptr,  ; 9 float
  ptr,  ; 10 None
  ptr,  ; 11 False
  ptr,  ; 12 True
  i64,  ; 13 the smallest total whose serial phase ran out of time
  i64,  ; 14 whether the kernel needs a report
  ptr,  ; 15 eas.Tensor, or null if no argument is one
  i64,  ; 16 where a tensor has its array: None if it is not in the memory of the CPU
  i64,  ; 17 whether it reads the arguments only
  [0 x %slot]
}

; A slot describes how a parameter is filled; those behind the parameters only check an argument. Kinds:
; 0 array (dtype object, number of axes and above it whether offsets need more than 32 bits, flags that
;   it must have and above them the axes whose stride the kernel takes, size of an element),
; 1 int (least, greatest, and a range that is excluded), 2 f32, 3 f64, 4 extent (axis, greatest),
; 5 stride (axis, greatest, size of an element, least), 6 bool,
; 7 NumPy scalar (type object, unused bits of 64, whether it is signed),
; 8 the same array as another argument (its index), 9 an identical object (its address),
; 10 a constant that is not an argument (its bits),
; 11 the first offset of an array, 12 the end of its offsets (the array's slot, size of an element)
%slot = type { i64, i64, i64, i64, i64, i64 }  ; kind, argument, then what the kind needs

; A launch whose arguments were read. Its job is in it, so that another thread can cancel it.
%packet = type {
  %job,  ; 0
  [2 x i64],  ; 1 unused: what follows is at a multiple of 16 bytes
  [4 x i64],  ; 2 the extents of the grid
  [0 x i64]  ; 3 for each slot its content, then where the memory of its array begins, then where that ends
}

; The head of a NumPy array. `launch_plan.is_possible` checks this layout.
%array = type { i64, ptr, ptr, i32, ptr, ptr, ptr, ptr, i32 }

declare ptr @PyCapsule_GetPointer(ptr, ptr)
declare i64 @PyLong_AsLongAndOverflow(ptr, ptr)
declare double @PyFloat_AsDouble(ptr)
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare void @PyErr_Restore(ptr, ptr, ptr)
declare void @Py_IncRef(ptr)
declare ptr @PyBytes_FromStringAndSize(ptr, i64)
declare ptr @PyByteArray_FromStringAndSize(ptr, i64)
declare ptr @PyByteArray_AsString(ptr)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare float @llvm.fabs.f32(float)
declare { i64, i1 } @llvm.smul.with.overflow.i64(i64, i64)

define ptr @eas_call(ptr %self, ptr %args, i64 %count) {
entry:
  %slots = alloca [SLOTS x i64], align 16
  %begins = alloca [SLOTS x i64], align 16  ; where the memory of an array begins
  %ends = alloca [SLOTS x i64], align 16  ; and where it ends; 0 for others
  %job = alloca %job, align 16
  %overflow = alloca i32
  %report = alloca [16 x i32], align 16
  %plan = call ptr @PyCapsule_GetPointer(ptr %self, ptr null)
  %p2 = getelementptr %plan, ptr %plan, i64 0, i32 2
  %wanted = load i64, ptr %p2
  %p3 = getelementptr %plan, ptr %plan, i64 0, i32 3
  %slot_count = load i64, ptr %p3
  %p7 = getelementptr %plan, ptr %plan, i64 0, i32 7
  %array_type = load ptr, ptr %p7
  %p8 = getelementptr %plan, ptr %plan, i64 0, i32 8
  %int_type = load ptr, ptr %p8
  %p9 = getelementptr %plan, ptr %plan, i64 0, i32 9
  %float_type = load ptr, ptr %p9
  %p15 = getelementptr %plan, ptr %plan, i64 0, i32 15
  %tensor_type = load ptr, ptr %p15
  %p16 = getelementptr %plan, ptr %plan, i64 0, i32 16
  %tensor_offset = load i64, ptr %p16
  %is_implicit = icmp eq i64 %count, %wanted
  %with_extents = add i64 %wanted, 3
  %is_explicit = icmp eq i64 %count, %with_extents
  %has_all = or i1 %is_implicit, %is_explicit
  br i1 %has_all, label %head, label %slow_path

head:
  %n = phi i64 [ 0, %entry ], [ %n_next, %next ]
  %has_next = icmp slt i64 %n, %slot_count
  br i1 %has_next, label %slot, label %grid
slot:
  %s = getelementptr %plan, ptr %plan, i64 0, i32 18, i64 %n
  %kind = load i64, ptr %s
  %s1 = getelementptr %slot, ptr %s, i64 0, i32 1
  %index = load i64, ptr %s1
  %s2 = getelementptr %slot, ptr %s, i64 0, i32 2
  %a = load i64, ptr %s2
  %s3 = getelementptr %slot, ptr %s, i64 0, i32 3
  %b = load i64, ptr %s3
  %s4 = getelementptr %slot, ptr %s, i64 0, i32 4
  %c = load i64, ptr %s4
  %s5 = getelementptr %slot, ptr %s, i64 0, i32 5
  %d = load i64, ptr %s5
  %p_begin = getelementptr i64, ptr %begins, i64 %n
  store i64 0, ptr %p_begin
  %p_end = getelementptr i64, ptr %ends, i64 %n
  store i64 0, ptr %p_end
  %target = getelementptr i64, ptr %slots, i64 %n
  %is_fixed = icmp eq i64 %kind, 10
  br i1 %is_fixed, label %constant, label %read
read:
  %p_object = getelementptr ptr, ptr %args, i64 %index
  %given = load ptr, ptr %p_object
  %p_given_type = getelementptr %array, ptr %given, i64 0, i32 1
  %given_type = load ptr, ptr %p_given_type
  %is_tensor = icmp eq ptr %given_type, %tensor_type
  br i1 %is_tensor, label %tensor, label %dispatch
tensor:
  %p_inner = getelementptr i8, ptr %given, i64 %tensor_offset
  %inner = load ptr, ptr %p_inner
  %p_inner_type = getelementptr %array, ptr %inner, i64 0, i32 1
  %inner_type = load ptr, ptr %p_inner_type
  br label %dispatch
dispatch:
  %object = phi ptr [ %given, %read ], [ %inner, %tensor ]
  %type = phi ptr [ %given_type, %read ], [ %inner_type, %tensor ]
  switch i64 %kind, label %slow_path [
    i64 0, label %array
    i64 1, label %int
    i64 2, label %single
    i64 3, label %double
    i64 4, label %extent
    i64 5, label %stride
    i64 6, label %bool
    i64 7, label %numpy
    i64 8, label %same
    i64 9, label %identical
    i64 11, label %bound
    i64 12, label %bound
  ]

array:
  %is_array = icmp eq ptr %type, %array_type
  br i1 %is_array, label %array_dtype, label %slow_path
array_dtype:
  %p_descr = getelementptr %array, ptr %object, i64 0, i32 7
  %descr = load i64, ptr %p_descr
  %is_dtype = icmp eq i64 %descr, %a
  %p_axes = getelementptr %array, ptr %object, i64 0, i32 3
  %axes32 = load i32, ptr %p_axes
  %axes = zext i32 %axes32 to i64
  %axes_wanted = and i64 %b, 4294967295
  %wide_wanted = lshr i64 %b, 32
  %has_axes = icmp eq i64 %axes, %axes_wanted
  %p_flags = getelementptr %array, ptr %object, i64 0, i32 8
  %flags32 = load i32, ptr %p_flags
  %flags = zext i32 %flags32 to i64
  %needed = and i64 %c, 4294967295
  %set = and i64 %flags, %needed
  %has_flags = icmp eq i64 %set, %needed
  %taken = lshr i64 %c, 32
  %contiguous = and i64 %flags, 1
  %is_contiguous = icmp ne i64 %contiguous, 0
  %fits0 = and i1 %is_dtype, %has_axes
  %fits = and i1 %fits0, %has_flags
  %p_data = getelementptr %array, ptr %object, i64 0, i32 2
  %data = load i64, ptr %p_data
  store i64 %data, ptr %target
  %p_shape = getelementptr %array, ptr %object, i64 0, i32 4
  %shape = load ptr, ptr %p_shape
  %p_steps = getelementptr %array, ptr %object, i64 0, i32 5
  %steps = load ptr, ptr %p_steps
  %data_end = add i64 %data, %d
  br i1 %fits, label %sizes, label %slow_path
sizes:  ; from the last axis on: the range of its elements, and whether it is contiguous
  %axis_after = phi i64 [ %axes, %array_dtype ], [ %axis, %sized ]
  %low = phi i64 [ %data, %array_dtype ], [ %low_next, %sized ]
  %high = phi i64 [ %data_end, %array_dtype ], [ %high_next, %sized ]
  %packed = phi i64 [ %d, %array_dtype ], [ %packed_next, %sized ]
  %is_empty = phi i1 [ false, %array_dtype ], [ %is_empty_next, %sized ]
  %has_axis = icmp sgt i64 %axis_after, 0
  br i1 %has_axis, label %sized, label %ended
sized:
  %axis = sub i64 %axis_after, 1
  %p_length = getelementptr i64, ptr %shape, i64 %axis
  %length = load i64, ptr %p_length
  %p_step = getelementptr i64, ptr %steps, i64 %axis
  %step = load i64, ptr %p_step
  %steps_taken = sub i64 %length, 1
  %reach = mul i64 %steps_taken, %step
  %down = call i64 @llvm.smin.i64(i64 %reach, i64 0)
  %low_next = add i64 %low, %down
  %up = call i64 @llvm.smax.i64(i64 %reach, i64 0)
  %high_next = add i64 %high, %up
  %is_none = icmp eq i64 %length, 0
  %is_empty_next = or i1 %is_empty, %is_none
  %packed_next = mul i64 %step, %length
  %taken_here = lshr i64 %taken, %axis
  %is_taken = trunc i64 %taken_here to i1
  %is_packed = icmp eq i64 %step, %packed
  %is_single = icmp sle i64 %length, 1
  %fits_0 = or i1 %is_taken, %is_packed
  %fits_1 = or i1 %fits_0, %is_single
  %fits_2 = or i1 %fits_1, %is_contiguous
  br i1 %fits_2, label %sizes, label %slow_path
ended:  ; the largest distance from the first element
  %below = sub i64 %data, %low
  %above = sub i64 %high, %data_end
  %farthest = call i64 @llvm.smax.i64(i64 %below, i64 %above)
  %most_narrow = mul i64 %d, 2147483647
  %is_far = icmp sgt i64 %farthest, %most_narrow
  %is_wide = zext i1 %is_far to i64
  %is_as_wide = icmp eq i64 %is_wide, %wide_wanted
  br i1 %is_as_wide, label %bounded, label %slow_path
bounded:
  %begin = select i1 %is_empty, i64 %data, i64 %low
  %end = select i1 %is_empty, i64 %data, i64 %high
  store i64 %begin, ptr %p_begin
  store i64 %end, ptr %p_end
  br label %others
others:  ; arrays that share memory take the slow path
  %m = phi i64 [ 0, %bounded ], [ %m_next, %other ]
  %has_other = icmp slt i64 %m, %n
  br i1 %has_other, label %other, label %next
other:
  %p_other = getelementptr i64, ptr %begins, i64 %m
  %other_begin = load i64, ptr %p_other
  %p_other_end = getelementptr i64, ptr %ends, i64 %m
  %other_end = load i64, ptr %p_other_end
  %begins_before = icmp ult i64 %begin, %other_end
  %ends_after = icmp ult i64 %other_begin, %end
  %is_shared = and i1 %begins_before, %ends_after
  %m_next = add i64 %m, 1
  br i1 %is_shared, label %slow_path, label %others

int:
  %is_int = icmp eq ptr %type, %int_type
  br i1 %is_int, label %int_value, label %slow_path
int_value:
  %number = call i64 @PyLong_AsLongAndOverflow(ptr %object, ptr %overflow)
  %over = load i32, ptr %overflow
  %is_small = icmp eq i32 %over, 0
  %not_below = icmp sge i64 %number, %a
  %not_above = icmp sle i64 %number, %b
  %in0 = and i1 %not_below, %not_above
  %in1 = and i1 %in0, %is_small
  %is_below_gap = icmp slt i64 %number, %c
  %is_above_gap = icmp sgt i64 %number, %d
  %is_no_gap = or i1 %is_below_gap, %is_above_gap
  %in = and i1 %in1, %is_no_gap
  store i64 %number, ptr %target
  br i1 %in, label %next, label %slow_path

single:
  %is_float = icmp eq ptr %type, %float_type
  br i1 %is_float, label %single_value, label %slow_path
single_value:
  %wide = call double @PyFloat_AsDouble(ptr %object)
  %narrow = fptrunc double %wide to float
  %size = call float @llvm.fabs.f32(float %narrow)
  %is_finite = fcmp one float %size, 0x7FF0000000000000
  store i64 0, ptr %target
  store float %narrow, ptr %target
  br i1 %is_finite, label %next, label %slow_path  ; the slow path reports a float that overflows

double:
  %is_double = icmp eq ptr %type, %float_type
  br i1 %is_double, label %double_value, label %slow_path
double_value:
  %real = call double @PyFloat_AsDouble(ptr %object)
  store double %real, ptr %target
  br label %next

extent:
  %is_array_4 = icmp eq ptr %type, %array_type
  br i1 %is_array_4, label %extent_value, label %slow_path
extent_value:
  %p_dims = getelementptr %array, ptr %object, i64 0, i32 4
  %dims = load ptr, ptr %p_dims
  %p_dim = getelementptr i64, ptr %dims, i64 %a
  %dim = load i64, ptr %p_dim
  store i64 %dim, ptr %target
  %dim_fits = icmp sle i64 %dim, %b
  br i1 %dim_fits, label %next, label %slow_path

stride:
  %is_array_5 = icmp eq ptr %type, %array_type
  br i1 %is_array_5, label %stride_value, label %slow_path
stride_value:
  %p_strides = getelementptr %array, ptr %object, i64 0, i32 5
  %strides = load ptr, ptr %p_strides
  %p_stride = getelementptr i64, ptr %strides, i64 %a
  %bytes = load i64, ptr %p_stride
  %elements = sdiv i64 %bytes, %c
  store i64 %elements, ptr %target
  %stride_fits0 = icmp sge i64 %elements, %d
  %stride_fits1 = icmp sle i64 %elements, %b
  %stride_fits = and i1 %stride_fits0, %stride_fits1
  br i1 %stride_fits, label %next, label %slow_path

bool:
  %p_true = getelementptr %plan, ptr %plan, i64 0, i32 12
  %true_object = load ptr, ptr %p_true
  %p_false = getelementptr %plan, ptr %plan, i64 0, i32 11
  %false_object = load ptr, ptr %p_false
  %is_true = icmp eq ptr %object, %true_object
  %is_false = icmp eq ptr %object, %false_object
  %truth = zext i1 %is_true to i64
  store i64 %truth, ptr %target
  %is_bool = or i1 %is_true, %is_false
  br i1 %is_bool, label %next, label %slow_path

numpy:
  %type_address = ptrtoint ptr %type to i64
  %is_scalar = icmp eq i64 %type_address, %a
  br i1 %is_scalar, label %numpy_value, label %slow_path
numpy_value:  ; it is behind the head of the object, which has two words
  %p_value = getelementptr i64, ptr %object, i64 2
  %padded = load i64, ptr %p_value
  %shifted = shl i64 %padded, %b
  %unsigned = lshr i64 %shifted, %b
  %signed = ashr i64 %shifted, %b
  %has_sign = icmp ne i64 %c, 0
  %scalar = select i1 %has_sign, i64 %signed, i64 %unsigned
  store i64 %scalar, ptr %target
  br label %next

same:
  %p_first = getelementptr ptr, ptr %args, i64 %a
  %first_given = load ptr, ptr %p_first
  %is_same = icmp eq ptr %given, %first_given
  br i1 %is_same, label %next, label %equal
equal:  ; or another view of the same elements in the same order
  %p_first_given_type = getelementptr %array, ptr %first_given, i64 0, i32 1
  %first_given_type = load ptr, ptr %p_first_given_type
  %is_first_tensor = icmp eq ptr %first_given_type, %tensor_type
  br i1 %is_first_tensor, label %first_tensor, label %equal_arrays
first_tensor:
  %p_first_inner = getelementptr i8, ptr %first_given, i64 %tensor_offset
  %first_inner = load ptr, ptr %p_first_inner
  br label %equal_arrays
equal_arrays:
  %first = phi ptr [ %first_given, %equal ], [ %first_inner, %first_tensor ]
  %p_first_type = getelementptr %array, ptr %first, i64 0, i32 1
  %first_type = load ptr, ptr %p_first_type
  %is_first_array = icmp eq ptr %type, %array_type
  %is_second_array = icmp eq ptr %first_type, %array_type
  %are_arrays = and i1 %is_first_array, %is_second_array
  br i1 %are_arrays, label %equal_head, label %slow_path
equal_head:
  %p_data_1 = getelementptr %array, ptr %object, i64 0, i32 2
  %data_1 = load i64, ptr %p_data_1
  %p_data_2 = getelementptr %array, ptr %first, i64 0, i32 2
  %data_2 = load i64, ptr %p_data_2
  %is_data_equal = icmp eq i64 %data_1, %data_2
  %p_axes_1 = getelementptr %array, ptr %object, i64 0, i32 3
  %axes_1 = load i32, ptr %p_axes_1
  %p_axes_2 = getelementptr %array, ptr %first, i64 0, i32 3
  %axes_2 = load i32, ptr %p_axes_2
  %are_axes_equal = icmp eq i32 %axes_1, %axes_2
  %p_descr_1 = getelementptr %array, ptr %object, i64 0, i32 7
  %descr_1 = load i64, ptr %p_descr_1
  %p_descr_2 = getelementptr %array, ptr %first, i64 0, i32 7
  %descr_2 = load i64, ptr %p_descr_2
  %is_dtype_equal = icmp eq i64 %descr_1, %descr_2
  %equal_0 = and i1 %is_data_equal, %are_axes_equal
  %is_equal = and i1 %equal_0, %is_dtype_equal
  %p_shape_1 = getelementptr %array, ptr %object, i64 0, i32 4
  %shape_1 = load ptr, ptr %p_shape_1
  %p_shape_2 = getelementptr %array, ptr %first, i64 0, i32 4
  %shape_2 = load ptr, ptr %p_shape_2
  %p_strides_1 = getelementptr %array, ptr %object, i64 0, i32 5
  %strides_1 = load ptr, ptr %p_strides_1
  %p_strides_2 = getelementptr %array, ptr %first, i64 0, i32 5
  %strides_2 = load ptr, ptr %p_strides_2
  %axes_wide = zext i32 %axes_1 to i64
  br i1 %is_equal, label %equal_axes, label %slow_path
equal_axes:
  %k = phi i64 [ 0, %equal_head ], [ %k_next, %equal_axis ]
  %has_more_axes = icmp slt i64 %k, %axes_wide
  br i1 %has_more_axes, label %equal_axis, label %next
equal_axis:
  %p_extent_1 = getelementptr i64, ptr %shape_1, i64 %k
  %extent_1 = load i64, ptr %p_extent_1
  %p_extent_2 = getelementptr i64, ptr %shape_2, i64 %k
  %extent_2 = load i64, ptr %p_extent_2
  %is_extent_equal = icmp eq i64 %extent_1, %extent_2
  %p_step_1 = getelementptr i64, ptr %strides_1, i64 %k
  %step_1 = load i64, ptr %p_step_1
  %p_step_2 = getelementptr i64, ptr %strides_2, i64 %k
  %step_2 = load i64, ptr %p_step_2
  %is_step_equal = icmp eq i64 %step_1, %step_2
  %is_axis_equal = and i1 %is_extent_equal, %is_step_equal
  %k_next = add i64 %k, 1
  br i1 %is_axis_equal, label %equal_axes, label %slow_path

identical:
  %address = ptrtoint ptr %given to i64
  %is_identical = icmp eq i64 %address, %a
  br i1 %is_identical, label %next, label %slow_path

constant:
  store i64 %a, ptr %target
  br label %next

bound:  ; of an array whose slot comes before
  %p_array_data = getelementptr i64, ptr %slots, i64 %a
  %array_data = load i64, ptr %p_array_data
  %p_array_begin = getelementptr i64, ptr %begins, i64 %a
  %array_begin = load i64, ptr %p_array_begin
  %p_array_end = getelementptr i64, ptr %ends, i64 %a
  %array_end = load i64, ptr %p_array_end
  %is_low = icmp eq i64 %kind, 11
  %bound_address = select i1 %is_low, i64 %array_begin, i64 %array_end
  %bound_bytes = sub i64 %bound_address, %array_data
  %bound_offset = sdiv i64 %bound_bytes, %b
  store i64 %bound_offset, ptr %target
  br label %next

next:
  %n_next = add i64 %n, 1
  br label %head

grid:
  br i1 %is_explicit, label %extents, label %implicit
extents:
  %p_x = getelementptr ptr, ptr %args, i64 %wanted
  %x_object = load ptr, ptr %p_x
  %x_given = call i64 @PyLong_AsLongAndOverflow(ptr %x_object, ptr %overflow)
  %x_over = load i32, ptr %overflow
  %p_y = getelementptr ptr, ptr %p_x, i64 1
  %y_object = load ptr, ptr %p_y
  %y_given = call i64 @PyLong_AsLongAndOverflow(ptr %y_object, ptr %overflow)
  %y_over = load i32, ptr %overflow
  %p_z = getelementptr ptr, ptr %p_x, i64 2
  %z_object = load ptr, ptr %p_z
  %z_given = call i64 @PyLong_AsLongAndOverflow(ptr %z_object, ptr %overflow)
  %z_over = load i32, ptr %overflow
  %xy_over = or i32 %x_over, %y_over
  %xyz_over = or i32 %xy_over, %z_over
  %is_grid = icmp eq i32 %xyz_over, 0
  br i1 %is_grid, label %run, label %slow_path
implicit:
  %p4 = getelementptr %plan, ptr %plan, i64 0, i32 4
  %n_slot = load i64, ptr %p4
  %p5 = getelementptr %plan, ptr %plan, i64 0, i32 5
  %block = load i64, ptr %p5
  %has_n = icmp sge i64 %n_slot, 0
  br i1 %has_n, label %divide_n, label %slow_path
divide_n:
  %p_n = getelementptr i64, ptr %slots, i64 %n_slot
  %big = load i64, ptr %p_n
  %is_count = icmp sge i64 %big, 0
  br i1 %is_count, label %divide, label %slow_path
divide:
  %less = sub i64 %block, 1
  %more = add i64 %big, %less
  %x_found = udiv i64 %more, %block
  br label %run
run:
  %x = phi i64 [ %x_given, %extents ], [ %x_found, %divide ]
  %y = phi i64 [ %y_given, %extents ], [ 1, %divide ]
  %z = phi i64 [ %z_given, %extents ], [ 1, %divide ]
  %p6 = getelementptr %plan, ptr %plan, i64 0, i32 6
  %most = load i64, ptr %p6
  %x_fits = icmp ule i64 %x, %most
  %y_fits = icmp ule i64 %y, %most
  %z_fits = icmp ule i64 %z, %most
  %xy_fit = and i1 %x_fits, %y_fits
  %xyz_fit = and i1 %xy_fit, %z_fits
  br i1 %xyz_fit, label %start, label %slow_path
start:
  %xy = mul i64 %x, %y
  %product = call { i64, i1 } @llvm.smul.with.overflow.i64(i64 %xy, i64 %z)
  %total = extractvalue { i64, i1 } %product, 0
  %is_too_much = extractvalue { i64, i1 } %product, 1
  br i1 %is_too_much, label %slow_path, label %begin_job
begin_job:
  %p17 = getelementptr %plan, ptr %plan, i64 0, i32 17
  %reads_only = load i64, ptr %p17
  %is_packet_wanted = icmp ne i64 %reads_only, 0
  br i1 %is_packet_wanted, label %hand_over, label %run_now
hand_over:
  %slots_size = mul i64 %slot_count, 8
  %three_times = mul i64 %slots_size, 3
  %packet_size = add i64 %three_times, 240
  %packet = call ptr @PyByteArray_FromStringAndSize(ptr null, i64 %packet_size)
  %has_packet = icmp ne ptr %packet, null
  br i1 %has_packet, label %fill_packet, label %no_memory
no_memory:
  ret ptr null
fill_packet:
  %content = call ptr @PyByteArray_AsString(ptr %packet)
  call void @llvm.memset.p0.i64(ptr %content, i8 0, i64 240, i1 false)
  %p_extents = getelementptr %packet, ptr %content, i64 0, i32 2
  store i64 %x, ptr %p_extents
  %packet_y = getelementptr i64, ptr %p_extents, i64 1
  store i64 %y, ptr %packet_y
  %packet_z = getelementptr i64, ptr %p_extents, i64 2
  store i64 %z, ptr %packet_z
  %packet_slots = getelementptr %packet, ptr %content, i64 0, i32 3
  call void @llvm.memcpy.p0.p0.i64(ptr %packet_slots, ptr %slots, i64 %slots_size, i1 false)
  %packet_begins = getelementptr i64, ptr %packet_slots, i64 %slot_count
  call void @llvm.memcpy.p0.p0.i64(ptr %packet_begins, ptr %begins, i64 %slots_size, i1 false)
  %packet_ends = getelementptr i64, ptr %packet_begins, i64 %slot_count
  call void @llvm.memcpy.p0.p0.i64(ptr %packet_ends, ptr %ends, i64 %slots_size, i1 false)
  ret ptr %packet
run_now:
  %j16 = getelementptr %job, ptr %job, i64 0, i32 16
  store i64 0, ptr %j16
  %result = call ptr @run_job(ptr %plan, ptr %job, ptr %report, ptr %slots, i64 %x, i64 %y, i64 %z)
  ret ptr %result
slow_path:
  %p11 = getelementptr %plan, ptr %plan, i64 0, i32 11
  %false = load ptr, ptr %p11
  call void @Py_IncRef(ptr %false)
  ret ptr %false
}

; Runs a packet: a builtin function like `eas_call`, with the packet as its argument. It returns False if
; another thread has cancelled the launch.
define ptr @eas_call_later(ptr %self, ptr %args, i64 %count) {
  %report = alloca [16 x i32], align 16
  %plan = call ptr @PyCapsule_GetPointer(ptr %self, ptr null)
  %packet = load ptr, ptr %args
  %content = call ptr @PyByteArray_AsString(ptr %packet)
  %extents = getelementptr %packet, ptr %content, i64 0, i32 2
  %x = load i64, ptr %extents
  %p_y = getelementptr i64, ptr %extents, i64 1
  %y = load i64, ptr %p_y
  %p_z = getelementptr i64, ptr %extents, i64 2
  %z = load i64, ptr %p_z
  %slots = getelementptr %packet, ptr %content, i64 0, i32 3
  %result = call ptr @run_job(ptr %plan, ptr %content, ptr %report, ptr %slots, i64 %x, i64 %y, i64 %z)
  ret ptr %result
}

; Runs a job without the GIL, which the caller holds: None, the report as bytes, or an exception. False
; if another thread has cancelled it.
define internal ptr @run_job(ptr %plan, ptr %job, ptr %report, ptr %slots, i64 %x, i64 %y, i64 %z) {
  %xy = mul i64 %x, %y
  %total = mul i64 %xy, %z
  %program = load ptr, ptr %plan
  %p1 = getelementptr %plan, ptr %plan, i64 0, i32 1
  %pool = load ptr, ptr %p1
  store ptr %program, ptr %job
  %j1 = getelementptr %job, ptr %job, i64 0, i32 1
  store ptr %slots, ptr %j1
  %j2 = getelementptr %job, ptr %job, i64 0, i32 2
  %p14 = getelementptr %plan, ptr %plan, i64 0, i32 14
  %has_report_word = load i64, ptr %p14
  %has_report = icmp ne i64 %has_report_word, 0
  call void @llvm.memset.p0.i64(ptr %report, i8 0, i64 64, i1 false)
  %report_or_null = select i1 %has_report, ptr %report, ptr null
  store ptr %report_or_null, ptr %j2
  %j3 = getelementptr %job, ptr %job, i64 0, i32 3
  store i64 %total, ptr %j3
  %j4 = getelementptr %job, ptr %job, i64 0, i32 4
  store i64 0, ptr %j4
  %j5 = getelementptr %job, ptr %job, i64 0, i32 5
  store i64 1, ptr %j5
  %j6 = getelementptr %job, ptr %job, i64 0, i32 6
  store i64 %x, ptr %j6
  %j7 = getelementptr %job, ptr %job, i64 0, i32 7
  store i64 %y, ptr %j7
  %j8 = getelementptr %job, ptr %job, i64 0, i32 8
  store i64 %z, ptr %j8
  %j9 = getelementptr %job, ptr %job, i64 0, i32 9
  store i64 0, ptr %j9
  %j10 = getelementptr %job, ptr %job, i64 0, i32 10
  store i64 0, ptr %j10
  %j11 = getelementptr %job, ptr %job, i64 0, i32 11
  %p13 = getelementptr %plan, ptr %plan, i64 0, i32 13
  store ptr %p13, ptr %j11
  %j16 = getelementptr %job, ptr %job, i64 0, i32 16
  %j17_0 = getelementptr %job, ptr %job, i64 0, i32 17, i64 0
  store ptr null, ptr %j17_0
  %thread = call ptr @PyEval_SaveThread()
  %finished = call i32 @eas_work(ptr %pool, ptr %job)
  call void @PyEval_RestoreThread(ptr %thread)
  %is_finished = icmp ne i32 %finished, 0
  br i1 %is_finished, label %done, label %signals
signals:
  %raised_now = call i32 @PyErr_CheckSignals()
  %is_raised_now = icmp ne i32 %raised_now, 0
  br i1 %is_raised_now, label %cancel, label %again
again:
  %thread_2 = call ptr @PyEval_SaveThread()
  %finished_2 = call i32 @eas_work(ptr %pool, ptr %job)
  call void @PyEval_RestoreThread(ptr %thread_2)
  %is_finished_2 = icmp ne i32 %finished_2, 0
  br i1 %is_finished_2, label %done, label %signals
cancel:  ; start no more programs, and wait for those that run
  store atomic i64 1, ptr %j16 monotonic, align 8
  %thread_3 = call ptr @PyEval_SaveThread()
  %finished_3 = call i32 @eas_work(ptr %pool, ptr %job)
  call void @PyEval_RestoreThread(ptr %thread_3)
  ret ptr null

done:
  %raised = load i64, ptr %j16
  %is_raised = icmp ne i64 %raised, 0
  br i1 %is_raised, label %raise, label %completed
raise:
  %exception = load ptr, ptr %j17_0
  %has_exception = icmp ne ptr %exception, null
  br i1 %has_exception, label %raise_again, label %cancelled
cancelled:
  %p11 = getelementptr %plan, ptr %plan, i64 0, i32 11
  %false = load ptr, ptr %p11
  call void @Py_IncRef(ptr %false)
  ret ptr %false
raise_again:
  %j17_1 = getelementptr %job, ptr %job, i64 0, i32 17, i64 1
  %exception_value = load ptr, ptr %j17_1
  %j17_2 = getelementptr %job, ptr %job, i64 0, i32 17, i64 2
  %traceback = load ptr, ptr %j17_2
  call void @PyErr_Restore(ptr %exception, ptr %exception_value, ptr %traceback)
  ret ptr null
completed:
  %fault = load i32, ptr %report
  %is_faulty = icmp ne i32 %fault, 0
  br i1 %is_faulty, label %faulty, label %succeeded
faulty:  ; words 5 to 7 are unused here and get the grid
  %report_x = getelementptr i32, ptr %report, i64 5
  %x32 = trunc i64 %x to i32
  store i32 %x32, ptr %report_x
  %report_y = getelementptr i32, ptr %report, i64 6
  %y32 = trunc i64 %y to i32
  store i32 %y32, ptr %report_y
  %report_z = getelementptr i32, ptr %report, i64 7
  %z32 = trunc i64 %z to i32
  store i32 %z32, ptr %report_z
  %report_bytes = call ptr @PyBytes_FromStringAndSize(ptr %report, i64 64)
  ret ptr %report_bytes
succeeded:
  %p10 = getelementptr %plan, ptr %plan, i64 0, i32 10
  %none = load ptr, ptr %p10
  call void @Py_IncRef(ptr %none)
  ret ptr %none
}
