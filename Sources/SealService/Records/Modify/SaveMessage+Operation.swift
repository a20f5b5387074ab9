import SealWire
import SwiftProtobuf

extension SaveMessage {
    /// What the request asks for, without its values: each statement covers its record's.
    var operationContent: [UInt8] {
        var content = WireWriter(capacity: records.count * 1_024 + 256)
        content.text(1, head.zone.ownerName)
        content.text(2, head.zone.zoneName)
        content.number(3, head.atomic ? 1 : 0)
        content.blob(4, [UInt8](head.signature))
        content.number(8, head.rekeying ? 1 : 0)
        if head.restoring { content.number(10, 1) }
        for record in records {
            content.text(5, record.recordName)
            content.text(6, record.changeTag)
            content.blob(7, record.statement)
        }
        for opening in head.openings {
            content.blob(8, [UInt8](opening.open.signature))
            if opening.hasFollowing { content.blob(10, (try? opening.following.serializedBytes()) ?? []) }
        }
        for closing in head.closings { content.blob(9, [UInt8](closing.close.signature)) }
        return content.bytes
    }
}
