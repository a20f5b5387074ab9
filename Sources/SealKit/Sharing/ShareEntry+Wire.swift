import Foundation
import SealClient
import SealCoding
import SealEnvelope
import SealWire
import SwiftProtobuf

extension ShareEntry<XWingHPKE> {
    /// Without zone and operation.
    var onWire: Sealkit_V1_AppendRosterRequest {
        .with {
            $0.entry = draft.entry.wire
            $0.grants = draft.grants.map(\.wire)
            $0.links = links.map { Sealkit_V1_Link($0) }
            $0.sealedLinks = sealedLinks.map { copy in
                .with { ($0.reader, $0.sealed) = (Data(copy.reader), Data(copy.sealed)) }
            }
            $0.addresses = addresses.map { placeholder in
                .with { ($0.invitationID, $0.address) = (Data(placeholder.invitationID), placeholder.address) }
            }
        }
    }
}

extension Sealkit_V1_Link {
    init(_ link: Wire.Link) {
        self = .with {
            $0.routingID = Data(link.routingID)
            $0.invitationID = Data(link.invitationID)
            $0.keptSecret = Data(link.keptSecret)
            $0.preview = Data(link.preview)
        }
    }
}

extension Wire.LinksResponse {
    init(_ wire: Sealkit_V1_LinksResponse) {
        self = .with {
            $0.links = wire.links.map { link in
                .with {
                    $0.routingID = [UInt8](link.routingID)
                    $0.invitationID = [UInt8](link.invitationID)
                    $0.keptSecret = [UInt8](link.keptSecret)
                    $0.preview = [UInt8](link.preview)
                }
            }
            $0.sealedLink = [UInt8](wire.sealedLink)
        }
    }
}
