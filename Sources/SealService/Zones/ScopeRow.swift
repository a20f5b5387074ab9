package import SealPrimitives
package import SealStatements
import SealStorage
package import SealWire
import SwiftProtobuf

/// One scope of a zone, as the database has it: the zone's own, or that of a hierarchical share in it. What rosters say
/// is a scope's: members, grants, links, and who asks for access.
package struct ScopeRow: Sendable {
    /// How far its roster has come, as the scope's own row has it.
    struct State: Sendable {
        var sequence: UInt64
        var head: Digest
        /// Members besides the owner, and open invitations.
        var participants: Int
        var isClosed: Bool
    }

    /// The zone that it is a scope of.
    package var zone: ZoneRow
    private var hierarchy: (share: ZoneShare, state: State)?

    /// The zone's own scope.
    package init(_ zone: ZoneRow) { self.zone = zone }

    init(_ zone: ZoneRow, share: ZoneShare, _ state: State) {
        self.zone = zone
        hierarchy = (share, state)
    }

    /// Nil for the zone's own scope.
    package var share: ZoneShare? { hierarchy?.share }

    /// The share's, or 0 for the zone's own scope.
    package var number: Int64 { hierarchy?.share.number ?? 0 }

    var state: State {
        get { hierarchy?.state ?? zone.own }
        set { if hierarchy == nil { zone.own = newValue } else { hierarchy?.state = newValue } }
    }

    package var sequence: UInt64 { state.sequence }
    package var head: Digest { state.head }
    package var isClosed: Bool { state.isClosed }

    /// The first three parameters of nearly every statement about what belongs to one scope.
    var key: [SQLValue] { zone.key + [.integer(number)] }

    package var id: Scope {
        Scope(
            container: zone.container, environment: zone.environment, owner: zone.ownerName, zoneName: zone.name,
            shareRecordName: share?.recordName ?? "")
    }

    package var scopeHead: Sealkit_V1_ScopeHead {
        .with {
            $0.zone = zone.wireID
            $0.shareRecordName = share?.recordName ?? ""
            $0.sequence = sequence
            $0.head = .init(head.bytes)
        }
    }
}
