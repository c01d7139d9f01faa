; Replays a recorded graph: a builtin function (METH_FASTCALL) that runs its jobs one after the other.
; It returns None if all have run. It returns False if one has had a fault, or was cancelled by
; another thread: `index` is the job's number then.

%graph = type {
  i64,  ; 0 how many jobs there are
  ptr,  ; 1 pool
  ptr,  ; 2 None
  ptr,  ; 3 False
  i64,  ; 4 index: the job that runs
  i64,  ; 5 whether another thread has cancelled it
  %job,  ; 6 the job that runs, a copy
  [0 x %job]  ; 7 the jobs as they are before a run
}

define ptr @eas_replay(ptr %self, ptr %args, i64 %count) {
entry:
  %p_thread = alloca ptr
  %graph = call ptr @PyCapsule_GetPointer(ptr %self, ptr null)
  %total = load i64, ptr %graph
  %p1 = getelementptr %graph, ptr %graph, i64 0, i32 1
  %pool = load ptr, ptr %p1
  %p4 = getelementptr %graph, ptr %graph, i64 0, i32 4
  %p5 = getelementptr %graph, ptr %graph, i64 0, i32 5
  %job = getelementptr %graph, ptr %graph, i64 0, i32 6
  %j2 = getelementptr %job, ptr %job, i64 0, i32 2
  %j16 = getelementptr %job, ptr %job, i64 0, i32 16
  %thread = call ptr @PyEval_SaveThread()
  store ptr %thread, ptr %p_thread
  br label %head
head:
  %n = phi i64 [ 0, %entry ], [ %n_next, %next ]
  %has_next = icmp slt i64 %n, %total
  br i1 %has_next, label %check, label %done
check:
  store i64 %n, ptr %p4
  %cancelled = load atomic i64, ptr %p5 monotonic, align 8
  %is_cancelled = icmp ne i64 %cancelled, 0
  br i1 %is_cancelled, label %failed, label %begin
begin:
  %template = getelementptr %graph, ptr %graph, i64 0, i32 7, i64 %n
  call void @llvm.memcpy.p0.p0.i64(ptr %job, ptr %template, i64 192, i1 false)
  %report = load ptr, ptr %j2
  %has_report = icmp ne ptr %report, null
  br i1 %has_report, label %clear, label %work
clear:
  call void @llvm.memset.p0.i64(ptr %report, i8 0, i64 64, i1 false)
  br label %work
work:
  %finished = call i32 @eas_work(ptr %pool, ptr %job)
  %is_finished = icmp ne i32 %finished, 0
  br i1 %is_finished, label %finish, label %signals
signals:
  %held = load ptr, ptr %p_thread
  call void @PyEval_RestoreThread(ptr %held)
  %raised_now = call i32 @PyErr_CheckSignals()
  %is_raised_now = icmp ne i32 %raised_now, 0
  br i1 %is_raised_now, label %cancel, label %again
again:
  %released = call ptr @PyEval_SaveThread()
  store ptr %released, ptr %p_thread
  br label %work
cancel:  ; start no more programs, and wait for those that run
  store atomic i64 1, ptr %j16 monotonic, align 8
  %released_2 = call ptr @PyEval_SaveThread()
  %finished_2 = call i32 @eas_work(ptr %pool, ptr %job)
  call void @PyEval_RestoreThread(ptr %released_2)
  ret ptr null
finish:
  %stopped = load atomic i64, ptr %j16 monotonic, align 8
  %is_stopped = icmp ne i64 %stopped, 0
  br i1 %is_stopped, label %stop, label %read
read:
  br i1 %has_report, label %read_report, label %next
read_report:
  %fault = load i32, ptr %report
  %is_faulty = icmp ne i32 %fault, 0
  br i1 %is_faulty, label %failed, label %next
next:
  %n_next = add i64 %n, 1
  br label %head
stop:  ; by the handler of a signal, or by another thread
  %j17_0 = getelementptr %job, ptr %job, i64 0, i32 17, i64 0
  %exception = load ptr, ptr %j17_0
  %has_exception = icmp ne ptr %exception, null
  br i1 %has_exception, label %raise, label %failed
raise:
  %j17_1 = getelementptr %job, ptr %job, i64 0, i32 17, i64 1
  %value = load ptr, ptr %j17_1
  %j17_2 = getelementptr %job, ptr %job, i64 0, i32 17, i64 2
  %traceback = load ptr, ptr %j17_2
  %held_2 = load ptr, ptr %p_thread
  call void @PyEval_RestoreThread(ptr %held_2)
  call void @PyErr_Restore(ptr %exception, ptr %value, ptr %traceback)
  ret ptr null
failed:
  %held_3 = load ptr, ptr %p_thread
  call void @PyEval_RestoreThread(ptr %held_3)
  %p3 = getelementptr %graph, ptr %graph, i64 0, i32 3
  %false = load ptr, ptr %p3
  call void @Py_IncRef(ptr %false)
  ret ptr %false
done:
  %held_4 = load ptr, ptr %p_thread
  call void @PyEval_RestoreThread(ptr %held_4)
  %p2 = getelementptr %graph, ptr %graph, i64 0, i32 2
  %none = load ptr, ptr %p2
  call void @Py_IncRef(ptr %none)
  ret ptr %none
}
