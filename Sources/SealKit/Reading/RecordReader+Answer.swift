import Foundation
import SealClient

/// All records of one answer.
extension RecordReader {
    struct Answer {
        /// One for each record, in order.
        fileprivate(set) var readings: [Result<Reading, SealKitError>] = []
        /// Which of them cite a head that the rosters do not have: R-READ-2 has them read again.
        fileprivate(set) var unknownHeads: [Int] = []
    }

    private typealias Read = (result: Result<Reading, SealKitError>, citesUnknownHead: Bool)

    /// Fewer are not worth a task of their own: what a batch's records have in common is verified for each.
    private static let fewest = 32

    /// Reads each by itself, where they are many on all processors at once: verifying and opening is what takes a
    /// client's time.
    /// - Parameter names: of the records, each as it was asked for; none in a feed.
    func answer(_ records: [some ShownRecord & Sendable], named names: [String]) async -> Answer {
        var answer = Answer()
        answer.readings.reserveCapacity(records.count)
        for read in await all(records, named: names, Array(records.indices)) {
            if read.citesUnknownHead { answer.unknownHeads.append(answer.readings.count) }
            answer.readings.append(read.result)
        }
        return answer
    }

    /// Reads those of an answer again that cite unknown heads.
    func complete(_ answer: inout Answer, _ records: [some ShownRecord & Sendable], named names: [String]) async {
        let reads = await all(records, named: names, answer.unknownHeads)
        for (index, read) in zip(answer.unknownHeads, reads) { answer.readings[index] = read.result }
        answer.unknownHeads = []
    }

    private func all(
        _ records: [some ShownRecord & Sendable], named names: [String], _ indices: [Int]
    ) async -> [Read] {
        let most = ProcessInfo.processInfo.activeProcessorCount
        guard most > 1, indices.count >= 2 * Self.fewest else { return part(records, named: names, indices[...]) }
        // Two for each processor, so that other work of the app finds its turn in between.
        let size = max(Self.fewest, indices.count / (2 * most))
        return await withTaskGroup(of: (place: Int, reads: [Read]).self) { group in
            var left = indices[...]
            func begin() {
                guard !left.isEmpty else { return }
                let next = left.prefix(size)
                left = left.dropFirst(size)
                group.addTask { (next.startIndex, part(records, named: names, next)) }
            }
            for _ in 0..<most { begin() }
            var parts: [(place: Int, reads: [Read])] = []
            while let part = await group.next() {
                parts.append(part)
                begin()
            }
            return parts.sorted { $0.place < $1.place }.flatMap(\.reads)
        }
    }

    private func part(_ records: [some ShownRecord], named names: [String], _ indices: ArraySlice<Int>) -> [Read] {
        // Of its own: it remembers what it has checked.
        var reader = self
        return indices.map { index in
            let name = names.isEmpty ? nil : names[index]
            do throws(ClientError) {
                return (.success(try reader.read(records[index], recordName: name)), false)
            } catch {
                let isUnknown = if case .unknownHead = error { true } else { false }
                return (.failure(.integrity(error, "record \(name ?? records[index].recordName)")), isUnknown)
            }
        }
    }
}
