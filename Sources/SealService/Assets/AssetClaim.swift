package import SealPrimitives
package import SealStatements
import SealWire

/// An asset that a record says it has.
package struct AssetClaim: Sendable {
    package enum Content: Sendable {
        case sealed(chunkCount: UInt64, root: Digest)
        case plain(PublicAsset)
    }

    package let field: String
    package let blob: String
    package let content: Content
}
