public import Foundation
import SealKit

/// Answers what has to be asked of somebody who opens a share: what the system's windows ask on Apple's platforms. Not
/// CloudKit's.
public protocol CKShareInvitee: Sendable {
    /// The address that was invited, e-mail or phone: asked only where the share waits for one that is not linked yet.
    /// - Parameter isAgain: a code to the one before was not to be had.
    func address(isAgain: Bool) async throws -> String

    /// The code that was just sent.
    /// - Parameters:
    ///   - address: where it was sent to.
    ///   - expires: until when it is good.
    ///   - triesLeft: 5 at first; fewer after codes that were wrong.
    /// - Returns: nil to have another one sent, or to another address.
    func code(sentTo address: String, expires: Date, triesLeft: Int) async throws -> String?

    /// Shown the share before it is accepted.
    /// - Returns: false to leave it.
    func accepts(_ metadata: CKShare.Metadata) async throws -> Bool
}

extension CKContainer {
    /// What an app does about a share that its user has opened and accepted: what a scene's delegate does in
    /// `windowScene(_:userDidAcceptCloudKitShareWith:)`. Called by ``open(_:as:)``. Not CloudKit's.
    public var userDidAcceptShareHandler: (@Sendable (_ metadata: CKShare.Metadata) -> Void)? {
        get { core.shareHandler.value }
        set { core.shareHandler.value = newValue }
    }

    /// For an app that received a share's URL: looks at the share, has the invited address proven where that is due,
    /// shows it, accepts it, and calls ``userDidAcceptShareHandler``. An app that accepts it once more there gets the
    /// share. Not CloudKit's.
    /// - Returns: nil where `invitee` left it.
    /// - Throws: what `invitee` throws; `permissionFailure` after too many wrong codes; what `shareMetadata(for:)` and
    ///   `accept(_:)` throw.
    @discardableResult
    public func open(_ url: URL, as invitee: some CKShareInvitee) async throws -> CKShare? {
        let metadata: CKShare.Metadata
        do { metadata = try await shareMetadata(for: url) } catch CKError.participantMayNeedVerification {
            try await prove(url, as: invitee)
            metadata = try await shareMetadata(for: url)
        }
        guard try await invitee.accepts(metadata) else { return nil }
        let share = try await accept(metadata)
        if let handler = userDidAcceptShareHandler { await HandlerQueue.make().called { handler(metadata) } }
        return share
    }

    private func prove(_ url: URL, as invitee: some CKShareInvitee) async throws {
        let verification = CKShareVerification(core, url: url.absoluteString)
        var isAgain = false
        while true {
            let address = try await invitee.address(isAgain: isAgain)
            let sent = try await verification.begin(address: address)
            var triesLeft = Verification.tries
            while let code = try await invitee.code(sentTo: address, expires: sent.expires, triesLeft: triesLeft) {
                do { return try await sent.complete(code) } catch CKError.permissionFailure where triesLeft > 1 {
                    triesLeft -= 1
                }
            }
            isAgain = true
        }
    }
}
