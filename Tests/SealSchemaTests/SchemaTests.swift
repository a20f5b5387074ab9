import SealSchema
import Testing

@Suite(.timeLimit(.minutes(60))) struct SchemaTests {
    @Test func aNewTypeGrantsTheUsual() {
        #expect(RecordType(name: "Note").grants.map(\.role) == ["_creator", "_icloud", "_world"])
    }
}
