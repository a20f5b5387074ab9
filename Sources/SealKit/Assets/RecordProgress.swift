/// Who is told how far the uploads of each record are, from 0 to 1, on any thread: CloudKit's `perRecordProgressBlock`.
///
/// <!-- swift: @MainActor final class Bar { var value = 0.0 }; let bars: [Record.ID: Bar] -->
/// ```swift
/// let each = RecordProgress { recordID, fraction in Task { @MainActor in bars[recordID]?.value = fraction } }
/// try await database.modifyRecords(saving: notes, perRecordProgress: each)
/// ```
/// A type and no closure, so that a closure behind the call is still the progress of all.
public struct RecordProgress: Sendable {
    let tell: @Sendable (_ recordID: Record.ID, _ fraction: Double) -> Void

    /// - Parameter tell: called on any thread, with the record and how much of its new files was sent, from 0 to 1.
    public init(_ tell: @escaping @Sendable (_ recordID: Record.ID, _ fraction: Double) -> Void) { self.tell = tell }
}
