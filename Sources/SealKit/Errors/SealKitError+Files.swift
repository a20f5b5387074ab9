import Foundation

extension SealKitError {
    /// What could not be written on this device: `storageFull` where there is no room for it, or none left for this
    /// user; otherwise `internalError`.
    /// - Parameters:
    ///   - reason: the system's, as in `errno`; 0 where it says none.
    ///   - remedy: where room is not what is missing.
    static func unwritten(_ what: String, _ reason: Int32, remedy: String) -> SealKitError {
        switch reason {
        case ENOSPC, EDQUOT:
            SealKitError(
                .storageFull, "this device's disk is full; \(what) was not written", remedy: "free some space")
        case 0: SealKitError(.internalError, "\(what) cannot be written", remedy: remedy)
        default:
            SealKitError(
                .internalError, "\(what) cannot be written (\(String(cString: strerror(reason))))", remedy: remedy)
        }
    }
}

extension Error {
    /// Why the system refused what one of Foundation's calls was to do, as in `errno`; 0 where it does not say.
    var systemReason: Int32 {
        let error = self as NSError
        if error.domain == NSPOSIXErrorDomain { return Int32(truncatingIfNeeded: error.code) }
        return (error.userInfo[NSUnderlyingErrorKey] as? any Error)?.systemReason ?? 0
    }
}
