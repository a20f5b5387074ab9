package import SealPrimitives
import SealWire

extension ServerError {
    /// What a client is told when the core refuses what it sent.
    /// - Parameter what: "The roster entry", "The statement": the subject of the sentence.
    package init(_ error: SealError, in what: String) {
        switch error {
        case .notNextEntry: self = .rosterChanged
        case .unknownRosterHead:
            self.init(
                .rosterChanged, "\(what) cites a roster head that the server does not have.",
                remedy: "Fetch the roster's tail and sign again.")
        case .staleEpoch: self = .staleEpoch
        case .changeNotPermitted:
            self.init(
                .permissionFailure, "\(what) makes a change that its author has no right to make.",
                remedy: "Ask the owner or an administrator to make it.")
        case .authorNotPermitted:
            self.init(
                .permissionFailure, "\(what) is by somebody who may not write here.",
                remedy: "Ask the zone's owner for the permission to write.")
        case .changeNotApplicable:
            self.init(
                .invalidArguments, "\(what) contradicts the roster's state.",
                remedy: "Fetch the roster's tail and look at its members and invitations.")
        case .epochRequired:
            self.init(
                .integrityFailure, "\(what) opens no epoch where one is required, or one that may not be opened.",
                remedy: "Open a new epoch in the entry that takes a right away, numbered one above the current one.")
        case .coverageMismatch:
            self.init(
                .integrityFailure, "\(what) does not cover exactly the active members and open invitations.",
                remedy: "Seal a grant for each of them and no other.")
        case .tooManyParticipants:
            self.init(
                .tooManyParticipants, "A zone takes at most 100 participants besides its owner.",
                remedy: "Remove participants or revoke invitations first.")
        case .wrongContext:
            self.init(
                .invalidArguments, "\(what) is about another record, zone, owner, environment or container.",
                remedy: "Sign for the place that the request names.")
        case .invalidSignature, .invalidKey, .invalidIdentity, .invalidProof, .fieldMismatch, .keyMismatch,
            .authenticationFailed:
            self.init(
                .integrityFailure, "\(what) has a signature, key or hash that does not hold.",
                remedy: "Send the bytes as they were signed.")
        case .unsupported:
            self.init(
                .incompatibleVersion, "\(what) has something that this version of the server does not know.",
                remedy: "Upgrade the server.")
        default:
            self.init(
                .invalidArguments, "\(what) is not well formed.",
                remedy: "Encode names, lengths and order as PROTOCOL.md says.")
        }
    }

    package static let rosterChanged = ServerError(
        .rosterChanged, "The roster has moved on.", remedy: "Fetch its tail, make the entry again and send it.")

    package static let staleEpoch = ServerError(
        .staleEpoch, "A statement cites an epoch that is not the current one.",
        remedy: "Fetch the roster's tail and your grant, then seal under the current epoch.")

    package static let rotationDue = ServerError(
        .rotationDue, "A member left or changed keys.", remedy: "Open a new epoch first, then write.")

    /// Runs a check of the core, translating what it refuses.
    package static func checking<T>(_ what: String, _ body: () throws(SealError) -> T) throws(ServerError) -> T {
        do {
            return try body()
        } catch {
            throw ServerError(error, in: what)
        }
    }
}
