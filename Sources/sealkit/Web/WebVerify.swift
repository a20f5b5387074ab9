import ArgumentParser
import SealKit
import SealPrimitives
import SealServer

struct WebVerify: WebClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Compare what a server sends to browsers with the web client of this program.",
        discussion: """
            Asks for the page of a share's URL and every file of it, in each of its compressed forms, as a browser does, and \
            compares all bytes and headers. It ends with \(ExitStatus.integrity.rawValue) at the first difference.

              sealkit web verify https://notes.example.org
              sealkit web verify https://share.example.org --server https://notes.example.org
            """)

    @Argument(help: "Where the page is, as https://host[:port].")
    var page: String

    @Option(
        help: ArgumentHelp(
            "Whose shares it shows, where the page is sealkit web export's at another host than the server.",
            valueName: "address"))
    var server: String?

    @Flag(help: "That host passes calls on to the server (export --passed-on).")
    var passedOn = false

    @OptionGroup var web: WebServerOptions
    @OptionGroup var compared: WebBundleOptions
    @OptionGroup var shown: ShownOptions

    func run() async throws {
        let (origin, bundle) = (try web.origin(of: page), try compared.read())
        let server = try shownServer()
        let requests = try web.requests()
        let outcome: Result<Int, any Error>
        do {
            outcome = .success(try await WebVerification(of: origin, for: server, against: bundle, by: requests).run())
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
