; What consumers of DLPack call to let go of a tensor, from any thread, with or without the GIL, also
; while Python shuts down: then nothing is freed any more, because the process ends.

declare i32 @Py_IsInitialized()
declare i32 @PyGILState_Ensure()
declare void @PyGILState_Release(i32)
declare void @Py_DecRef(ptr)
declare ptr @PyCapsule_GetName(ptr)
declare ptr @PyCapsule_GetPointer(ptr, ptr)

; The deleter of a DLManagedTensor: its `manager_ctx`, at byte 48, is a Python object that owns it.
define void @eas_dlpack_delete(ptr %managed) {
  %p = getelementptr i8, ptr %managed, i64 48
  %owner = load ptr, ptr %p
  call void @drop(ptr %owner)
  ret void
}

; The deleter of a DLManagedTensorVersioned, which has that at byte 8.
define void @eas_dlpack_delete_versioned(ptr %managed) {
  %p = getelementptr i8, ptr %managed, i64 8
  %owner = load ptr, ptr %p
  call void @drop(ptr %owner)
  ret void
}

define internal void @drop(ptr %owner) {
  %alive = call i32 @Py_IsInitialized()
  %is_alive = icmp ne i32 %alive, 0
  br i1 %is_alive, label %free, label %done
free:
  %held = call i32 @PyGILState_Ensure()
  call void @Py_DecRef(ptr %owner)
  call void @PyGILState_Release(i32 %held)
  br label %done
done:
  ret void
}

; The destructor of a capsule: one that nobody has consumed is named `dltensor` or
; `dltensor_versioned`, others begin with `used_`.
define void @eas_dlpack_close(ptr %capsule) {
  %name = call ptr @PyCapsule_GetName(ptr %capsule)
  %first = load i8, ptr %name
  %is_unused = icmp eq i8 %first, 100  ; d
  br i1 %is_unused, label %unused, label %done
unused:
  %managed = call ptr @PyCapsule_GetPointer(ptr %capsule, ptr %name)
  %p = getelementptr i8, ptr %name, i64 8
  %end = load i8, ptr %p
  %is_old = icmp eq i8 %end, 0
  br i1 %is_old, label %old, label %versioned
old:
  call void @eas_dlpack_delete(ptr %managed)
  br label %done
versioned:
  call void @eas_dlpack_delete_versioned(ptr %managed)
  br label %done
done:
  ret void
}
