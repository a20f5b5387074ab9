import Foundation
package import SealPrimitives
package import SealStatements
package import SealStorage
package import SealWire
import SwiftProtobuf

/// A zone as the database has it: one row for ever, whatever becomes of the zone. For what belongs to one of its scopes
/// see `ScopeRow`.
package struct ZoneRow: Sendable {
    package let owner: Int64
    /// Within its owner.
    package let number: Int64
    package let container: String
    package let environment: Environment
    package let ownerName: UserID
    package let name: String
    /// The last place given out in the zone's feed, which statements and roster entries share.
    package var position: Int64
    package var incarnation: UInt32
    /// How far the roster of the zone's own scope has come.
    var own: ScopeRow.State
    /// Who wants to hear of changes here: kept right by `Watch`, so that a save that nobody waits for costs nothing.
    package var watch: Watch = []
    /// The highest number that a hierarchical share has here. Zero, as in nearly all zones: every record is in the
    /// zone's own scope, and nothing has to be asked about others.
    package var shares: Int64 = 0
    /// The server's run in which the zone's feed last changed; see `ServerRuns`.
    package var run: Int64
    /// What whoever the row was read for sees of the zone.
    package var sight = Sight.everything

    package static let columns = """
        z.owner, z.zone, z.container, z.environment, z.owner_name, z.name, z.position, z.incarnation, z.sequence, z.head, \
        z.participants, z.closed, z.watched, z.shares, z.run
        """

    package init(_ row: any SQLRow) throws {
        owner = try row.int64("owner")
        number = try row.int64("zone")
        container = try row.text("container")
        environment = try row.environment("environment")
        ownerName = try UserID(recordName: try row.text("owner_name"))
        name = try row.text("name")
        position = try row.int64("position")
        incarnation = UInt32(truncatingIfNeeded: try row.int64("incarnation"))
        own = ScopeRow.State(
            sequence: UInt64(bitPattern: try row.int64("sequence")), head: try Digest(try row.bytes("head")),
            participants: Int(try row.int64("participants")), isClosed: try row.bool("closed"))
        watch = Watch(rawValue: try row.int64("watched"))
        shares = try row.int64("shares")
        run = try row.int64("run")
    }

    /// The first two parameters of nearly every statement.
    package var key: [SQLValue] { [.integer(owner), .integer(number)] }

    /// Of its own scope.
    package var head: Digest { own.head }
    /// Whether the zone has ended, and with it all of its scopes.
    package var isClosed: Bool { own.isClosed }

    /// Nobody else takes part in it, or is invited.
    var isOwnersAlone: Bool { own.participants == 0 && shares == 0 }

    /// Whether it may be that more see it than a change tells by itself (`ZoneTouch`): its own scope says how many it
    /// has, and nothing here says that of its shares.
    var mayHaveManyViewers: Bool { shares > 0 || own.participants + 1 > ZoneTouch.mostAtOnce }

    /// As with CloudKit, the default zone saves each record by itself.
    package var isAtomic: Bool { name != Names.defaultZone }

    // MARK: As it travels

    package var wireID: Sealkit_V1_ZoneID {
        .with {
            $0.zoneName = name
            $0.ownerName = ownerName.recordName
        }
    }

    /// Of its own scope.
    package var scopeHead: Sealkit_V1_ScopeHead { ScopeRow(self).scopeHead }

    package var wire: Sealkit_V1_Zone {
        .with {
            $0.zoneID = wireID
            // As with CloudKit, custom zones can do everything, the default zone promises nothing.
            $0.capabilities = name == Names.defaultZone ? 0 : 15
            if case .shares(let shares, _) = sight {
                $0.shares = shares.map(\.scopeHead)
            } else {
                $0.scope = scopeHead
            }
            $0.shared = own.participants > 0
            $0.changeTag = ChangeTag.text(position)
        }
    }
}

/// Change tags: a place in the zone's feed in base 36. Opaque to clients.
enum ChangeTag {
    static func text(_ position: Int64) -> String { String(position, radix: 36) }
}
