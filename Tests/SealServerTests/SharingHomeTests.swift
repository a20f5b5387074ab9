import SealStatements
import SealWire
import Testing

@testable import SealServer
@testable import SealStorage

/// Where what changes rosters is at home, which PostgreSQL commits beside each other.
@Suite(.timeLimit(.minutes(60))) struct SharingHomeTests {
    @Test func whatIsSharedIsAtHomeInItsZone() async throws {
        let hook = WriteHook()
        try await RunningServer.with(hook: hook) { server in
            let (anna, bert, carl) = (
                try await Person.ready(server), try await Person.ready(server), try await Person.ready(server)
            )
            var zone = try await anna.makeSharedZone("notes")
            func areInZone(_ count: Int) -> Bool {
                let homes = hook.takeHomes()
                return homes.count == count && homes.allSatisfy { if case .zone = $0 { true } else { false } }
            }
            _ = hook.takeHomes()
            // Inviting, and accepting.
            try await anna.share(&zone, with: bert)
            #expect(areInZone(2))
            try await anna.updateLinks(zone)
            #expect(areInZone(1))
            try await anna.updateAccess(zone, allows: true)
            #expect(areInZone(1))
            let routing = [UInt8](try await anna.links(zone).links[0].routingID)
            try await carl.ask(routing)
            #expect(areInZone(1))
            try await anna.updateAccess(zone, denied: [carl.user.recordName])
            #expect(areInZone(1))
            _ = try await anna.unsettled(in: zone)
            #expect(areInZone(1))
            try await anna.remove(bert, from: &zone)
            #expect(areInZone(1))
        }
    }

    /// Who asks for what there is not holds up nobody.
    @Test func whatIsRefusedHasNothingOfOthers() async throws {
        let hook = WriteHook()
        try await RunningServer.with(hook: hook) { server in
            let (anna, carl) = (try await Person.ready(server), try await Person.ready(server))
            let zone = try await anna.makeSharedZone("notes")
            _ = hook.takeHomes()
            let codes = [
                try await refusal { try await carl.updateLinks(zone) },
                try await refusal { try await carl.ask([UInt8](repeating: 7, count: 16)) },
            ]
            #expect(codes == [.zoneNotFound, .unknownItem])
            let homes = hook.takeHomes()
            let inAccounts = homes.count { if case .account = $0 { true } else { false } }
            #expect(homes.count == 2)
            #expect(inAccounts == 2)
        }
    }

    /// The link is another zone's by the time that it is taken: what would be said at home in the former one is said
    /// with everything.
    @Test func whatIsAboutAnotherZoneByThenHasEverything() async throws {
        let hook = WriteHook()
        try await RunningServer.with(hook: hook) { server in
            let (anna, bert) = (try await Person.ready(server), try await Person.ready(server))
            var zone = try await anna.makeSharedZone("notes")
            _ = try await anna.makeZone("other")
            let invitation = try anna.invitation(to: bert, in: zone)
            try await anna.append(
                try anna.next(on: zone, invitations: [invitation.draft]), to: &zone, links: [invitation.link])
            let (request, _) = try bert.acceptRequest(invitation, in: zone)
            _ = hook.takeHomes()
            hook.arm {
                try $0.execute("UPDATE link SET zone = (SELECT z.zone FROM zone z WHERE z.name = 'other')")
            }
            let code = try await refusal { try await bert.send(request) }
            #expect(code != nil)
            let homes = hook.takeHomes()
            #expect(homes.count == 2)
            #expect(homes.last == .everything)
        }
    }
}
