import ArgumentParser
import SealEnvelope
import SealKit
import SealPrimitives
import SealServer

struct WebOpen: WebClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "Show a share in a browser, by the web client of this program.",
        discussion: """
            Prints an address of this machine for your browser, and serves it until it is stopped. What the page asks for is \
            passed on to the share's server, which sends no script. The part after the # stays on this machine.

              sealkit web open - < url

            Passkeys are a host's: they work at the server's own page alone. Here an account comes back by its recovery key or \
            passphrase.
            """)

    @OptionGroup var link: ShareURLArgument

    @Option(help: ArgumentHelp("An address of this machine. Port 0 lets the system choose.", valueName: "host:port"))
    var listen = "127.0.0.1:0"

    @OptionGroup var web: WebServerOptions
    @OptionGroup var bundles: WebBundleOptions
    @OptionGroup var shown: ShownOptions

    func run() async throws {
        guard let address = ListenAddress(listen), address.isLoopback else {
            throw Failure.Local(
                status: .badInput, reason: "\(listen) is no address of this machine alone",
                remedy: "give 127.0.0.1 and a port: what is passed on is for nobody else")
        }
        let (url, bundle) = (try read(), try bundles.read())
        let requests = try web.requests()
        let output = shown.output
        let loopback = WebLoopback(bundle, for: try web.origin(of: url.origin), by: requests)
        let outcome: Result<Void, any Error>
        do { outcome = .success(try await serve(loopback, at: address, url, output)) } catch {
            outcome = .failure(error)
        }
        try? await requests.close()
        try outcome.get()
    }

    private func serve(
        _ loopback: WebLoopback, at address: ListenAddress, _ url: (origin: String, rest: String), _ output: Output
    ) async throws {
        let (addresses, listening) = AsyncStream.makeStream(of: ListenAddress.self)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                defer { listening.finish() }
                do { try await loopback.serve(at: address) { listening.yield($0) } } catch is CancellationError {
                    throw CancellationError()
                } catch {
                    throw Failure.Local(
                        status: .other, reason: "nothing can be served at \(address): \(error)",
                        remedy: "choose another --listen")
                }
            }
            // Where nobody can be told the address, nothing is served.
            tasks.addTask {
                for await actual in addresses {
                    let shown = "http://localhost:\(actual.port)\(url.rest)"
                    try output.result(shown, bare: shown, json: ["url": .string(shown), "server": .string(url.origin)])
                }
            }
            try await tasks.waitForAll()
        }
    }

    /// The server, and what is behind it in the URL.
    private func read() throws -> (origin: String, rest: String) {
        let text = try link.read()
        do throws(SealError) {
            let url = try ShareURL(text)
            // The path, after the two slashes of the scheme.
            let path = text.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
            guard path.count == 4 else { throw .invalidURL }
            return (url.origin, "/" + path[3])
        } catch {
            throw SealKitError(
                .invalidArguments, "that is no share URL, or not all of it",
                remedy: "copy the whole link, with everything after the #")
        }
    }
}
