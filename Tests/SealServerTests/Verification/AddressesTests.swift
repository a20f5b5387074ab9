import Foundation
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService

/// The addresses that an account has proven: seeing, showing and unlinking them.
@Suite(.timeLimit(.minutes(60))) struct AddressesTests {
    private func list(_ client: TestClient) async throws -> [Sealkit_V1_LinkedAddress] {
        try await client.call(
            "/1/addresses/list", Sealkit_V1_ListAddressesRequest(), as: Sealkit_V1_ListAddressesResponse.self
        ).addresses
    }

    private func setDiscoverable(
        _ isDiscoverable: Bool, _ handle: Sealkit_V1_AddressHandle, _ client: TestClient
    ) async throws -> Sealkit_V1_LinkedAddress {
        let request = Sealkit_V1_UpdateAddressRequest.with {
            $0.address = handle
            $0.isDiscoverable = isDiscoverable
        }
        return try await client.call("/1/addresses/update", request, as: Sealkit_V1_UpdateAddressResponse.self).address
    }

    private func unlink(_ handle: Sealkit_V1_AddressHandle, _ client: TestClient) async throws {
        _ = try await client.call(
            "/1/addresses/unlink", Sealkit_V1_UnlinkAddressRequest.with { $0.address = handle },
            as: Sealkit_V1_UnlinkAddressResponse.self)
    }

    private func isFound(_ address: String, by client: TestClient) async throws -> Bool {
        let request = Sealkit_V1_LookupIdentitiesRequest.with {
            $0.container = TestClient.container
            $0.handles = [.with { if address.hasPrefix("+") { $0.phone = address } else { $0.email = address } }]
        }
        let answer = try await client.call("/1/directory/lookup", request, as: Sealkit_V1_LookupIdentitiesResponse.self)
        return answer.results.first?.hasChain == true
    }

    private func link(_ address: String, to client: TestClient, discoverable: Bool = false, number: Int) async throws {
        let begun = try await client.begin(address)
        _ = try await client.complete(begun.verificationID, client.server.mail.code(number), discoverable: discoverable)
    }

    private func text(_ address: String) -> Sealkit_V1_AddressHandle { .with { $0.address = address } }
    private func id(_ id: Data) -> Sealkit_V1_AddressHandle { .with { $0.id = id } }

    @Test func anAddressIsFoundOnlyIfItsOwnerAllowsIt() async throws {
        try await RunningServer.with { server in
            let (alice, bob) = (try await TestClient.ready(server), try await TestClient.ready(server))
            try await link("Alice@example.org", to: alice, number: 1)
            let found1 = try await isFound("alice@example.org", by: bob)
            #expect(!found1, "not by default")
            let changed = try await setDiscoverable(true, text("ALICE@example.org"), alice)
            #expect(changed.isDiscoverable)
            #expect(changed.kind == "email")
            #expect(changed.id.count == 16)
            #expect(changed.linked == server.clock.now)
            let found2 = try await isFound("alice@example.org", by: bob)
            #expect(found2)
            // Proving it again, as for a share, hides nothing.
            try await link("alice@example.org", to: alice, number: 2)
            let found3 = try await isFound("alice@example.org", by: bob)
            #expect(found3)
            let off = try await setDiscoverable(false, id(changed.id), alice)
            #expect(!off.isDiscoverable)
            let found4 = try await isFound("alice@example.org", by: bob)
            #expect(!found4)
        }
    }

    @Test func anAddressMovesByBeingProvenAndBeginsHidden() async throws {
        try await RunningServer.with { server in
            let (alice, bob) = (try await TestClient.ready(server), try await TestClient.ready(server))
            try await link("a@example.org", to: alice, discoverable: true, number: 1)
            // Nobody takes it without proving it.
            try await expectRefusal(.unknownItem) { try await setDiscoverable(true, text("a@example.org"), bob) }
            try await unlink(text("a@example.org"), bob)
            #expect(try await list(alice).count == 1)
            let begun = try await bob.begin("a@example.org")
            try await expectRefusal(.verificationFailed) { try await bob.complete(begun.verificationID, "x") }
            #expect(try await list(alice).count == 1)
            _ = try await bob.complete(begun.verificationID, server.mail.code(2))
            let (alices, bobs) = (try await list(alice), try await list(bob))
            #expect(alices.isEmpty, "what its last holder allowed does not count")
            #expect(bobs.map(\.isDiscoverable) == [false], "what its last holder allowed does not count")
            let found = try await isFound("a@example.org", by: alice)
            #expect(!found)
        }
    }

    @Test func unlinking() async throws {
        try await RunningServer.with(sendsTexts: true) { server in
            let (alice, bob) = (try await TestClient.ready(server), try await TestClient.ready(server))
            try await link("a@example.org", to: alice, discoverable: true, number: 1)
            server.clock.advance(seconds: 1)
            let begun = try await alice.begin("+4930123456")
            _ = try await alice.complete(begun.verificationID, server.phones.code(1), discoverable: true)
            let both = try await list(alice)
            #expect(both.map(\.kind) == ["email", "phone"])
            let found1 = try await isFound("+4930123456", by: bob)
            #expect(found1)
            try await unlink(id(both[1].id), alice)
            let found2 = try await isFound("+4930123456", by: bob)
            #expect(!found2)
            try await unlink(text("A@Example.org"), alice)
            let found3 = try await isFound("a@example.org", by: bob)
            #expect(!found3)
            #expect(try await list(alice).isEmpty)
            #expect(try await alice.me().linkedAddresses == 0)
            // Again, and one that never was: nothing to tell apart.
            try await unlink(text("a@example.org"), alice)
            try await unlink(text("nobody@example.org"), alice)
            try await unlink(id(Data(count: 16)), alice)
            // It can be linked again.
            try await link("a@example.org", to: alice, number: 2)
            let again = try await list(alice)
            #expect(again.map(\.id) == [both[0].id] && again[0].isDiscoverable == false)
        }
    }

    @Test func handlesThatAreRefused() async throws {
        try await RunningServer.with { server in
            let alice = try await TestClient.ready(server)
            for handle in [
                Sealkit_V1_AddressHandle(), id(Data()), id(Data(count: 15)), id(Data(count: 17)), text(""),
                text("nobody"), text("a@b"),
            ] {
                try await expectRefusal(.invalidArguments) { try await setDiscoverable(true, handle, alice) }
                try await expectRefusal(.invalidArguments) { try await unlink(handle, alice) }
            }
            try await expectRefusal(.unknownItem) { try await setDiscoverable(true, text("a@example.org"), alice) }
            try await expectRefusal(.unknownItem) { try await setDiscoverable(true, id(Data(count: 16)), alice) }
        }
    }

    @Test func whoMayNeedVerification() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            var zone = try await anna.makeSharedZone()
            let (bert, carl, dora) = (
                try await Person.ready(server), try await Person.ready(server), try await Person.ready(server)
            )
            let berts = try anna.invitation(to: nil, in: zone)
            let doras = try anna.invitation(to: dora, in: zone)
            var shareWide = doras.link
            shareWide.invitationID = Data()
            try await anna.append(
                try anna.next(on: zone, invitations: [berts.draft, doras.draft]), to: &zone,
                links: [berts.link, shareWide],
                addresses: [(berts.keys.id, "bert@example.org")])
            // Somebody who is no participant may be the one who is waited for, by whichever URL.
            for routing in [berts.routingID, doras.routingID] {
                try await expectRefusal(.participantMayNeedVerification) { try await carl.metadata(routing) }
            }
            // A participant has nothing to prove, a pending one neither: not with Bert's URL, and not with the right
            // one.
            try await expectRefusal(.permissionFailure) { try await dora.metadata(berts.routingID) }
            #expect(try await dora.metadata(doras.routingID).invitationID == Data(doras.keys.id.bytes))
            _ = try await anna.metadata(berts.routingID)
            try await dora.accept(doras, in: &zone)
            #expect(try await dora.metadata(berts.routingID).alreadyMember)
            // Nobody without a session is told anything.
            var nobody = carl.client
            nobody.token = ""
            let request = Sealkit_V1_ShareMetadataRequest.with { $0.routingID = Data(berts.routingID) }
            let stranger = nobody
            try await expectRefusal(.notAuthenticated) {
                try await stranger.call("/1/share/metadata", request, as: Sealkit_V1_ShareMetadataResponse.self)
            }
            // Bert proves the address once, for no share in particular, and is never asked again.
            let begun = try await bert.client.begin("bert@example.org")
            _ = try await bert.client.complete(begun.verificationID, server.mail.code(1), signer: bert.keys.signingKey)
            try await bert.accept(berts, in: &zone)
            // With no seat that waits for an address there is nothing that verification could open.
            for routing in [berts.routingID, doras.routingID] {
                try await expectRefusal(.unknownItem) { try await carl.metadata(routing) }
            }
        }
    }
}
