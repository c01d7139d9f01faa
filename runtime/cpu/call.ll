; The call that Python makes for a launch whose arguments are as they were the last time: a builtin
; function (METH_FASTCALL) that reads arrays and numbers by itself. It returns None if it has run the
; kernel, False if something is not as it was, so that the launch has to go the long way.

%plan = type {
  ptr,  ; 0 entry
  ptr,  ; 1 pool
  i64,  ; 2 how many arguments there are
  i64,  ; 3 how many slots there are
  i64,  ; 4 the slot of N that the grid follows from, or -1
  i64,  ; 5 BLOCK
  i64,  ; 6 extent x
  i64,  ; 7 extent y
  i64,  ; 8 extent z
  i64,  ; 9 the most programs along an axis
  ptr,  ; 10 numpy.ndarray
  ptr,  ; 11 int
  ptr,  ; 12 float
  ptr,  ; 13 None
  ptr,  ; 14 False
  ptr,  ; 15 True
  i64,  ; 16 the least total that was found to be long
  [0 x %slot]
}

; kinds: 0 array (dtype object, number of axes, flags that it must have, size of an element),
; 1 int (least, greatest), 2 f32, 3 f64, 4 extent (axis, greatest),
; 5 stride (axis, greatest, size of an element), 6 bool
%slot = type { i64, i64, i64, i64, i64, i64 }  ; kind, argument, then what the kind needs

; The head of a NumPy array: its layout is checked when the process starts.
%array = type { i64, ptr, ptr, i32, ptr, ptr, ptr, ptr, i32 }

declare ptr @PyCapsule_GetPointer(ptr, ptr)
declare i64 @PyLong_AsLongAndOverflow(ptr, ptr)
declare double @PyFloat_AsDouble(ptr)
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare void @PyErr_Restore(ptr, ptr, ptr)
declare void @Py_IncRef(ptr)
declare float @llvm.fabs.f32(float)
declare double @llvm.fabs.f64(double)

define ptr @eas_call(ptr %self, ptr %args, i64 %count) {
entry:
  %slots = alloca [SLOTS x i64], align 16
  %ends = alloca [SLOTS x i64], align 16  ; where the memory of an array ends; 0 for others
  %job = alloca %job, align 16
  %overflow = alloca i32
  %plan = call ptr @PyCapsule_GetPointer(ptr %self, ptr null)
  %p2 = getelementptr %plan, ptr %plan, i64 0, i32 2
  %wanted = load i64, ptr %p2
  %p3 = getelementptr %plan, ptr %plan, i64 0, i32 3
  %slot_count = load i64, ptr %p3
  %p10 = getelementptr %plan, ptr %plan, i64 0, i32 10
  %array_type = load ptr, ptr %p10
  %p11 = getelementptr %plan, ptr %plan, i64 0, i32 11
  %int_type = load ptr, ptr %p11
  %p12 = getelementptr %plan, ptr %plan, i64 0, i32 12
  %float_type = load ptr, ptr %p12
  %has_all = icmp eq i64 %count, %wanted
  br i1 %has_all, label %head, label %refuse

head:
  %n = phi i64 [ 0, %entry ], [ %n_next, %next ]
  %goes_on = icmp slt i64 %n, %slot_count
  br i1 %goes_on, label %slot, label %grid
slot:
  %s = getelementptr %plan, ptr %plan, i64 0, i32 17, i64 %n
  %kind = load i64, ptr %s
  %s1 = getelementptr %slot, ptr %s, i64 0, i32 1
  %index = load i64, ptr %s1
  %s2 = getelementptr %slot, ptr %s, i64 0, i32 2
  %a = load i64, ptr %s2
  %s3 = getelementptr %slot, ptr %s, i64 0, i32 3
  %b = load i64, ptr %s3
  %s4 = getelementptr %slot, ptr %s, i64 0, i32 4
  %c = load i64, ptr %s4
  %p_end = getelementptr i64, ptr %ends, i64 %n
  store i64 0, ptr %p_end
  %place = getelementptr ptr, ptr %args, i64 %index
  %object = load ptr, ptr %place
  %type_place = getelementptr %array, ptr %object, i64 0, i32 1
  %type = load ptr, ptr %type_place
  %target = getelementptr i64, ptr %slots, i64 %n
  switch i64 %kind, label %refuse [
    i64 0, label %array
    i64 1, label %int
    i64 2, label %single
    i64 3, label %double
    i64 4, label %extent
    i64 5, label %stride
    i64 6, label %bool
  ]

array:
  %is_array = icmp eq ptr %type, %array_type
  br i1 %is_array, label %array_dtype, label %refuse
array_dtype:
  %p_descr = getelementptr %array, ptr %object, i64 0, i32 7
  %descr = load i64, ptr %p_descr
  %is_dtype = icmp eq i64 %descr, %a
  %p_axes = getelementptr %array, ptr %object, i64 0, i32 3
  %axes32 = load i32, ptr %p_axes
  %axes = zext i32 %axes32 to i64
  %has_axes = icmp eq i64 %axes, %b
  %p_flags = getelementptr %array, ptr %object, i64 0, i32 8
  %flags32 = load i32, ptr %p_flags
  %flags = zext i32 %flags32 to i64
  %set = and i64 %flags, %c
  %has_flags = icmp eq i64 %set, %c
  %fits0 = and i1 %is_dtype, %has_axes
  %fits = and i1 %fits0, %has_flags
  %p_data = getelementptr %array, ptr %object, i64 0, i32 2
  %data = load i64, ptr %p_data
  store i64 %data, ptr %target
  %s5 = getelementptr %slot, ptr %s, i64 0, i32 5
  %item = load i64, ptr %s5
  %p_shape = getelementptr %array, ptr %object, i64 0, i32 4
  %shape = load ptr, ptr %p_shape
  br i1 %fits, label %sizes, label %refuse
sizes:
  %axis = phi i64 [ 0, %array_dtype ], [ %axis_next, %sized ]
  %bytes_so_far = phi i64 [ %item, %array_dtype ], [ %bytes_next, %sized ]
  %has_axis = icmp slt i64 %axis, %axes
  br i1 %has_axis, label %sized, label %ended
sized:
  %p_length = getelementptr i64, ptr %shape, i64 %axis
  %length = load i64, ptr %p_length
  %bytes_next = mul i64 %bytes_so_far, %length
  %axis_next = add i64 %axis, 1
  br label %sizes
ended:
  %end = add i64 %data, %bytes_so_far
  store i64 %end, ptr %p_end
  br label %others
others:  ; arrays that share memory are looked at the long way
  %m = phi i64 [ 0, %ended ], [ %m_next, %other ]
  %has_other = icmp slt i64 %m, %n
  br i1 %has_other, label %other, label %next
other:
  %p_other = getelementptr i64, ptr %slots, i64 %m
  %other_data = load i64, ptr %p_other
  %p_other_end = getelementptr i64, ptr %ends, i64 %m
  %other_end = load i64, ptr %p_other_end
  %begins_before = icmp ult i64 %data, %other_end
  %ends_after = icmp ult i64 %other_data, %end
  %is_shared = and i1 %begins_before, %ends_after
  %m_next = add i64 %m, 1
  br i1 %is_shared, label %refuse, label %others

int:
  %is_int = icmp eq ptr %type, %int_type
  br i1 %is_int, label %int_value, label %refuse
int_value:
  %number = call i64 @PyLong_AsLongAndOverflow(ptr %object, ptr %overflow)
  %over = load i32, ptr %overflow
  %is_small = icmp eq i32 %over, 0
  %not_below = icmp sge i64 %number, %a
  %not_above = icmp sle i64 %number, %b
  %in0 = and i1 %not_below, %not_above
  %in = and i1 %in0, %is_small
  store i64 %number, ptr %target
  br i1 %in, label %next, label %refuse

single:
  %is_float = icmp eq ptr %type, %float_type
  br i1 %is_float, label %single_value, label %refuse
single_value:
  %wide = call double @PyFloat_AsDouble(ptr %object)
  %narrow = fptrunc double %wide to float
  %size = call float @llvm.fabs.f32(float %narrow)
  %is_finite = fcmp one float %size, 0x7FF0000000000000
  store i64 0, ptr %target
  store float %narrow, ptr %target
  br i1 %is_finite, label %next, label %refuse  ; what has become infinite is told the long way

double:
  %is_double = icmp eq ptr %type, %float_type
  br i1 %is_double, label %double_value, label %refuse
double_value:
  %real = call double @PyFloat_AsDouble(ptr %object)
  store double %real, ptr %target
  br label %next

extent:
  %is_array_4 = icmp eq ptr %type, %array_type
  br i1 %is_array_4, label %extent_value, label %refuse
extent_value:
  %p_dims = getelementptr %array, ptr %object, i64 0, i32 4
  %dims = load ptr, ptr %p_dims
  %p_dim = getelementptr i64, ptr %dims, i64 %a
  %dim = load i64, ptr %p_dim
  store i64 %dim, ptr %target
  %dim_fits = icmp sle i64 %dim, %b
  br i1 %dim_fits, label %next, label %refuse

stride:
  %is_array_5 = icmp eq ptr %type, %array_type
  br i1 %is_array_5, label %stride_value, label %refuse
stride_value:
  %p_strides = getelementptr %array, ptr %object, i64 0, i32 5
  %strides = load ptr, ptr %p_strides
  %p_stride = getelementptr i64, ptr %strides, i64 %a
  %bytes = load i64, ptr %p_stride
  %elements = sdiv i64 %bytes, %c
  store i64 %elements, ptr %target
  %not_negative = icmp sge i64 %elements, 0
  %stride_fits0 = icmp sle i64 %elements, %b
  %stride_fits = and i1 %not_negative, %stride_fits0
  br i1 %stride_fits, label %next, label %refuse

bool:
  %p_true = getelementptr %plan, ptr %plan, i64 0, i32 15
  %true_object = load ptr, ptr %p_true
  %p_false = getelementptr %plan, ptr %plan, i64 0, i32 14
  %false_object = load ptr, ptr %p_false
  %is_true = icmp eq ptr %object, %true_object
  %is_false = icmp eq ptr %object, %false_object
  %truth = zext i1 %is_true to i64
  store i64 %truth, ptr %target
  %is_bool = or i1 %is_true, %is_false
  br i1 %is_bool, label %next, label %refuse

next:
  %n_next = add i64 %n, 1
  br label %head

grid:
  %p4 = getelementptr %plan, ptr %plan, i64 0, i32 4
  %n_slot = load i64, ptr %p4
  %p5 = getelementptr %plan, ptr %plan, i64 0, i32 5
  %block = load i64, ptr %p5
  %p6 = getelementptr %plan, ptr %plan, i64 0, i32 6
  %x_given = load i64, ptr %p6
  %p7 = getelementptr %plan, ptr %plan, i64 0, i32 7
  %y = load i64, ptr %p7
  %p8 = getelementptr %plan, ptr %plan, i64 0, i32 8
  %z = load i64, ptr %p8
  %is_given = icmp slt i64 %n_slot, 0
  br i1 %is_given, label %run, label %follow
follow:
  %p_n = getelementptr i64, ptr %slots, i64 %n_slot
  %big = load i64, ptr %p_n
  %is_count = icmp sge i64 %big, 0
  br i1 %is_count, label %divide, label %refuse
divide:
  %less = sub i64 %block, 1
  %more = add i64 %big, %less
  %x_found = udiv i64 %more, %block
  br label %run
run:
  %x = phi i64 [ %x_given, %grid ], [ %x_found, %divide ]
  %p9 = getelementptr %plan, ptr %plan, i64 0, i32 9
  %most = load i64, ptr %p9
  %x_fits = icmp sle i64 %x, %most
  br i1 %x_fits, label %start, label %refuse
start:
  %xy = mul i64 %x, %y
  %total = mul i64 %xy, %z
  %program = load ptr, ptr %plan
  %p1 = getelementptr %plan, ptr %plan, i64 0, i32 1
  %pool = load ptr, ptr %p1
  store ptr %program, ptr %job
  %j1 = getelementptr %job, ptr %job, i64 0, i32 1
  store ptr %slots, ptr %j1
  %j2 = getelementptr %job, ptr %job, i64 0, i32 2
  store ptr null, ptr %j2
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
  %p16 = getelementptr %plan, ptr %plan, i64 0, i32 16
  store ptr %p16, ptr %j11
  %j16 = getelementptr %job, ptr %job, i64 0, i32 16
  store i64 0, ptr %j16
  %thread = call ptr @PyEval_SaveThread()
  %finished = call i32 @eas_work(ptr %pool, ptr %job)
  call void @PyEval_RestoreThread(ptr %thread)
  %is_finished = icmp ne i32 %finished, 0
  br i1 %is_finished, label %done, label %signals
signals:
  %stopped = call i32 @PyErr_CheckSignals()
  %is_stopped = icmp ne i32 %stopped, 0
  br i1 %is_stopped, label %stop, label %again
again:
  %thread_2 = call ptr @PyEval_SaveThread()
  %finished_2 = call i32 @eas_work(ptr %pool, ptr %job)
  call void @PyEval_RestoreThread(ptr %thread_2)
  %is_finished_2 = icmp ne i32 %finished_2, 0
  br i1 %is_finished_2, label %done, label %signals
stop:  ; no more programs begin; those that run are waited for
  store atomic i64 %total, ptr %j4 monotonic, align 8
  %thread_3 = call ptr @PyEval_SaveThread()
  %finished_3 = call i32 @eas_work(ptr %pool, ptr %job)
  call void @PyEval_RestoreThread(ptr %thread_3)
  ret ptr null

done:
  %raised = load i64, ptr %j16
  %is_raised = icmp ne i64 %raised, 0
  br i1 %is_raised, label %raise, label %right
raise:
  %j17_0 = getelementptr %job, ptr %job, i64 0, i32 17, i64 0
  %exception = load ptr, ptr %j17_0
  %j17_1 = getelementptr %job, ptr %job, i64 0, i32 17, i64 1
  %exception_value = load ptr, ptr %j17_1
  %j17_2 = getelementptr %job, ptr %job, i64 0, i32 17, i64 2
  %traceback = load ptr, ptr %j17_2
  call void @PyErr_Restore(ptr %exception, ptr %exception_value, ptr %traceback)
  ret ptr null
right:
  %p13 = getelementptr %plan, ptr %plan, i64 0, i32 13
  %none = load ptr, ptr %p13
  call void @Py_IncRef(ptr %none)
  ret ptr %none
refuse:
  %p14 = getelementptr %plan, ptr %plan, i64 0, i32 14
  %false = load ptr, ptr %p14
  call void @Py_IncRef(ptr %false)
  ret ptr %false
}
