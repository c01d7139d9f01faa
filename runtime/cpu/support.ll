; The code that all kernels share: the loop that takes programs from a launch, the pool of worker
; threads, and the function that Python calls.
;
; A job is one launch. Only its regions and `active` change while several threads work on it.
; `state` is 0 at first, 1 after the serial phase of the launching thread, 2 while the job is open to
; the pool.
;
; A region is a range of programs. Each thread starts with its own region, which is the same part of
; the grid in each launch, because its caches may still hold the data; then it takes programs from
; the other regions.

%job = type {
  ptr,  ; 0 entry: (arguments, job, first, last, extent x, y, z)
  ptr,  ; 1 arguments
  ptr,  ; 2 report, or null
  i64,  ; 3 total, and
  i64,  ; 4 next: the only region until there are several
  i64,  ; 5 how many regions there are,
  i64,  ; 6 extent x
  i64,  ; 7 extent y
  i64,  ; 8 extent z
  i64,  ; 9 active: workers that work on it
  i64,  ; 10 state
  ptr,  ; 11 the smallest total whose serial phase ran out of time
  ptr,  ; 12 the address of the first one
  ptr,  ; 13 the poll function of safepoints: (job)
  ptr,  ; 14 the launching thread
  i64,  ; 15 when it checks for signals again
  i64,  ; 16 whether it is cancelled, because a signal's handler has raised an exception;
  [3 x ptr],  ; 17 that exception, if it was raised at a safepoint: type, value, traceback
  ptr,  ; 18 functions that programs call: to report a fault,
  ptr,  ; 19 to check the lanes of a vector that may have one,
  ptr,  ; 20 the same for strided lanes,
  ptr   ; 21 and to print
}

%region = type {
  i64,       ; 0 end
  i64,       ; 1 next
  [48 x i8]  ; no other region is in this cache line
}

%pool = type {
  [128 x i8],  ; 0 mutex
  [128 x i8],  ; 1 condition: there is a job
  [128 x i8],  ; 2 condition: the workers have finished it
  ptr,         ; 3 the open job, or null
  i64,         ; 4 whether a launch uses the pool
  i64,         ; 5 number of workers
  i64,         ; 6 how many jobs have been opened
  i64,         ; 7 how many workers have started
  i64,         ; 8 whether the launching thread sleeps until they have finished
  [16 x i8],
  [0 x %region]  ; 10 one for each thread
}

declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @pthread_cond_timedwait(ptr, ptr, ptr)
declare i32 @pthread_cond_broadcast(ptr)
declare i32 @clock_gettime(i32, ptr)
declare ptr @pthread_self()
declare i32 @PyGILState_Ensure()
declare void @PyGILState_Release(i32)
declare i32 @PyErr_CheckSignals()
declare void @PyErr_Fetch(ptr, ptr, ptr)

define internal i64 @now() {
  %time = alloca { i64, i64 }
  %failed = call i32 @clock_gettime(i32 CLOCK, ptr %time)
  %seconds = load i64, ptr %time
  %p_rest = getelementptr { i64, i64 }, ptr %time, i64 0, i32 1
  %rest = load i64, ptr %p_rest
  %wide = mul i64 %seconds, 1000000000
  %sum = add i64 %wide, %rest
  ret i64 %sum
}

; The time of day in 50 milliseconds.
define internal void @deadline(ptr %time) {
  %failed = call i32 @clock_gettime(i32 0, ptr %time)
  %seconds = load i64, ptr %time
  %p_rest = getelementptr { i64, i64 }, ptr %time, i64 0, i32 1
  %rest = load i64, ptr %p_rest
  %later = add i64 %rest, 50000000
  %carry = udiv i64 %later, 1000000000
  %new_rest = urem i64 %later, 1000000000
  %new_seconds = add i64 %seconds, %carry
  store i64 %new_seconds, ptr %time
  store i64 %new_rest, ptr %p_rest
  ret void
}

define internal void @run_programs(ptr %job, i64 %first, i64 %last) {
  %entry = load ptr, ptr %job
  %p1 = getelementptr %job, ptr %job, i64 0, i32 1
  %arguments = load ptr, ptr %p1
  %p6 = getelementptr %job, ptr %job, i64 0, i32 6
  %x64 = load i64, ptr %p6
  %p7 = getelementptr %job, ptr %job, i64 0, i32 7
  %y64 = load i64, ptr %p7
  %p8 = getelementptr %job, ptr %job, i64 0, i32 8
  %z64 = load i64, ptr %p8
  %x = trunc i64 %x64 to i32
  %y = trunc i64 %y64 to i32
  %z = trunc i64 %z64 to i32
  call void %entry(ptr %arguments, ptr %job, i64 %first, i64 %last, i32 %x, i32 %y, i32 %z)
  ret void
}

; Stops a job: no more programs are started.
define internal void @stop(ptr %job) {
  %p5 = getelementptr %job, ptr %job, i64 0, i32 5
  %count = load i64, ptr %p5
  %p12 = getelementptr %job, ptr %job, i64 0, i32 12
  %regions = load ptr, ptr %p12
  br label %head
head:
  %n = phi i64 [ 0, %0 ], [ %n_next, %body ]
  %has_next = icmp slt i64 %n, %count
  br i1 %has_next, label %body, label %done
body:
  %region = getelementptr %region, ptr %regions, i64 %n
  %end = load i64, ptr %region
  %p_next = getelementptr %region, ptr %region, i64 0, i32 1
  store atomic i64 %end, ptr %p_next monotonic, align 8
  %n_next = add i64 %n, 1
  br label %head
done:
  ret void
}

; Runs programs of all regions, those of the thread's own region first: until there are none left
; (true), or until a time (false); 0 is no time.
define internal i1 @take_programs(ptr %job, i64 %thread, i64 %until) {
  %p5 = getelementptr %job, ptr %job, i64 0, i32 5
  %count = load i64, ptr %p5
  %p12 = getelementptr %job, ptr %job, i64 0, i32 12
  %regions = load ptr, ptr %p12
  br label %head
head:
  %n = phi i64 [ 0, %0 ], [ %n_next, %body ]
  %has_next = icmp slt i64 %n, %count
  br i1 %has_next, label %body, label %done
body:
  %sum = add i64 %thread, %n
  %number = urem i64 %sum, %count
  %region = getelementptr %region, ptr %regions, i64 %number
  %n_next = add i64 %n, 1
  %is_empty = call i1 @take_region(ptr %job, ptr %region, i64 %until)
  br i1 %is_empty, label %head, label %late
done:
  ret i1 true
late:
  ret i1 false
}

; The number of programs that are taken at once adapts to their time: between half a millisecond and
; ten; fewer when few are left, so that all threads end at about the same time.
define internal i1 @take_region(ptr %job, ptr %region, i64 %until) {
  %total = load i64, ptr %region
  %p4 = getelementptr %region, ptr %region, i64 0, i32 1
  %has_end = icmp ne i64 %until, 0
  %start = call i64 @now()
  br label %head
head:
  %wanted = phi i64 [ 1, %0 ], [ %wanted_next, %check ]
  %before = phi i64 [ %start, %0 ], [ %time, %check ]
  %taken = load atomic i64, ptr %p4 monotonic, align 8
  %left = sub i64 %total, %taken
  %part = sdiv i64 %left, 8
  %at_most = call i64 @llvm.smax.i64(i64 %part, i64 1)
  %size = call i64 @llvm.smin.i64(i64 %wanted, i64 %at_most)
  %first = atomicrmw add ptr %p4, i64 %size monotonic
  %has_next = icmp slt i64 %first, %total
  br i1 %has_next, label %body, label %done
body:
  %sum = add i64 %first, %size
  %last = call i64 @llvm.smin.i64(i64 %sum, i64 %total)
  call void @run_programs(ptr %job, i64 %first, i64 %last)
  %time = call i64 @now()
  %took = sub i64 %time, %before
  %is_short = icmp slt i64 %took, 500000
  %is_long = icmp sgt i64 %took, 10000000
  %larger = shl i64 %size, 1
  %half = lshr i64 %size, 1
  %smaller = call i64 @llvm.smax.i64(i64 %half, i64 1)
  %size_up = select i1 %is_short, i64 %larger, i64 %size
  %wanted_next = select i1 %is_long, i64 %smaller, i64 %size_up
  %is_over = icmp sgt i64 %time, %until
  %is_late = and i1 %has_end, %is_over
  br i1 %is_late, label %late, label %check
check:
  br label %head
done:
  ret i1 true
late:
  ret i1 false
}

declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.smax.i64(i64, i64)

; The poll function of safepoints. A program returns if field 16 is set after the call. The launching
; thread checks for signals, as Python does between two instructions. An exception of a handler is
; stored in the job. All registers are preserved, so that the program's loops need not spill theirs.
define internal preserve_allcc void @poll(ptr %job) PRESERVING {
  %p16 = getelementptr %job, ptr %job, i64 0, i32 16
  %p14 = getelementptr %job, ptr %job, i64 0, i32 14
  %owner = load ptr, ptr %p14
  %self = call ptr @pthread_self()
  %is_owner = icmp eq ptr %owner, %self
  br i1 %is_owner, label %check, label %resume_work
check:
  %p15 = getelementptr %job, ptr %job, i64 0, i32 15
  %due = load i64, ptr %p15
  %time = call i64 @now()
  %is_due = icmp sge i64 %time, %due
  br i1 %is_due, label %signals, label %resume_work
signals:
  %next = add i64 %time, 50000000
  store i64 %next, ptr %p15
  %held = call i32 @PyGILState_Ensure()
  %raised = call i32 @PyErr_CheckSignals()
  %is_raised = icmp ne i32 %raised, 0
  br i1 %is_raised, label %keep, label %release
keep:
  %type = getelementptr %job, ptr %job, i64 0, i32 17, i64 0
  %value = getelementptr %job, ptr %job, i64 0, i32 17, i64 1
  %traceback = getelementptr %job, ptr %job, i64 0, i32 17, i64 2
  call void @PyErr_Fetch(ptr %type, ptr %value, ptr %traceback)
  store atomic i64 1, ptr %p16 monotonic, align 8
  call void @stop(ptr %job)
  br label %release
release:
  call void @PyGILState_Release(i32 %held)
  br label %resume_work
resume_work:
  ret void
}

; A worker thread: it joins each job once. It spins for SPIN_NS nanoseconds before it sleeps, because
; waking it up is slow.
define void @eas_worker(ptr %pool) {
  %condition = getelementptr %pool, ptr %pool, i64 0, i32 1
  %done_condition = getelementptr %pool, ptr %pool, i64 0, i32 2
  %open = getelementptr %pool, ptr %pool, i64 0, i32 3
  %opened = getelementptr %pool, ptr %pool, i64 0, i32 6
  %begun = getelementptr %pool, ptr %pool, i64 0, i32 7
  %p_sleeps = getelementptr %pool, ptr %pool, i64 0, i32 8
  %others = atomicrmw add ptr %begun, i64 1 monotonic
  %self = add i64 %others, 1
  br label %begin
begin:
  %last = phi i64 [ 0, %0 ], [ %number, %join ], [ %number, %wake ], [ %number, %missed ]
  %start = call i64 @now()
  %until = add i64 %start, SPIN_NS
  br label %spin
spin:
  %newest = load atomic i64, ptr %opened monotonic, align 8
  %is_new = icmp ne i64 %newest, %last
  %time = call i64 @now()
  %is_late = icmp sgt i64 %time, %until
  %is_over = or i1 %is_new, %is_late
  br i1 %is_over, label %lock, label %spin
lock:
  %locked = call i32 @pthread_mutex_lock(ptr %pool)
  br label %check
check:
  %job = load ptr, ptr %open
  %is_open = icmp ne ptr %job, null
  %number = load i64, ptr %opened
  %is_other = icmp ne i64 %number, %last
  br i1 %is_other, label %check_open, label %wait
check_open:
  br i1 %is_open, label %join, label %missed
missed:
  %unlocked_again = call i32 @pthread_mutex_unlock(ptr %pool)
  br label %begin
wait:
  %woken = call i32 @pthread_cond_wait(ptr %condition, ptr %pool)
  br label %check
join:
  %active = getelementptr %job, ptr %job, i64 0, i32 9
  %before = atomicrmw add ptr %active, i64 1 acquire
  %unlocked = call i32 @pthread_mutex_unlock(ptr %pool)
  %done = call i1 @take_programs(ptr %job, i64 %self, i64 0)
  %after = atomicrmw sub ptr %active, i64 1 seq_cst
  %sleeps = load atomic i64, ptr %p_sleeps seq_cst, align 8
  %is_asleep = icmp ne i64 %sleeps, 0
  br i1 %is_asleep, label %wake, label %begin
wake:
  %locked_again = call i32 @pthread_mutex_lock(ptr %pool)
  %awake = call i32 @pthread_cond_broadcast(ptr %done_condition)
  %unlocked_at_last = call i32 @pthread_mutex_unlock(ptr %pool)
  br label %begin
}

; Works on a job for some time; gives 1 if it is finished, 0 if it has to be called again.
; A small job does not use the pool: the first SERIAL_NS nanoseconds run on the launching thread only.
define i32 @eas_work(ptr %pool, ptr %job) {
  %deadline = alloca { i64, i64 }
  %start = call i64 @now()
  %until = add i64 %start, 50000000
  %serial_until = add i64 %start, SERIAL_NS
  %p13 = getelementptr %job, ptr %job, i64 0, i32 13
  store ptr @poll, ptr %p13
  %p18 = getelementptr %job, ptr %job, i64 0, i32 18
  store ptr @eas_report_fault, ptr %p18
  %p19 = getelementptr %job, ptr %job, i64 0, i32 19
  store ptr @eas_report_lanes, ptr %p19
  %p20 = getelementptr %job, ptr %job, i64 0, i32 20
  store ptr @eas_report_strided, ptr %p20
  %p21 = getelementptr %job, ptr %job, i64 0, i32 21
  store ptr @eas_report_record, ptr %p21
  %self = call ptr @pthread_self()
  %p14 = getelementptr %job, ptr %job, i64 0, i32 14
  store ptr %self, ptr %p14
  %p15 = getelementptr %job, ptr %job, i64 0, i32 15
  store i64 %until, ptr %p15
  %p3 = getelementptr %job, ptr %job, i64 0, i32 3
  %total = load i64, ptr %p3
  %p4 = getelementptr %job, ptr %job, i64 0, i32 4
  %p5 = getelementptr %job, ptr %job, i64 0, i32 5
  %p10 = getelementptr %job, ptr %job, i64 0, i32 10
  %state = load i64, ptr %p10
  %p11 = getelementptr %job, ptr %job, i64 0, i32 11
  %p_long = load ptr, ptr %p11
  %p12 = getelementptr %job, ptr %job, i64 0, i32 12
  %is_fresh = icmp eq i64 %state, 0
  br i1 %is_fresh, label %fresh, label %resume
resume:
  %p16 = getelementptr %job, ptr %job, i64 0, i32 16
  %cancelled_before = load atomic i64, ptr %p16 monotonic, align 8
  %is_cancelled = icmp ne i64 %cancelled_before, 0
  br i1 %is_cancelled, label %cancel, label %resume_work
cancel:
  call void @stop(ptr %job)
  br label %resume_work
fresh:
  store i64 1, ptr %p5
  store ptr %p3, ptr %p12
  %long = load i64, ptr %p_long
  %is_known = icmp sge i64 %total, %long
  br i1 %is_known, label %open, label %serial
serial:
  %size = phi i64 [ 1, %fresh ], [ %twice, %count ]
  %first = load i64, ptr %p4
  %has_some = icmp slt i64 %first, %total
  br i1 %has_some, label %some, label %finished
some:
  %sum = add i64 %first, %size
  %last = call i64 @llvm.smin.i64(i64 %sum, i64 %total)
  store i64 %last, ptr %p4
  call void @run_programs(ptr %job, i64 %first, i64 %last)
  %is_last = icmp sge i64 %last, %total
  br i1 %is_last, label %finished, label %count
count:
  %twice = shl i64 %size, 1
  %time = call i64 @now()
  %is_long = icmp sgt i64 %time, %serial_until
  br i1 %is_long, label %learn, label %serial
learn:
  store i64 %total, ptr %p_long
  br label %open
open:
  %done_now = load i64, ptr %p4
  %left = sub i64 %total, %done_now
  %p_workers = getelementptr %pool, ptr %pool, i64 0, i32 5
  %workers = load i64, ptr %p_workers
  store i64 1, ptr %p10
  %has_workers = icmp sgt i64 %workers, 0
  %is_enough = icmp sgt i64 %left, 1
  %is_wanted = and i1 %has_workers, %is_enough
  br i1 %is_wanted, label %claim, label %resume_work
claim:
  %p_used = getelementptr %pool, ptr %pool, i64 0, i32 4
  %pair = cmpxchg ptr %p_used, i64 0, i64 1 acquire monotonic
  %is_ours = extractvalue { i64, i1 } %pair, 1
  br i1 %is_ours, label %publish, label %resume_work
publish:
  store i64 2, ptr %p10
  %threads = add i64 %workers, 1
  %regions = getelementptr %pool, ptr %pool, i64 0, i32 10
  store i64 %threads, ptr %p5
  store ptr %regions, ptr %p12
  br label %divide
divide:
  %thread = phi i64 [ 0, %publish ], [ %thread_next, %divide ]
  %begin = phi i64 [ %done_now, %publish ], [ %end_of_region, %divide ]
  %thread_next = add i64 %thread, 1
  %before_next = mul i64 %left, %thread_next
  %part = udiv i64 %before_next, %threads
  %end_of_region = add i64 %done_now, %part
  %region = getelementptr %region, ptr %regions, i64 %thread
  store i64 %end_of_region, ptr %region
  %p_next = getelementptr %region, ptr %region, i64 0, i32 1
  store i64 %begin, ptr %p_next
  %is_last_region = icmp eq i64 %thread_next, %threads
  br i1 %is_last_region, label %announce, label %divide
announce:
  %locked = call i32 @pthread_mutex_lock(ptr %pool)
  %p_open = getelementptr %pool, ptr %pool, i64 0, i32 3
  store ptr %job, ptr %p_open
  %p_opened = getelementptr %pool, ptr %pool, i64 0, i32 6
  %opened = load i64, ptr %p_opened
  %opened_now = add i64 %opened, 1
  store atomic i64 %opened_now, ptr %p_opened monotonic, align 8
  %p_condition = getelementptr %pool, ptr %pool, i64 0, i32 1
  %woken = call i32 @pthread_cond_broadcast(ptr %p_condition)
  %unlocked = call i32 @pthread_mutex_unlock(ptr %pool)
  br label %resume_work
resume_work:
  %is_done = call i1 @take_programs(ptr %job, i64 0, i64 %until)
  br i1 %is_done, label %close, label %unfinished
close:
  %now_state = load i64, ptr %p10
  %is_open = icmp eq i64 %now_state, 2
  br i1 %is_open, label %withdraw, label %finished
withdraw:
  %locked_again = call i32 @pthread_mutex_lock(ptr %pool)
  %p_open_job = getelementptr %pool, ptr %pool, i64 0, i32 3
  store ptr null, ptr %p_open_job
  %unlocked_again = call i32 @pthread_mutex_unlock(ptr %pool)
  %p9 = getelementptr %job, ptr %job, i64 0, i32 9
  %withdrawn = call i64 @now()
  %spin_until = add i64 %withdrawn, SPIN_NS
  br label %wait
wait:
  %active = load atomic i64, ptr %p9 acquire, align 8
  %is_idle = icmp eq i64 %active, 0
  br i1 %is_idle, label %release, label %spin
spin:
  %waiting = call i64 @now()
  %is_long_wait = icmp sgt i64 %waiting, %spin_until
  br i1 %is_long_wait, label %sleep, label %wait
sleep:
  %p_done_condition = getelementptr %pool, ptr %pool, i64 0, i32 2
  %p_sleeps = getelementptr %pool, ptr %pool, i64 0, i32 8
  call void @deadline(ptr %deadline)
  %locked_to_sleep = call i32 @pthread_mutex_lock(ptr %pool)
  store atomic i64 1, ptr %p_sleeps seq_cst, align 8
  br label %recheck
recheck:
  %timed_out = phi i32 [ 0, %sleep ], [ %risen, %sleep_on ]
  %still_active = load atomic i64, ptr %p9 seq_cst, align 8
  %is_done_now = icmp eq i64 %still_active, 0
  %is_time = icmp ne i32 %timed_out, 0
  %is_risen = or i1 %is_done_now, %is_time
  br i1 %is_risen, label %rise, label %sleep_on
sleep_on:
  %risen = call i32 @pthread_cond_timedwait(ptr %p_done_condition, ptr %pool, ptr %deadline)
  br label %recheck
rise:
  store atomic i64 0, ptr %p_sleeps monotonic, align 8
  %unlocked_risen = call i32 @pthread_mutex_unlock(ptr %pool)
  br i1 %is_done_now, label %release, label %check_cancelled
check_cancelled:  ; of a cancelled job, all workers are waited for
  %p_cancelled = getelementptr %job, ptr %job, i64 0, i32 16
  %cancelled = load atomic i64, ptr %p_cancelled monotonic, align 8
  %is_left = icmp eq i64 %cancelled, 0
  br i1 %is_left, label %unfinished, label %sleep
release:
  store i64 1, ptr %p10
  %end = call i64 @now()
  %is_short = icmp slt i64 %end, %serial_until
  br i1 %is_short, label %forget, label %free
forget:
  store i64 9223372036854775807, ptr %p_long
  br label %free
free:
  %p_claim = getelementptr %pool, ptr %pool, i64 0, i32 4
  store atomic i64 0, ptr %p_claim release, align 8
  br label %finished
finished:
  ret i32 1
unfinished:
  ret i32 0
}

; Of the faults of several programs that of the first program is reported, so that every launch
; reports the same. Word 12 of the report is a lock, words 14 and 15 are the number of the program.
define internal void @eas_report_fault(ptr %report, i32 %site, i32 %x, i32 %y, i32 %z, i32 %extent_x, i32 %extent_y, i32 %lane, i64 %value, i64 %length) {
entry:
  %x64 = zext i32 %x to i64
  %y64 = zext i32 %y to i64
  %z64 = zext i32 %z to i64
  %ex64 = zext i32 %extent_x to i64
  %ey64 = zext i32 %extent_y to i64
  %planes = mul i64 %z64, %ey64
  %rows = add i64 %planes, %y64
  %before = mul i64 %rows, %ex64
  %program = add i64 %before, %x64
  %p12 = getelementptr i32, ptr %report, i64 12
  %p14 = getelementptr i32, ptr %report, i64 14
  br label %lock
lock:
  %pair = cmpxchg ptr %p12, i32 0, i32 1 acquire monotonic
  %is_locked = extractvalue { i32, i1 } %pair, 1
  br i1 %is_locked, label %check, label %lock
check:
  %known = load atomic i32, ptr %report monotonic, align 4
  %is_first = icmp eq i32 %known, 0
  %known_program = load atomic i64, ptr %p14 monotonic, align 8
  %is_earlier = icmp slt i64 %program, %known_program
  %is_new_first = or i1 %is_first, %is_earlier
  br i1 %is_new_first, label %keep, label %end
keep:
  store atomic i64 %program, ptr %p14 monotonic, align 8
  %p8 = getelementptr i32, ptr %report, i64 8
  store i64 %value, ptr %p8
  %p10 = getelementptr i32, ptr %report, i64 10
  store i64 %length, ptr %p10
  %p1 = getelementptr i32, ptr %report, i64 1
  store i32 %x, ptr %p1
  %p2 = getelementptr i32, ptr %report, i64 2
  store i32 %y, ptr %p2
  %p3 = getelementptr i32, ptr %report, i64 3
  store i32 %z, ptr %p3
  %p4 = getelementptr i32, ptr %report, i64 4
  store i32 %lane, ptr %p4
  %number = add i32 %site, 1
  store atomic i32 %number, ptr %report release, align 4
  br label %end
end:
  store atomic i32 0, ptr %p12 release, align 4
  ret void
}

; Whether an active lane of a vector is out of bounds; the first of them is reported. The numbers of
; the lanes and their values are in memory,
define internal i1 @eas_report_lanes(ptr %report, i32 %site, i32 %x, i32 %y, i32 %z, i32 %extent_x, i32 %extent_y, ptr %lanes, ptr %values, i64 %low, i64 %size, i64 %active, i64 %count, i64 %length) {
entry:
  br label %head
head:
  %n = phi i64 [ 0, %entry ], [ %n_next, %body ]
  %has_next = icmp slt i64 %n, %count
  br i1 %has_next, label %body, label %end
body:
  %p_value = getelementptr i64, ptr %values, i64 %n
  %value = load i64, ptr %p_value, align 8
  %p_lane = getelementptr i32, ptr %lanes, i64 %n
  %lane = load i32, ptr %p_lane, align 4
  %shifted = lshr i64 %active, %n
  %is_active = trunc i64 %shifted to i1
  %failed = call i1 @report_lane(ptr %report, i32 %site, i32 %x, i32 %y, i32 %z, i32 %extent_x, i32 %extent_y, i32 %lane, i64 %value, i64 %low, i64 %size, i1 %is_active, i64 %length)
  %n_next = add i64 %n, 1
  br i1 %failed, label %found, label %head
found:
  ret i1 true
end:
  ret i1 false
}

; or strided.
define internal i1 @eas_report_strided(ptr %report, i32 %site, i32 %x, i32 %y, i32 %z, i32 %extent_x, i32 %extent_y, i32 %lane_start, i32 %lane_step, i64 %start, i64 %step, i64 %low, i64 %size, i64 %active, i64 %count, i64 %length) {
entry:
  br label %head
head:
  %n = phi i64 [ 0, %entry ], [ %n_next, %body ]
  %lane = phi i32 [ %lane_start, %entry ], [ %lane_next, %body ]
  %value = phi i64 [ %start, %entry ], [ %value_next, %body ]
  %has_next = icmp slt i64 %n, %count
  br i1 %has_next, label %body, label %end
body:
  %shifted = lshr i64 %active, %n
  %is_active = trunc i64 %shifted to i1
  %failed = call i1 @report_lane(ptr %report, i32 %site, i32 %x, i32 %y, i32 %z, i32 %extent_x, i32 %extent_y, i32 %lane, i64 %value, i64 %low, i64 %size, i1 %is_active, i64 %length)
  %n_next = add i64 %n, 1
  %lane_next = add i32 %lane, %lane_step
  %value_next = add i64 %value, %step
  br i1 %failed, label %found, label %head
found:
  ret i1 true
end:
  ret i1 false
}

define internal i1 @report_lane(ptr %report, i32 %site, i32 %x, i32 %y, i32 %z, i32 %extent_x, i32 %extent_y, i32 %lane, i64 %value, i64 %low, i64 %size, i1 %is_active, i64 %length) {
  %distance = sub i64 %value, %low
  %is_outside = icmp uge i64 %distance, %size
  %has_failed = and i1 %is_outside, %is_active
  br i1 %has_failed, label %found, label %end
found:
  call void @eas_report_fault(ptr %report, i32 %site, i32 %x, i32 %y, i32 %z, i32 %extent_x, i32 %extent_y, i32 %lane, i64 %value, i64 %length)
  br label %end
end:
  ret i1 %has_failed
}

define internal ptr @eas_report_record(ptr %report, i32 %size, i32 %site, i32 %x, i32 %y, i32 %z, i32 %lane) {
  %p_capacity = getelementptr i32, ptr %report, i64 5
  %capacity = load i32, ptr %p_capacity
  %p_needed = getelementptr i32, ptr %report, i64 6
  %start = atomicrmw add ptr %p_needed, i32 %size monotonic
  %end = add i32 %start, %size
  %fits = icmp ule i32 %end, %capacity
  br i1 %fits, label %write, label %full
write:
  %at = add i32 %start, 16
  %at64 = zext i32 %at to i64
  %record = getelementptr i32, ptr %report, i64 %at64
  store i32 %site, ptr %record
  %p1 = getelementptr i32, ptr %record, i64 1
  store i32 %x, ptr %p1
  %p2 = getelementptr i32, ptr %record, i64 2
  store i32 %y, ptr %p2
  %p3 = getelementptr i32, ptr %record, i64 3
  store i32 %z, ptr %p3
  %p4 = getelementptr i32, ptr %record, i64 4
  store i32 %lane, ptr %p4
  ret ptr %record
full:
  %p_lost = getelementptr i32, ptr %report, i64 7
  %lost = atomicrmw add ptr %p_lost, i32 1 monotonic
  ret ptr null
}
