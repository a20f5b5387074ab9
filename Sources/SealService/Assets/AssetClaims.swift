import SealStatements
package import SealStorage
import SealWire

/// The blobs that one save lays claim to.
package struct AssetClaims {
    package let caller: Caller
    package let zone: ZoneRow
    package let connection: any SQLConnection
    private var claimed: Set<String> = []

    package init(caller: Caller, zone: ZoneRow, connection: any SQLConnection) {
        self.caller = caller
        self.zone = zone
        self.connection = connection
    }

    /// Why a record may not have these blobs; nil when it may.
    package mutating func check(_ assets: [AssetClaim], of record: String) throws -> ServerError? {
        for asset in assets {
            guard let blob = try Blobs.find(asset.blob, in: zone, connection), let size = blob.size else {
                return Self.missing
            }
            let isFree = blob.record == nil && blob.uploader == caller.id
            let isItsOwn = blob.record == record && blob.field == asset.field
            guard isFree || isItsOwn else { return Self.missing }
            guard claimed.insert(asset.blob).inserted else {
                return ServerError(
                    .invalidArguments, "Two fields refer to one asset.", remedy: "Upload an asset for each field.")
            }
            switch asset.content {
            case .sealed(let chunkCount, let root):
                let chunks = try UploadLayout(blobBytes: size, isSealed: true).chunkCount
                guard UInt64(chunks) == chunkCount, blob.root == root else { return Self.another }
            case .plain(let asset):
                guard UInt64(size) == asset.size, blob.root == asset.root else { return Self.another }
            }
        }
        return nil
    }

    private static let missing = ServerError(
        .assetFileNotFound, "The caller has uploaded no such asset to this zone.",
        remedy: "Upload the asset first, then save its record within a day.")

    private static let another = ServerError(
        .assetFileModified, "The uploaded asset is not the one that the record was signed for.",
        remedy: "Upload the asset again.")
}
