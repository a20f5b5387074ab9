import Foundation
import SealClient
import SealPrimitives
import SealWire

/// A part of a zone's feed that leads on, with the zone's rosters at least as far as it cites them. None of its records
/// is verified yet.
struct FeedPage {
    let zoneID: RecordZone.ID
    /// What it was asked for by.
    let configuration: Database.ZoneChangesConfiguration
    let response: Wire.RecordChangesResponse
    let ground: ZoneGround
    /// Of what it is a part of.
    let reader: FeedReader
    let part: FeedReading.Part
    /// The moment at which a reading that began at the beginning did.
    let beganAt: Int64?
    /// Where it goes on.
    let end: ServerChangeToken
}

extension Database {
    /// A zone's part of its feed; what follows it is asked for where the reading goes on to the end.
    /// - Parameter reader: nil for the one that the app is in the middle of.
    func page(
        _ zoneID: RecordZone.ID, _ configuration: ZoneChangesConfiguration, _ reader: FeedReader? = nil
    ) async throws(SealKitError) -> FeedPage {
        let question = [zoneID: configuration]
        guard let zone = try await answer(to: question, by: .alone).zones.first else {
            throw SealKitError(.internalError, "a zone was not asked about")
        }
        let page = try await page(zone, configuration, reader)
        askAhead(after: [page], of: question, by: .alone)
        return page
    }

    /// - Throws: why the zone has no part in the answer; `serverRejectedRequest` for one that leads nowhere; as
    ///   `ZoneGround.settled`.
    func page(
        _ zone: FeedAnswer.Zone, _ configuration: ZoneChangesConfiguration, _ given: FeedReader? = nil,
        kind: FeedReading.Part.Kind = .records
    ) async throws(SealKitError) -> FeedPage {
        let response: Wire.RecordChangesResponse
        do throws(SealKitError) { response = try zone.outcome.get() } catch {
            throw await confirmed(error, zone.zoneID, known: RosterEnds(zone.known))
        }
        let start = configuration.previousServerChangeToken
        let reader =
            given
            ?? core.readers.reader(
                of: zone.known.zoneID.hex, at: start?.bytes, isWhole: start?.isFromBeginning ?? false)
        let part = reader.part(
            response.records, from: start?.bytes, to: Data(response.token), isMoreComing: response.moreComing, kind)
        try reader.check(part)
        let ground = try await zone.known.settled(by: response.scopes.map { Sealkit_V1_ScopeHead($0) }, core)
        let isToGoOn = reader.isWhole && response.moreComing
        let beganAt = start == nil ? zone.known.asked : start?.beganAt
        return FeedPage(
            zoneID: zone.zoneID, configuration: configuration, response: response, ground: ground, reader: reader,
            part: part, beganAt: beganAt,
            end: ServerChangeToken(
                bytes: Data(response.token), zone: ground.zoneID.hex, isFromBeginning: isToGoOn ? true : nil,
                beganAt: isToGoOn ? beganAt : nil))
    }
}
