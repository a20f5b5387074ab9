import SealEnvelope
import SealPrimitives
import SealStatements

extension Asset.Remote.Content {
    /// Whether these are a file's bytes: as they are, or sealed again under the asset's own key, they have the root
    /// that was signed. Nothing is fetched for that, and nothing that was sealed leaves this device.
    /// - Throws: `assetFileModified` for a file that is changed meanwhile.
    func isMade(of file: AssetFile) throws(SealKitError) -> Bool {
        let (size, root, cipher): (UInt64, Digest, AssetCipher?) =
            switch self {
            case .sealed(let asset): (asset.size, asset.root, AssetCipher(asset))
            case .plain(let asset): (asset.size, asset.root, nil)
            }
        guard file.size == size else { return false }
        let chunks = AssetChunks(file, cipher: cipher)
        try chunks.readAll()
        return try chunks.root() == root
    }
}
