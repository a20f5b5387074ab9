import SealClient
import SealStatements
import SealWire

/// What came of zones' feeds in one answer, with what was known of each zone when it was asked about. Nothing of it is
/// verified.
struct FeedAnswer: Sendable {
    struct Zone: Sendable {
        let zoneID: RecordZone.ID
        let known: ZoneGround
        let outcome: Result<Wire.RecordChangesResponse, SealKitError>
    }

    /// In the order in which they were asked about.
    var zones: [Zone] = []
    /// Why some were not asked about.
    var unasked: [RecordZone.ID: SealKitError] = [:]
}

/// What is asked of feeds: each zone's, from where it was read to.
typealias FeedQuestion = [RecordZone.ID: Database.ZoneChangesConfiguration]

/// By which request feeds are asked.
enum FeedRoute {
    /// A zone by itself.
    case alone
    /// Several zones in one request.
    case together
}

extension Database {
    /// The answer, which may be on its way already.
    /// - Throws: why nothing could be asked.
    func answer(to question: FeedQuestion, by route: FeedRoute) async throws(SealKitError) -> FeedAnswer {
        guard let answer = ahead?.take(question, of: self) else { return try await ask(question, by: route) }
        // As whoever asks now would be.
        try core.requireAccess(to: scope)
        return try await answer.value()
    }

    /// Asks for what comes after these parts, where the reading goes on to the end. The answer is waited for by nobody
    /// until the same question is asked.
    func askAhead(after pages: [FeedPage], of question: FeedQuestion, by route: FeedRoute) {
        // Where a zone has failed, how it goes on is its reader's to say, and another question than this one.
        guard let ahead, pages.count == question.count else { return }
        var next: FeedQuestion = [:]
        for page in pages where page.response.moreComing {
            next[page.zoneID] = page.configuration
            next[page.zoneID]?.previousServerChangeToken = page.end
        }
        guard !next.isEmpty else { return }
        ahead.ask(next, of: self, by: route)
    }

    /// Asks the server.
    func ask(_ question: FeedQuestion, by route: FeedRoute) async throws(SealKitError) -> FeedAnswer {
        switch route {
        case .alone:
            var answer = FeedAnswer()
            for (zoneID, configuration) in question {
                let (request, known) = try await request(zoneID, configuration)
                let outcome: Result<Wire.RecordChangesResponse, SealKitError>
                do throws(SealKitError) {
                    outcome = .success(try await core.call(scope, Endpoints.records.changes, request))
                } catch {
                    outcome = .failure(error)
                }
                answer.zones.append(FeedAnswer.Zone(zoneID: zoneID, known: known, outcome: outcome))
            }
            return answer
        case .together: return try await askTogether(question)
        }
    }

    private func askTogether(_ question: FeedQuestion) async throws(SealKitError) -> FeedAnswer {
        var answer = FeedAnswer()
        var zones = ZoneOutcomes()
        var asked: [(zoneID: RecordZone.ID, known: ZoneGround)] = []
        var message = Sealkit_V1_ZonesRecordChangesRequest()
        let moment = try await core.trust.moment()
        for (zoneID, configuration) in question {
            do {
                let (request, known) = try await request(zoneID, configuration, asked: moment)
                message.zones.append(request)
                asked.append((zoneID, known))
                zones.succeeded()
            } catch {
                zones.failed(error)
                answer.unasked[zoneID] = error
            }
        }
        try zones.throwCommonFailure()
        guard !asked.isEmpty else { return answer }
        let response: Wire.ZonesRecordChangesResponse = try await core.call(
            scope, Endpoints.records.changesOfZones, message)
        guard response.zones.count == asked.count else {
            throw SealKitError(
                .serverRejectedRequest, "the server answered \(response.zones.count) of \(asked.count) zones")
        }
        answer.zones = zip(asked, response.zones).map { zone, answered in
            FeedAnswer.Zone(zoneID: zone.zoneID, known: zone.known, outcome: answered.changes(of: zone.zoneID))
        }
        return answer
    }
}

extension Wire.ZoneRecordChanges {
    fileprivate func changes(of zoneID: RecordZone.ID) -> Result<Wire.RecordChangesResponse, SealKitError> {
        switch outcome {
        case .changes(let given): .success(given)
        case .failure(let failure): .failure(SealKitError(failure))
        case nil:
            .failure(
                SealKitError(.serverRejectedRequest, "the server's answer says nothing of the zone \(zoneID)"))
        }
    }
}
