import Hummingbird
import SealService
import SealStatements
import SealStorage
import SealWire
import SwiftProtobuf

extension AssetPlace {
    /// The zone and blob that the path names; `-` stands for the caller as owner.
    init(_ path: DatabasePath, _ context: SealRequestContext) throws(ServerError) {
        guard let owner = PercentEncoding.decode(context.pathParameters["owner"] ?? ""),
            let zone = PercentEncoding.decode(context.pathParameters["zone"] ?? ""), Names.isPlain(zone),
            Names.isPlain(owner),
            let id = context.pathParameters["id"], id.utf8.count == 32, BlobID(id) != nil
        else {
            throw ServerError(
                .invalidArguments, "The path does not name an asset.",
                remedy: "Use assets/{owner or -}/{zone}/{32 lower-case hexadecimal digits}.")
        }
        let zoneID = Sealkit_V1_ZoneID.with {
            $0.ownerName = owner == "-" ? "" : owner
            $0.zoneName = zone
        }
        self.init(path, zoneID, id: id)
    }
}
