package import Foundation
package import SealStorage
package import SealWire

/// Where what changes a zone's rosters, links and requests, and the beginning of an upload to it, is at home: in that
/// zone. It relies on the caller's session, and changes what is stored for whoever pays for the zone, and for the
/// caller, whose answers are kept and whose requests and uploads are counted.
package struct ZoneHome: Sendable {
    private let account: Int64
    /// Nil where no zone was found: then there is nothing to be changed.
    private let zone: (owner: Int64, number: Int64, bill: Int64)?

    /// The zone is another one than that which was found.
    fileprivate struct Elsewhere: Error {}

    fileprivate init(_ zone: ZoneRow?, by session: Session, in connection: any SQLConnection) throws {
        account = session.accountID
        self.zone = try zone.map { ($0.owner, $0.number, try StorageUsage.account(of: $0, in: connection)) }
    }

    fileprivate var own: Home {
        guard let zone else { return .account(account) }
        return .zone(owner: zone.owner, zone: zone.number)
    }

    fileprivate var beside: Set<Home> {
        guard let zone else { return [] }
        return [.account(account), .bill(account), .bill(zone.bill)]
    }

    /// To be called before anything is changed, with the zone that it is changed in.
    package func check(_ zone: ZoneRow) throws {
        guard let own = self.zone, own.owner == zone.owner, own.number == zone.number else { throw Elsewhere() }
    }
}

extension Transactions {
    /// A transaction in a session's name about one zone, at home there. Whoever turns out to be about another
    /// zone, or comes second to a row that a key protects, has everything to itself the second time.
    /// - Parameters:
    ///   - find: the zone, from what was committed before.
    ///   - body: checks the zone that it finds itself by `home`; nil where it has everything.
    package func write<T: Sendable>(
        as session: Session, inZone find: @escaping @Sendable (any SQLConnection) throws -> ZoneRow?,
        _ body: @escaping @Sendable (_ connection: any SQLConnection, _ home: ZoneHome?) throws -> T
    ) async throws -> T {
        let home = try await read { connection in
            let zone: ZoneRow?
            // Why there is none is said in the transaction, after the answer to what was done before.
            do { zone = try find(connection) } catch is ServerError { zone = nil }
            return try ZoneHome(zone, by: session, in: connection)
        }
        do {
            return try await write(as: session, at: home.own, beside: home.beside) { try body($0, home) }
        } catch is ZoneHome.Elsewhere {
        } catch StorageError.constraint {
        }
        return try await write(as: session, at: .everything) { try body($0, nil) }
    }

    /// The same for a zone that the caller names.
    package func write<T: Sendable>(
        as session: Session, in zone: Sealkit_V1_ZoneID, _ path: DatabasePath,
        _ body: @escaping @Sendable (_ connection: any SQLConnection, _ home: ZoneHome?) throws -> T
    ) async throws -> T {
        // A public database's may have to be made.
        guard path.database != .public else {
            return try await write(as: session, at: .everything) { try body($0, nil) }
        }
        return try await write(
            as: session,
            inZone: { connection in
                let caller = try Caller(session, container: path.container, in: connection)
                return try Zones.visible(zone, to: caller, path, in: connection)
            }, body)
    }

    /// The same for the zone behind a share's URL.
    package func write<T: Sendable>(
        as session: Session, behind routingID: Data,
        _ body: @escaping @Sendable (_ connection: any SQLConnection, _ home: ZoneHome?) throws -> T
    ) async throws -> T {
        try await write(
            as: session, inZone: { try StoredLinks.find(routingID, in: $0)?.scope.zone }, body)
    }
}
