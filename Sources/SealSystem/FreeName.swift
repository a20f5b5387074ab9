#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Gives a file the name `name` where nothing has it yet, in one step where the file system has one for that.
/// - Returns: false with the reason in `errno`: `EEXIST` where something has the name. The file has its own still then.
public func rename(_ file: String, toFree name: String) -> Bool {
    #if canImport(Glibc)
        // RENAME_NOREPLACE, which Swift does not import.
        let isNamed = renameat2(AT_FDCWD, file, AT_FDCWD, name, 1) == 0
    #else
        let isNamed = renamex_np(file, name, UInt32(RENAME_EXCL)) == 0
    #endif
    guard !isNamed, [EINVAL, ENOSYS, ENOTSUP].contains(errno) else { return isNamed }
    // A hard link is one step too.
    if link(file, name) == 0 {
        unlink(file)
        return true
    }
    guard [EPERM, ENOSYS, ENOTSUP, EMLINK].contains(errno) else { return false }
    // A file system that has neither: between look and name there is a moment.
    guard access(name, F_OK) != 0 else {
        errno = EEXIST
        return false
    }
    return rename(file, name) == 0
}
