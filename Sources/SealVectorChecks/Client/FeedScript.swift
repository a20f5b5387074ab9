import SealClient
import SealPrimitives
import SealStatements

/// One way through a feed, and one part after the other that a server answers.
struct FeedScript {
    private var reading: FeedReading
    private var judged = Judged()
    private var last: FeedReading.Part?

    init(_ test: Fields) throws(VectorError) {
        var random = ReplayedRandom([UInt8](repeating: 7, count: 16))
        reading = FeedReading(isWhole: try test.bool("isWhole"), random: &random)
    }

    /// - Throws: `disbelieved` where something was refused, once all steps are made.
    mutating func run(_ steps: [Fields]) throws(VectorError) {
        for step in steps {
            if step.has("asks") {
                guard let last else { throw .missing("asks") }
                let came = reading.names(beside: last)
                let brought = try step.strings("asks").filter { came.contains($0) }
                try step.expect("brought", .array(brought.map { .string($0) }))
            } else {
                let part = try part(step)
                do throws(ClientError) {
                    try reading.check(part)
                } catch {
                    try judged.expect("verdict", of: step, Judgement(error))
                    continue
                }
                try judged.expect("verdict", of: step, .taken("accepted"))
                reading.take(part)
                last = part
            }
        }
        try judged.finish()
    }

    private func part(_ step: Fields) throws(VectorError) -> FeedReading.Part {
        let kind: FeedReading.Part.Kind
        switch try step.string("kind") {
        case "records": kind = .records
        case "recordsBesideOthers": kind = .recordsBesideOthers
        case "zones": kind = .zones
        case "results": kind = .results
        default: throw .missing("kind")
        }
        let items = try step.objects("items").map { item throws(VectorError) in
            guard item.has("statement") else {
                return reading.item(
                    named: try item.string("name"), version: try item.number("version", as: UInt64.self))
            }
            var record = Wire.Record()
            record.recordName = try item.string("name")
            record.statement = try item.bytes("statement")
            (record.deleted, record.departed) = (item.has("deleted"), item.has("departed"))
            return reading.item(record)
        }
        return FeedReading.Part(
            items, from: try step.bytes("from"), to: try step.bytes("to"), isMoreComing: try step.bool("moreComing"),
            kind)
    }
}
