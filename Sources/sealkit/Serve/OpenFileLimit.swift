import Foundation

/// How many files and connections the system lets this process have open.
enum OpenFileLimit {
    /// Raises the limit as far as anybody may: the usual one, 1,024, is fewer than the devices that listen to one
    /// server.
    ///
    /// Where the system does not let it, the server runs with what there is.
    static func raise() {
        var limit = rlimit()
        #if canImport(Glibc)
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let resource = RLIMIT_NOFILE
        #endif
        guard getrlimit(resource, &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
        limit.rlim_cur = limit.rlim_max
        _ = setrlimit(resource, &limit)
    }
}
