import ArgumentParser
import SealKit

struct ZoneMaintain: AccountHolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "maintain",
        abstract: "Do what a zone needs beside what is saved in it.",
        discussion: """
              sealkit zone maintain Notes

            Takes back invitations whose time is over; gives everybody a new key where a restored server has lost some; signs anew \
            what URLs show where nobody vouches for it any more; and moves records that wait to follow their parents into a share, or \
            out of one. Saving in a zone does the same for what it touches, and reading writes nothing: call this now and then where \
            nobody saves, or after a command was cut off.
            """)

    @Argument(help: "The zone's name.")
    var name: String

    @OptionGroup var shared: OwnerOption
    @OptionGroup var global: GlobalOptions

    func run(_ client: Client) async throws {
        let (database, zoneID) = shared.resolve(name, client)
        let maintenance = try await database.maintain(zoneID)
        var lines: [String] = []
        var failures: [JSONValue] = []
        var counts = Dictionary(uniqueKeysWithValues: Maintenance.Work.allCases.map { ($0, 0) })
        for outcome in maintenance.outcomes {
            counts[outcome.work, default: 0] += outcome.count
            let share = outcome.shareRecordName.map { " of the share \($0.escaped)" } ?? ""
            if outcome.count > 0 { lines.append(outcome.work.said(outcome.count) + share) }
            guard let error = outcome.error else { continue }
            output.note("\(outcome.work.name)\(share) failed: \(error.said.escaped.withNames)")
            failures.append(
                .object([
                    "work": .string(outcome.work.rawValue), "share": JSONValue(outcome.shareRecordName),
                    "code": .string(error.code.rawValue), "reason": .string(error.said),
                ]))
        }
        if lines.isEmpty { lines.append(failures.isEmpty ? "there was nothing to do" : "nothing was done") }
        var json: [String: JSONValue] = ["zone": .string(name), "failures": .array(failures)]
        for (work, count) in counts { json[work.rawValue] = .integer(Int64(count)) }
        try output.result(
            lines.joined(separator: "\n"), bare: "\(counts.values.reduce(0, +))", json: json)
        if let error = maintenance.outcomes.compactMap(\.error).first { throw error }
    }
}

extension Maintenance.Work {
    fileprivate var name: String {
        switch self {
        case .revokingExpired: "taking invitations back"
        case .replacingLostKeys: "opening a new key"
        case .renewingPreviews: "signing what URLs show"
        case .movingRecords: "moving records"
        }
    }

    fileprivate func said(_ count: Int) -> String {
        switch self {
        case .revokingExpired: "\(count.counted("invitation")) taken back, whose time was over"
        case .replacingLostKeys: "a new key in the place of those that the server has lost"
        case .renewingPreviews: "what \(count.counted("URL")) shows is signed anew"
        case .movingRecords: "\(count.counted("record")) moved to where the parent is"
        }
    }
}
