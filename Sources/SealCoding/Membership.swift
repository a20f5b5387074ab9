public import SealPrimitives
public import SealStatements
public import SealWire
import SwiftProtobuf

import struct Foundation.Data

extension IdentityChain {
    /// The chain, verified. - Throws: as `IdentityChain.init(verifying:container:)`.
    public init(_ wire: Sealkit_V1_IdentityChain, container: String) throws(SealError) {
        try self.init(
            verifying: wire.identities.map {
                SignedIdentity(
                    bytes: [UInt8]($0.statement), signature: [UInt8]($0.signature),
                    previousSignature: [UInt8]($0.previousSignature))
            }, container: container)
    }

    public var wire: Sealkit_V1_IdentityChain {
        .with { chain in
            chain.identities = signed.map { link in
                .with {
                    $0.statement = Data(link.bytes)
                    $0.signature = Data(link.signature)
                    $0.previousSignature = Data(link.previousSignature)
                }
            }
        }
    }
}

extension SignedRosterEntry {
    public init(_ wire: Sealkit_V1_SignedEntry) {
        self.init(bytes: [UInt8](wire.entry), signature: [UInt8](wire.signature))
    }

    public var wire: Sealkit_V1_SignedEntry {
        .with {
            $0.entry = Data(bytes)
            $0.signature = Data(signature)
        }
    }
}

extension Sealkit_V1_Grant {
    public init(subject: GrantSubject, epoch: UInt32, sealed: [UInt8]) {
        self.init()
        subjectKind = UInt32(subject.kind)
        self.subject = Data(subject.id.bytes)
        self.epoch = epoch
        self.sealed = Data(sealed)
    }

    /// - Throws: `malformed`, `invalidLength`.
    public func grantSubject() throws(SealError) -> GrantSubject {
        guard let kind = UInt8(exactly: subjectKind) else { throw .malformed }
        return try GrantSubject(kind: kind, id: ID16(subject))
    }
}
