#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Gives a file the name `name` where nothing has it yet, in one step where the file system has one for that.
/// - Returns: false with the reason in `errno`: `EEXIST` where something has the name. The file has its own still then.
public func rename(_ file: String, toFree name: String) -> Bool {
    // A hard link fails where a rename would silently replace.
    if link(file, name) == 0 {
        unlink(file)
        return true
    }
    guard [EPERM, ENOSYS, ENOTSUP, EMLINK].contains(errno) else { return false }
    // A file system without: between look and name there is a moment.
    guard access(name, F_OK) != 0 else {
        errno = EEXIST
        return false
    }
    return rename(file, name) == 0
}
