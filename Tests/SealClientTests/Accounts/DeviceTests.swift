import SealClient
import SealEnvelope
import SealPrimitives
import Testing

/// What a list of an account's devices is believed, and what is new in it.
@Suite(.timeLimit(.minutes(60))) struct DeviceTests {
    private static func id(_ byte: UInt8) throws -> ID16 { try ID16([UInt8](repeating: byte, count: 16)) }

    private static func key(_ byte: UInt8) throws -> SigningKey {
        try AccountSeed(SecretBytes(copying: [UInt8](repeating: byte, count: 32))).loginKey()
    }

    @Test func `A list is believed when one of the account's keys has signed each device of it`() throws {
        let (former, newest, stranger) = (try Self.key(1), try Self.key(2), try Self.key(3))
        let keys = [former.verificationKey, newest.verificationKey]
        let laptop = DeviceStatement(id: try Self.id(1), name: "laptop", added: 5, by: former)
        let phone = DeviceStatement(id: try Self.id(2), name: "phone", added: 6, by: newest)
        #expect(throws: Never.self) { try DeviceStatement.verify([laptop, phone], by: keys) }
        #expect(throws: Never.self) { try DeviceStatement.verify([], by: keys) }
        let others = [
            DeviceStatement(id: try Self.id(3), name: "made up", added: 7, by: stranger),
            DeviceStatement(id: phone.id, name: "another name", added: 6, signature: phone.signature),
            DeviceStatement(id: phone.id, name: "phone", added: 7, signature: phone.signature),
            DeviceStatement(id: try Self.id(3), name: "phone", added: 6, signature: phone.signature),
        ]
        for other in others {
            #expect(throws: SealError.invalidSignature) { try DeviceStatement.verify([laptop, other], by: keys) }
        }
        #expect(throws: SealError.malformed) { try DeviceStatement.verify([laptop, phone, laptop], by: keys) }
    }

    @Test func `Of the first list nothing is new`() throws {
        let ids = [try Self.id(1), try Self.id(2)]
        let news = DeviceNews(listed: ids, own: ids[0], revision: 7, last: 0, known: [:])
        #expect(news.new.isEmpty)
        #expect(news.fresh.isEmpty)
        #expect(news.gone.isEmpty)
        #expect(news.isNewest)
    }

    @Test func `A device that was not there before is new until it is acknowledged`() throws {
        let (own, old, added) = (try Self.id(1), try Self.id(2), try Self.id(3))
        let listed = [own, old, added]
        let first = DeviceNews(listed: listed, own: own, revision: 8, last: 7, known: [own: false, old: false])
        #expect(first.new == [added])
        #expect(first.fresh == [added])
        let again = DeviceNews(
            listed: listed, own: own, revision: 9, last: 8, known: [own: false, old: false, added: true])
        #expect(again.new == [added])
        #expect(again.fresh.isEmpty)
        let acknowledged = DeviceNews(
            listed: listed, own: own, revision: 9, last: 9, known: [own: false, old: false, added: false])
        #expect(acknowledged.new.isEmpty)
    }

    @Test func `A device that is gone is forgotten, unless it is new, and by the newest list alone`() throws {
        let (own, old, new) = (try Self.id(1), try Self.id(2), try Self.id(3))
        let known = [own: false, old: false, new: true]
        #expect(DeviceNews(listed: [own], own: own, revision: 9, last: 8, known: known).gone == [old])
        let overtaken = DeviceNews(listed: [own], own: own, revision: 7, last: 8, known: known)
        #expect(overtaken.gone.isEmpty)
        #expect(!overtaken.isNewest)
    }

    @Test func `An invitation is read as it is copied, typed or cut`() throws {
        let id = try ID16(Hex.decode("00112233445566778899aabbccddeeff"))
        let text = EnrolmentInvitation.text(id)
        #expect(text == "sealkit-enrol:0011-2233-4455-6677-8899-aabb-ccdd-eeff")
        for spelling in [
            text, text.uppercased(), "  0011 2233 4455 6677 8899 AABB ccdd eeff\n", "00112233445566778899aabbccddeeff",
        ] {
            #expect(try EnrolmentInvitation.parse(spelling) == id, "\(spelling)")
        }
        for wrong in ["", String(text.dropLast()), text + "0", "sealkit:0011", "００１１", text + "é"] {
            #expect(throws: SealError.malformed, "\(wrong)") { try EnrolmentInvitation.parse(wrong) }
        }
    }
}
