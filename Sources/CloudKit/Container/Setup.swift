public import Foundation
public import SealKit

extension CKContainer {
    /// On whose behalf the containers of this process work, and where: what an entitlement and the system's account say
    /// on Apple's platforms. Not CloudKit's; see ``configure(_:)``.
    public struct Setup: Sendable {
        /// Who is signed in.
        public enum Account: Sendable {
            /// As the app says, now and later.
            case provider(AccountProvider)
            /// As a key store has it, read when it is first needed.
            /// - Parameters:
            ///   - trustFile: what this device has verified; nil keeps that in memory.
            ///   - certificateAuthorityFile: a PEM file of the authority that signed the server's certificate, where
            ///     the system does not know it.
            case keyStore(any KeyStore, trustFile: URL?, certificateAuthorityFile: String? = nil)
        }

        public var account: Account
        /// Of `CKContainer.default()`.
        public var containerIdentifier: String?
        public var environment: Container.Environment
        /// What this module keeps: which notification was told last, and long-lived operations, sealed. Beside the
        /// account's keys, say; one process at a time has its operations. Nil keeps neither longer than the process,
        /// and no long-lived operation begins.
        public var stateFolder: URL?

        /// - Parameters:
        ///   - account: who is signed in.
        ///   - containerIdentifier: of `CKContainer.default()`: letters, digits, dots and hyphens.
        ///   - environment: development, where record types appear when they are first saved, or production.
        ///   - stateFolder: of what this module keeps; nil for nothing. An account provider brings the journal of
        ///     long-lived operations by itself (`AccountProvider.signIn(_:trust:journal:replacing:)`).
        public init(
            account: Account, containerIdentifier: String? = nil, environment: Container.Environment = .development,
            stateFolder: URL? = nil
        ) {
            self.account = account
            self.containerIdentifier = containerIdentifier
            self.environment = environment
            self.stateFolder = stateFolder
        }

        /// The same account in the same place.
        func isSame(as other: Setup) -> Bool {
            guard containerIdentifier == other.containerIdentifier, environment == other.environment,
                stateFolder == other.stateFolder
            else { return false }
            switch (account, other.account) {
            case (.provider(let one), .provider(let other)): return one === other
            case (
                .keyStore(let one, let trust, let authority), .keyStore(let other, let otherTrust, let otherAuthority)
            ):
                let isSameStore =
                    if let one = one as? FileKeyStore, let other = other as? FileKeyStore {
                        one.file == other.file
                    } else {
                        (one as AnyObject) === (other as AnyObject)
                    }
                return isSameStore && trust == otherTrust && authority == otherAuthority
            default: return false
            }
        }
    }
}
