/// Who is told how far the uploads of each record are, from 0 to 1, on any thread: CloudKit's `perRecordProgressBlock`.
///
/// ```swift
/// let each = RecordProgress { recordID, fraction in Task { @MainActor in bars[recordID]?.value = fraction } }
/// try await database.modifyRecords(saving: notes, perRecordProgress: each)
/// ```
/// A type and no closure, so that a closure behind the call is still the progress of all.
public struct RecordProgress: Sendable {
    let tell: @Sendable (_ recordID: Record.ID, _ fraction: Double) -> Void

    public init(_ tell: @escaping @Sendable (_ recordID: Record.ID, _ fraction: Double) -> Void) { self.tell = tell }
}
