import Foundation
import SealClient
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

/// A share's URLs between the server that keeps them, sealed, and the app that shows them.
extension ShareLinks {
    /// What the server keeps of a share's links, sealed as it is.
    static func stored(_ database: Database, view: ZoneView) async throws(SealKitError) -> Sealkit_V1_LinksResponse {
        let request = Sealkit_V1_LinksRequest.with {
            $0.zone = view.scope.zoneIDOnWire
            $0.shareRecordName = view.scope.shareRecordName
        }
        return try await database.core.call(database.scope, Endpoints.sharing.fetchLinks, request)
    }

    static func fetch(_ database: Database, view: ZoneView) async throws(SealKitError) -> ShareLinks {
        try await opened(stored(database, view: view), database, view: view)
    }

    /// What `stored` has given, verified and opened.
    static func opened(
        _ stored: Sealkit_V1_LinksResponse, _ database: Database, view: ZoneView
    ) async throws(SealKitError) -> ShareLinks {
        let core = database.core
        do throws(SealKitError) {
            return try verifying("a kept share URL") { () throws(SealError) in
                try ShareLinks(
                    Wire.LinksResponse(stored), keptBy: core.account.seeds, of: core.identity(), in: view.roster,
                    using: XWingHPKE.self)
            }
        } catch {
            throw await core.noted(error, scope: view.scope)
        }
    }

    /// Seals what the URLs show anew, where it is due (`renewed`).
    /// - Returns: of how many.
    @discardableResult
    func renewPreviews(
        _ preview: SharePreview, _ database: Database, view: ZoneView, isNewest: Bool
    ) async throws(SealKitError) -> Int {
        var random = SystemRandom()
        let wires = try editing(view) { () throws(ShareEditRefusal) in
            try renewed(
                preview, as: database.core.identity(), in: view.roster, isNewest: isNewest, time: currentTime(),
                random: &random)
        }
        try await ShareLinks.update(wires, database, view: view)
        return wires.count
    }

    /// The same of a share that was saved just now, by a roster that is asked for after its links.
    static func renewPreviews(
        _ preview: SharePreview, _ database: Database, _ keeper: ZoneKeeper
    ) async throws(SealKitError) {
        try await whileLinksGo { () async throws(SealKitError) in
            let links = try await fetch(database, view: try await keeper.current())
            try await links.renewPreviews(preview, database, view: try await keeper.refresh(), isNewest: true)
        }
    }

    /// Seals by the account's newest keys what was kept by those before.
    static func keepAnew(_ database: Database, view: ZoneView) async throws(SealKitError) {
        try await whileLinksGo { () async throws(SealKitError) in
            let stored = Wire.LinksResponse(try await stored(database, view: view))
            var random = SystemRandom()
            let wires = keptAnew(
                stored, by: database.core.account.seeds, scopeID: view.roster.scopeID, random: &random)
            try await update(wires, database, view: view)
        }
    }

    /// Whoever is put out, or leaves, takes a one-time URL along: an update that names it does nothing for the others
    /// either, and is made again.
    private static func whileLinksGo(_ body: () async throws(SealKitError) -> Void) async throws(SealKitError) {
        for _ in 1..<5 {
            do throws(SealKitError) { return try await body() } catch {
                guard error.code == .unknownItem else { throw error }
            }
        }
        try await body()
    }

    private static func update(
        _ wires: [Wire.Link], _ database: Database, view: ZoneView
    ) async throws(SealKitError) {
        guard !wires.isEmpty else { return }
        let request = Sealkit_V1_UpdateLinksRequest.with {
            $0.zone = view.scope.zoneIDOnWire
            $0.shareRecordName = view.scope.shareRecordName
            $0.links = wires.map { Sealkit_V1_Link($0) }
        }
        let _: Sealkit_V1_UpdateLinksResponse = try await database.core.call(
            database.scope, Endpoints.sharing.updateLinks, request)
    }

    /// Puts the URLs where the app looks for them.
    func write(to share: inout Share, view: ZoneView, origin: String) {
        let scopeID = view.roster.scopeID
        share.url = shareWide?.url(origin: origin, scopeID: scopeID)
        for case let invitation? in links.map(\.invitationID) {
            guard let link = oneTime(for: invitation, in: view.roster) else { continue }
            share.oneTimeURLs[invitation.hex] = link.url(origin: origin, scopeID: scopeID)
        }
    }
}
