import SealClient
import SealPrimitives
import SealStatements

extension SharedZone {
    /// How a record ended that a server shows in the way of one of its name; nil for what is not deleted.
    /// - Throws: what does not verify, or is older than what was seen.
    func end(_ shown: Wire.Record, of name: String) throws(Refusal) -> Shown? {
        var reading = RecordReading(.zone(ground), desiredKeys: nil, refreshes: false)
        let read = try client { () throws(ClientError) in try reading.read(shown, recordName: name) }
        guard read.isGone else { return nil }
        try admit(read)
        return Shown(read, as: shown)
    }
}
