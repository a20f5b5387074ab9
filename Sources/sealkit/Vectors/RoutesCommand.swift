import ArgumentParser
import Foundation
import SealWire

extension VectorsCommand {
    /// The tables of routes in the transport page, from the one that server and SDK use.
    struct Routes: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Writes the tables of routes into the transport page.")
        @Argument(help: "The page.", completion: .file()) var page = "Vectors/PROTOCOL-TRANSPORT.md"
        @Flag(help: "Write nothing; fail where the page has other tables.") var check = false

        func run() throws {
            let url = URL(filePath: page)
            guard let text = try? String(contentsOf: url, encoding: .utf8) else {
                throw Failure.Local(
                    status: .notFound, reason: "there is no page to read at \(page)",
                    remedy: "run this in a checkout of SealKit, or name its Vectors/PROTOCOL-TRANSPORT.md")
            }
            let made: String
            do throws(TransportTables.Misplaced) { made = try TransportTables.replacing(in: text) } catch {
                throw Failure.Local(
                    status: .badInput, reason: "\(page) has no table of \(error.title), or two",
                    remedy: "put its two lines back, \(TransportTables.begin(error.title)) and \(TransportTables.end)")
            }
            if check {
                let count = Endpoints.all.count + Endpoints.operatorFamily.routes.count
                guard made == text else {
                    let old = Set(text.split(separator: "\n"))
                    for line in made.split(separator: "\n") where !old.contains(line) {
                        try Output.standardOutput("\(line)")
                    }
                    try Output.standardOutput(
                        "\(count) routes: the page is not what the table of endpoints says; run sealkit vectors routes")
                    throw ExitCode.failure
                }
                try Output.standardOutput("\(count) routes: the page is as the table of endpoints is")
            } else if made != text {
                try Data(made.utf8).write(to: url)
            }
        }
    }
}
