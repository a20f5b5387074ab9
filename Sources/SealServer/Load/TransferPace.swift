import SealStorage

/// How slowly something may come or go. What a slow one holds, others have not got.
struct TransferPace: Sendable, Equatable {
    /// Nothing is asked for before.
    var grace: Duration = .seconds(15)
    /// Bytes a second, from the beginning on; 0 where those that have gone cannot be told.
    var least = 1 << 10
    /// How long it may take as a whole; nil where that goes by its length.
    var longest: Duration?

    static let messageSeconds = 300

    /// A wire message on its way to the server.
    static let message = TransferPace(longest: .seconds(messageSeconds))
    /// A part of an upload: 8 MiB.
    static let part = TransferPace(longest: .seconds(1_800))
    /// An asset as a whole.
    static let asset = TransferPace()

    /// An answer: how much of it a client has taken is not seen here, so that it has as long as it takes at 8 KiB a
    /// second.
    static func answer(bytes: Int) -> TransferPace {
        TransferPace(least: 0, longest: .seconds(15 + bytes >> 13))
    }

    /// A chunk of a download, which waits until the one before it has gone: as long as that takes at 1 KiB a second.
    static let chunk = TransferPace(least: 0, longest: .seconds(15 + BlobContent.chunkSize >> 10))

    /// - Parameter bytes: that have come in that time.
    func isTooSlow(_ bytes: Int, after time: Duration) -> Bool {
        if let longest, time > longest { return true }
        return time > grace && bytes < least * Int(time.components.seconds)
    }
}
