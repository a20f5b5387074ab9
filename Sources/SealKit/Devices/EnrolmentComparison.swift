import Foundation
import SealEnvelope
import SealPrimitives

/// What two devices show that are being enrolled, one by the other. If it differs, somebody stands between them.
public struct EnrolmentComparison: Sendable, Hashable {
    /// Six digits for the users to compare.
    public let code: String
    /// All of it, 43 characters, for one device to scan off the other: nobody can make it alike.
    public let transcript: String

    init(_ transcript: Enrolment.Transcript) {
        code = transcript.code
        self.transcript = Base64URL.encode(transcript.hash.bytes)
    }
}

extension Enrolment.Transcript {
    /// - Throws: `integrityFailure` when what was scanned is another device's.
    func confirmed(scanning text: String) throws(SealKitError) -> Enrolment.Confirmed {
        do {
            return try confirmed(
                byScanning: try Digest(try Base64URL.decode(text.trimmingCharacters(in: .whitespacesAndNewlines))))
        } catch {
            throw SealKitError.standsBetween
        }
    }
}

extension SealKitError {
    static let standsBetween = SealKitError(
        .integrityFailure, "the two devices do not see the same enrolment: somebody may stand between them",
        remedy: "begin again on the new device; if it happens again, distrust the server")
}
