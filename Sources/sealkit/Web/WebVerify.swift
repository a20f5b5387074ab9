import ArgumentParser
import SealEnvelope
import SealKit
import SealPrimitives
import SealServer

struct WebVerify: WebClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Compare what a server sends to browsers with the web client of this program.",
        discussion: """
            Asks for the page of a share's URL and every file of it, in each of its compressed forms, with what a browser sends, \
            and compares all bytes and headers. It ends with \(ExitStatus.integrity.rawValue) at the first difference.

            The page is asked for at URLs that no share has, and with --share at that of one: what follows the # is sent nowhere. \
            A server that alters the page for you alone can know you by your address, by when you ask, and by how a browser \
            connects: nothing of that can be seen here.

              sealkit web verify https://notes.example.org
              sealkit web verify https://notes.example.org --share - < url
              sealkit web verify https://share.example.org --server https://notes.example.org
            """)

    @Argument(help: "Where the page is, as https://host[:port].")
    var page: String

    @Option(
        help: ArgumentHelp(
            "Whose shares it shows, where the page is sealkit web export's at another host than the server.",
            valueName: "address"))
    var server: String?

    @Option(
        help: ArgumentHelp(
            "The URL of a share whose page is asked for, too; - reads it from standard input, which no list of processes shows.",
            valueName: "url"))
    var share: String?

    @Flag(help: "That host passes calls on to the server (export --passed-on).")
    var passedOn = false

    @OptionGroup var web: WebServerOptions
    @OptionGroup var compared: WebBundleOptions
    @OptionGroup var shown: ShownOptions

    func run() async throws {
        let (origin, bundle) = (try web.origin(of: page), try compared.read())
        let server = try shownServer()
        let shares = try routingIDs()
        let requests = try web.requests()
        let outcome: Result<Int, any Error>
        do {
            outcome = .success(
                try await WebVerification(of: origin, for: server, shares: shares, against: bundle, by: requests)
                    .run())
        } catch { outcome = .failure(error) }
        try? await requests.close()
        let files: Int
        do { files = try outcome.get() } catch let difference as WebVerification.Difference {
            throw Failure.Local(
                status: .integrity, reason: "\(origin)\(difference)",
                remedy: "ask its operator, and open shares by sealkit web open, which takes no script from it")
        } catch is CancellationError { throw CancellationError() } catch {
            throw SealKitError(
                .networkFailure, "\(origin) cannot be asked for its web client: \(error)",
                remedy: "check the address, and --ca-file for an authority of your own")
        }
        try shown.output.result(
            "\(origin) sends web client \(bundle.hash.hex): \(files) files, each byte and header as this program has them",
            bare: bundle.hash.hex,
            json: ["origin": .string(origin), "webClient": .string(bundle.hash.hex), "files": .integer(Int64(files))])
    }

    /// What of a share's URL a browser sends.
    private func routingIDs() throws -> [String] {
        guard let share else { return [] }
        let text = share == "-" ? try Prompt.pipedSecret("Share URL: ") : share
        do { return [Base64URL.encode(try ShareURL(text).routingID.bytes)] } catch {
            throw Failure.Local(
                status: .badInput, reason: "--share has no share URL, or not all of it",
                remedy: "copy the whole link, with everything after the #")
        }
    }

    private func shownServer() throws -> WebServer {
        guard let server else {
            guard !passedOn else {
                throw Failure.Local(
                    status: .badInput, reason: "--passed-on is about a page of another host than the server's",
                    remedy: "say with --server whose shares the page shows")
            }
            return .here
        }
        let origin = try web.origin(of: server)
        return passedOn ? .behind(origin) : .at(origin)
    }
}
