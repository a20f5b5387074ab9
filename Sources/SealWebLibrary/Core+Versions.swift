import SealClient
import SealPrimitives
import SealStatements

extension Core {
    /// A zone that was read to its end → of each of its records, in the order of `records`, its name, why it is not
    /// believed or nothing, and what stands for its version, which no other version has.
    func recordVersions(_ reader: inout CanonicalReader, _ writer: inout CanonicalWriter) throws(Refusal) {
        let zone = try core { () throws(SealError) in try zones[try reader.number()] }
        writer.number(UInt32(zone.names.count))
        for name in zone.names {
            writer.string(name)
            let shown = zone.shown(name)
            writer.string(shown == nil ? zone.disbelief(of: name)?.name ?? "unknownItem" : "")
            writer.id(shown.map { ID16(prefixOf: $0.read.verified.hash) } ?? .zero)
        }
    }
}
