/// The files of a page that came, and those that could not be had by an error that is of one file, or of the device or
/// the server.
struct FeedFiles {
    private var hasCome = false
    private var failures = 0
    private var first: SealKitError?

    mutating func note(_ result: Result<Record, SealKitError>, of record: Record) {
        guard record.hasAssets else { return }
        switch result {
        case .success: hasCome = true
        case .failure(let error) where error.code == .internalError:
            failures += 1
            first = first ?? error.about(record.recordID.recordName)
        case .failure: break
        }
    }

    /// Several, and none that came: that is no matter of one file, and a token past them would leave them behind.
    var failure: SealKitError? { failures > 1 && !hasCome ? first : nil }
}

extension Record {
    fileprivate var hasAssets: Bool {
        fields.contains { if case .asset = $0.value { true } else { false } }
    }
}
