import SealSchema
import Testing

@Suite struct SchemaTests {
    @Test func aNewTypeGrantsTheUsual() {
        #expect(RecordType(name: "Note").grants.map(\.role) == ["_creator", "_icloud", "_world"])
    }
}
