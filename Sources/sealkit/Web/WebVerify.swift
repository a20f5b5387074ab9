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
            """)

    @Argument(help: "The server, as https://host[:port].")
    var server: String

    @OptionGroup var web: WebServerOptions
    @OptionGroup var compared: WebBundleOptions
    @OptionGroup var shown: ShownOptions

    func run() async throws {
        let (origin, bundle) = (try web.origin(of: server), try compared.read())
        let requests = try web.requests()
        let outcome: Result<Int, any Error>
        do {
            outcome = .success(try await WebVerification(of: origin, against: bundle, by: requests).run())
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
}
