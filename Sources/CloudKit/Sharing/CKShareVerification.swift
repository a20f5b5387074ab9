public import Foundation
import SealKit

/// In the user information of a `participantMayNeedVerification`: the `CKShareVerification`. Not CloudKit's.
public let CKErrorShareVerificationKey = "CKErrorShareVerification"

extension CKError {
    /// With `participantMayNeedVerification`: how to prove the address that was invited. Not CloudKit's, where the
    /// system asks for it.
    public var shareVerification: CKShareVerification? {
        userInfo[CKErrorShareVerificationKey] as? CKShareVerification
    }
}

/// The proof that an address that was invited is the caller's, for a share that waits for somebody without an account.
/// Not CloudKit's, where the system's own windows do this.
///
/// <!-- swift: let container: CKContainer; let url: URL -->
/// ```swift
/// do {
///     _ = try await container.shareMetadata(for: url)
/// } catch let error as CKError where error.code == .participantMayNeedVerification {
///     let code = try await error.shareVerification?.begin(address: "ann@example.org")
///     try await code?.complete("1234 5678")
///     // From here on the share's metadata can be fetched.
/// }
/// ```
public final class CKShareVerification: NSObject, Sendable {
    private let core: ContainerCore
    private let url: String

    init(_ core: ContainerCore, url: String) { (self.core, self.url) = (core, url) }

    /// A code that is on its way.
    public struct Code: Sendable {
        fileprivate let verification: Verification
        fileprivate let core: ContainerCore
        fileprivate let url: String

        /// When it stops being good.
        public var expires: Date { verification.expires }

        /// From here on the address is linked to the account, and the share can be looked at and accepted.
        /// - Parameter code: spaces and hyphens in it do not count.
        /// - Throws: `permissionFailure`, whatever was wrong: the code, its age, the number of tries (5).
        public func complete(_ code: String) async throws {
            try await core.inWords {
                let token = try await verification.complete(code: code)
                core.proofs.withLock { $0[url] = token }
            }
        }
    }

    /// Has a code sent to an e-mail address or a phone number. The answer is the same whether or not anybody invited
    /// it.
    /// - Parameters:
    ///   - address: the one that was invited.
    ///   - language: BCP 47, of the message; nil for this device's.
    /// - Throws: `invalidArguments` for what is no address; `requestRateLimited`.
    public func begin(address: String, language: String? = nil) async throws -> Code {
        try await core.inWords {
            let verification = try await core.container().beginVerification(of: address, for: url, language: language)
            return Code(verification: verification, core: core, url: url)
        }
    }
}
