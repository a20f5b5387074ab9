public import Foundation
import SealClient
import SealEnvelope
import SealPrimitives
import SealWire
import SwiftProtobuf

/// Answers what has to be asked of somebody who comes with a share's URL and may not be known to the server yet: an
/// app's sheets, or a terminal.
public protocol Invitee: Sendable {
    /// The address that was invited, e-mail or phone. Asked only where the share waits for one that is not linked yet.
    /// - Parameter isAgain: a code to the one before was not to be had.
    func address(isAgain: Bool) async throws(SealKitError) -> String

    /// The code that was just sent.
    /// - Parameters:
    ///   - address: where it was sent to.
    ///   - expires: until when it is good.
    ///   - triesLeft: 5 at first; fewer after codes that were wrong.
    /// - Returns: nil to have another one sent, or to another address.
    func code(sentTo address: String, expires: Date, triesLeft: Int) async throws(SealKitError) -> String?
}

extension Share {
    /// The server that a share's URL belongs to. Somebody without an account makes one there:
    ///
    /// ```swift
    /// let transport = try HTTPTransport(server: try Share.server(of: url))
    /// try await Share.requireSeatForNewcomer(url, transport: transport)
    /// let (account, recoveryKey) = try await Account.create(transport: transport, in: store)
    /// show(recoveryKey.text())
    /// let container = try Container("org.example.notes", account: account, trust: trust)
    /// let zoneID = try await container.accept(url, as: invitee)
    /// ```
    /// - Throws: `invalidArguments` for a URL that is cut short or altered.
    public static func server(of url: String) throws(SealKitError) -> String {
        try verifying("the URL") { () throws(SealError) in try ShareURL(url) }.origin
    }

    /// That somebody without an account could accept a share, before they make one for it: an invitation is good once,
    /// and until it expires or is taken back. It is the server's word, which is not told the URL's secret part.
    /// - Throws: `unknownItem` for a URL that is used up, leads nowhere, is for somebody who has an account, or is that
    ///   of a whole share that is not public;
    ///   `invalidArguments` for one that is cut short or altered, or of another server; `networkFailure`.
    public static func requireSeatForNewcomer(
        _ url: String, transport: any Transport
    ) async throws(SealKitError) {
        let url = try verifying("the URL") { () throws(SealError) in try ShareURL(url) }
        guard url.origin == transport.origin else { throw SealKitError(ShareRefusal.otherServer, behind: url) }
        do throws(SealKitError) {
            let _: Sealkit_V1_AccountResponse = try await Client(transport: transport).call(
                Endpoints.sharing.newcomer,
                Sealkit_V1_ShareMetadataRequest.with { $0.routingID = Data(url.routingID.bytes) })
        } catch {
            guard error.code == .unknownItem else { throw error }
            throw SealKitError(
                .unknownItem, "the share's URL leads to no seat for somebody without an account",
                remedy: "if it was made for an account that you have, accept it with that one; else the invitation was "
                    + "accepted already, taken back, or has expired, or this is not your own one-time URL: ask whoever "
                    + "sent it for a new one")
        }
    }
}

extension Container {
    /// The whole way from a share's URL to its zone: looks at the share, has the invited address proven where that is
    /// due, and accepts.
    ///
    /// - Parameters:
    ///   - url: the share's, whole.
    ///   - invitee: who is asked.
    ///   - language: of the message with the code; nil for this device's.
    ///   - willAccept: shown the share before it is accepted; throw to leave it.
    /// - Returns: the zone, which is in the shared database from now on.
    /// - Throws: what `invitee` and `willAccept` throw; `verificationFailed` after too many wrong codes; `unknownItem`
    ///   where there is no open invitation, or it was made for another address; what
    ///   ``shareMetadata(for:)`` and ``accept(_:token:)`` throw.
    @discardableResult
    public func accept(
        _ url: String, as invitee: some Invitee, language: String? = nil,
        willAccept: (Share.Metadata) async throws(SealKitError) -> Void = { (_) throws(SealKitError) in }
    ) async throws(SealKitError) -> RecordZone.ID {
        var token: VerificationToken?
        let metadata: Share.Metadata
        do throws(SealKitError) {
            metadata = try await shareMetadata(for: url)
        } catch let error where error.code == .participantMayNeedVerification {
            token = try await prove(url, as: invitee, language: language)
            do throws(SealKitError) {
                metadata = try await shareMetadata(for: url)
            } catch let error where error.code == .participantMayNeedVerification {
                throw SealKitError(
                    .unknownItem, "the share waits for another address than the one that was proven",
                    remedy: "prove the address that the invitation was sent to, or ask who sent it for a new one")
            }
        }
        try await willAccept(metadata)
        return try await accept(metadata, token: token)
    }

    private func prove(
        _ url: String, as invitee: some Invitee, language: String?
    ) async throws(SealKitError) -> VerificationToken {
        var isAgain = false
        while true {
            let address = try await invitee.address(isAgain: isAgain)
            let verification = try await beginVerification(of: address, for: url, language: language)
            var triesLeft = Verification.tries
            while let code = try await invitee.code(
                sentTo: address, expires: verification.expires, triesLeft: triesLeft)
            {
                do throws(SealKitError) {
                    return try await verification.complete(code: code)
                } catch let error where error.code == .verificationFailed {
                    triesLeft -= 1
                    guard triesLeft > 0 else { throw error }
                }
            }
            isAgain = true
        }
    }
}
