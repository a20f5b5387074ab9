import ArgumentParser
import Foundation
import SealWire

extension VectorsCommand {
    /// The tables of routes in the transport page, and the web client's routes, from the table that server and SDK use.
    struct Routes: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Writes the tables of routes into the transport page, and the web client's routes.")
        @Argument(help: "The page.", completion: .file()) var page = "Vectors/PROTOCOL-TRANSPORT.md"
        @Option(help: "The web client's routes.", completion: .file()) var script = "Web/client/routes.mjs"
        @Flag(help: "Write nothing; fail where page or routes are others.") var check = false

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
            try writeScript()
        }

        private func writeScript() throws {
            let url = URL(filePath: script)
            guard (try? String(contentsOf: url, encoding: .utf8)) != ScriptRoutes.text else { return }
            if check {
                try Output.standardOutput(
                    "\(script) is not what the table of endpoints says; run sealkit vectors routes")
                throw ExitCode.failure
            }
            try Data(ScriptRoutes.text.utf8).write(to: url)
        }
    }
}
