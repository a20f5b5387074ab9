#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What this process has of the machine's memory, with files that it has mapped; nil where the system does not say.
public func residentBytes() -> UInt64? {
    #if canImport(Glibc)
        guard let file = fopen("/proc/self/statm", "re") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = fread(&bytes, 1, bytes.count, file)
        let fields = bytes.prefix(count).split(separator: UInt8(ascii: " "))
        guard fields.count > 1, let pages = UInt64(String(decoding: fields[1], as: UTF8.self)) else { return nil }
        return pages * UInt64(max(0, sysconf(Int32(_SC_PAGESIZE))))
    #else
        var usage = rusage()
        // The most that it ever had, which is all that every system says.
        return getrusage(RUSAGE_SELF, &usage) == 0 ? UInt64(max(0, usage.ru_maxrss)) : nil
    #endif
}
