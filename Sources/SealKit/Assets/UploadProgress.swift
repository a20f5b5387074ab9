/// Who is told how far the uploads of a zone's batch are.
struct UploadProgress: Sendable {
    /// Bytes of all of them.
    let all: (@Sendable (_ sent: Int64, _ total: Int64) -> Void)?
    let perRecord: RecordProgress?

    static let nobody = UploadProgress(all: nil, perRecord: nil)
}
